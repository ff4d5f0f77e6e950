//! A line in this process that damages, loses and doubles bytes, and brings some answers late.

use std::collections::VecDeque;
use std::io;
use std::thread;
use std::time::Duration;

use rand::{Rng, SeedableRng as _};
use rand_xoshiro::Xoshiro256PlusPlus;
use rebearing_host::device::modbus::Line;

use crate::bus_device::Device;

/// How bad a line is: one byte in so many, or never if zero.
#[derive(Clone, Copy)]
pub(crate) struct Faults {
    pub(crate) damage: u32,
    pub(crate) lose: u32,
    pub(crate) double: u32,
    /// One answer in so many is late.
    pub(crate) late: u32,
    pub(crate) seed: u64,
}

impl Faults {
    pub(crate) const NONE: Self = Self { damage: 0, lose: 0, double: 0, late: 0, seed: 0 };
}

/// The line, and the device at its end.
pub(crate) struct NoisyLine {
    pub(crate) device: Device,
    faults: Faults,
    random: Xoshiro256PlusPlus,
    answer: VecDeque<u8>,
    /// An answer that comes with the next one.
    late: Vec<u8>,
    /// Frames until the line breaks.
    pub(crate) frames_left: Option<usize>,
    /// Frames until the device restarts.
    pub(crate) restart_after: Option<usize>,
}

impl NoisyLine {
    pub(crate) fn new(device: Device, faults: Faults) -> Self {
        let random = Xoshiro256PlusPlus::seed_from_u64(faults.seed);
        let (answer, late) = (VecDeque::new(), Vec::new());
        Self { device, faults, random, answer, late, frames_left: None, restart_after: None }
    }

    fn one_in(&mut self, many: u32) -> bool {
        many > 0 && self.random.next_u32().is_multiple_of(many)
    }

    fn pass(&mut self, bytes: &[u8]) -> Vec<u8> {
        let mut passed = Vec::new();
        for byte in bytes {
            if self.one_in(self.faults.lose) {
                continue;
            }
            let flip = self.one_in(self.faults.damage);
            let flipped = byte ^ if flip { 1 << (self.random.next_u32() % 8) } else { 0 };
            passed.push(flipped);
            if self.one_in(self.faults.double) {
                passed.push(flipped);
            }
        }
        passed
    }
}

impl Line for NoisyLine {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        match &mut self.frames_left {
            Some(0) => return Err(io::ErrorKind::BrokenPipe.into()),
            Some(left) => *left -= 1,
            None => {}
        }
        if let Some(left) = self.restart_after.take() {
            if left == 0 {
                self.device.receiver.abandon_all();
                self.device.server = rebearing::bus::Server::new(crate::UNIT);
            } else {
                self.restart_after = Some(left - 1);
            }
        }
        let arrived = self.pass(bytes);
        let answer = self.device.frame(&arrived);
        let answer = self.pass(&answer);
        self.answer.extend(std::mem::take(&mut self.late));
        if self.one_in(self.faults.late) {
            self.late = answer;
        } else {
            self.answer.extend(answer);
        }
        Ok(())
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        if self.answer.is_empty() {
            thread::sleep(limit);
            return Ok(0);
        }
        // In pieces, as a serial port gives them.
        let count = self.answer.len().min(buffer.len()).min(7);
        for (place, byte) in buffer.iter_mut().zip(self.answer.drain(..count)) {
            *place = byte;
        }
        Ok(count)
    }
}

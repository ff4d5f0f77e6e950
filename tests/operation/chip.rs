//! A simulated IIS3DWB on its bus, which fails on demand.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::future::poll_fn;
use std::rc::Rc;
use std::task::Poll;

use embedded_hal::digital;
use embedded_hal::spi::{ErrorKind, ErrorType, Operation, SpiDevice};
use embedded_hal_async::digital::Wait;

/// Words that the chip's FIFO holds.
pub(crate) const FIFO: usize = 512;

/// An IIS3DWB as in its data sheet: registers, FIFO, tags. The test puts the samples in.
#[derive(Default)]
pub(crate) struct Chip {
    pub(crate) registers: Vec<u8>,
    pub(crate) fifo: VecDeque<[u8; 7]>,
    pub(crate) counter: u8,
    pub(crate) overrun: bool,
    /// Transfers until the bus fails; `None` if it does not fail.
    pub(crate) works: Option<usize>,
    pub(crate) resets: usize,
}

impl Chip {
    pub(crate) fn put(&mut self, [x, y, z]: [i16; 3]) {
        if self.registers[0x0A] != 0x06 || self.registers[0x10] & 0xA0 != 0xA0 {
            return;
        }
        self.counter = (self.counter + 1) & 0x03;
        let tag = 0x02 << 3 | self.counter << 1;
        let mut word = [tag | (tag.count_ones() % 2) as u8; 7];
        word[1..3].copy_from_slice(&x.to_le_bytes());
        word[3..5].copy_from_slice(&y.to_le_bytes());
        word[5..7].copy_from_slice(&z.to_le_bytes());
        if self.fifo.len() == FIFO {
            self.fifo.pop_front();
            self.overrun = true;
        }
        self.fifo.push_back(word);
    }

    pub(crate) fn write(&mut self, register: u8, value: u8) {
        match register {
            0x12 if value & 1 != 0 => {
                self.registers = vec![0; 128];
                self.registers[0x0F] = 0x7B;
                self.fifo.clear();
                (self.overrun, self.resets) = (false, self.resets + 1);
            }
            0x0A if value == 0 => {
                self.fifo.clear();
                self.overrun = false;
                self.registers[0x0A] = 0;
            }
            _ => self.registers[usize::from(register)] = value,
        }
    }

    fn read(&mut self, register: u8, bytes: &mut [u8]) {
        let level = self.fifo.len();
        match register {
            0x3A => {
                let flags = if self.overrun { 0x48 } else { 0 };
                bytes.copy_from_slice(&[level as u8, (level >> 8) as u8 | flags]);
            }
            0x78 => {
                for word in bytes.chunks_exact_mut(7) {
                    word.copy_from_slice(&self.fifo.pop_front().unwrap_or_default());
                }
            }
            _ => bytes.copy_from_slice(&self.registers[usize::from(register)..][..bytes.len()]),
        }
    }
}

/// The chip on its bus.
#[derive(Clone)]
pub(crate) struct Bus(pub(crate) Rc<RefCell<Chip>>);

impl Bus {
    pub(crate) fn new() -> Self {
        let mut chip = Chip { registers: vec![0; 128], ..Chip::default() };
        chip.registers[0x0F] = 0x7B;
        Self(Rc::new(RefCell::new(chip)))
    }
}

impl ErrorType for Bus {
    type Error = ErrorKind;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        let chip = &mut *self.0.borrow_mut();
        if let Some(works) = &mut chip.works {
            if *works == 0 {
                return Err(ErrorKind::Other);
            }
            *works -= 1;
        }
        match operations {
            [Operation::Write([register]), Operation::Read(bytes)] => {
                assert!(register & 0x80 != 0, "a read has the read bit");
                chip.read(register & 0x7F, bytes);
            }
            [Operation::Write([register]), Operation::Write(bytes)] => {
                for (register, byte) in (*register..).zip(bytes.iter()) {
                    chip.write(register, *byte);
                }
            }
            _ => panic!("neither a read nor a write: {operations:?}"),
        }
        Ok(())
    }
}

impl embedded_hal_async::spi::SpiDevice for Bus {
    async fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), ErrorKind> {
        SpiDevice::transaction(self, operations)
    }
}

/// The chip's interrupt pin: high when this many words wait.
pub(crate) struct Pin(pub(crate) Bus, pub(crate) usize);

impl digital::ErrorType for Pin {
    type Error = digital::ErrorKind;
}

impl Wait for Pin {
    async fn wait_for_high(&mut self) -> Result<(), digital::ErrorKind> {
        poll_fn(|_| match self.0.0.borrow().fifo.len() {
            level if level >= self.1 => Poll::Ready(Ok(())),
            _ => Poll::Pending,
        })
        .await
    }
    async fn wait_for_low(&mut self) -> Result<(), digital::ErrorKind> {
        Err(digital::ErrorKind::Other)
    }
    async fn wait_for_rising_edge(&mut self) -> Result<(), digital::ErrorKind> {
        Err(digital::ErrorKind::Other)
    }
    async fn wait_for_falling_edge(&mut self) -> Result<(), digital::ErrorKind> {
        Err(digital::ErrorKind::Other)
    }
    async fn wait_for_any_edge(&mut self) -> Result<(), digital::ErrorKind> {
        Err(digital::ErrorKind::Other)
    }
}

//! The line to the plant's bus: bytes that interrupts bring and take, and the silence between them.
//!
//! A board's interrupts call [`PortBuffer::byte`], [`PortBuffer::tick`] once a millisecond and
//! [`PortBuffer::next_to_send`]. The application calls [`PortBuffer::take`] and
//! [`PortBuffer::send`]. Nothing here knows a chip.

use heapless::{Deque, Vec};

/// Longest frame of Modbus RTU.
const FRAME: usize = 256;
/// A frame that arrives while the application is busy, its silence, and the start of the next.
const EVENTS: usize = FRAME + 64;
/// Ticks of a millisecond without a byte that end a frame: at least 2 ms, which is 3.5 characters of
/// 11 bits at 19,200 baud.
const SILENT_TICKS: u8 = 3;

/// An event on the line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Event {
    /// A byte arrived.
    Byte(u8),
    /// A byte arrived damaged, or was lost.
    Damaged,
    /// The line was silent after a byte.
    Silence,
}

/// The line as interrupts and application share it.
pub struct PortBuffer {
    events: Deque<Event, EVENTS>,
    /// Ticks since the last byte; `None` once the silence was told.
    silent: Option<u8>,
    /// Ticks without a byte that end a frame.
    silence: u8,
    /// Events were lost, because the application did not take them.
    overrun: bool,
    answer: Vec<u8, FRAME>,
    sent: usize,
    milliseconds: u32,
}

impl PortBuffer {
    /// A line on which nothing has happened.
    pub const fn new() -> Self {
        Self {
            events: Deque::new(),
            silent: None,
            silence: SILENT_TICKS,
            overrun: false,
            answer: Vec::new(),
            sent: 0,
            milliseconds: 0,
        }
    }

    /// Ends a frame only after so many milliseconds without a byte, for a line that stutters.
    pub fn set_silence(&mut self, milliseconds: u8) {
        self.silence = milliseconds.max(1);
    }

    /// A byte arrived; `None` if it was damaged.
    pub fn byte(&mut self, byte: Option<u8>) {
        self.silent = Some(0);
        self.put(byte.map_or(Event::Damaged, Event::Byte));
    }

    /// A millisecond has passed.
    pub fn tick(&mut self) {
        self.milliseconds = self.milliseconds.wrapping_add(1);
        let Some(ticks) = &mut self.silent else { return };
        *ticks += 1;
        if *ticks >= self.silence {
            self.silent = None;
            self.put(Event::Silence);
        }
    }

    /// The next byte of the answer.
    pub fn next_to_send(&mut self) -> Option<u8> {
        let byte = self.answer.get(self.sent).copied();
        self.sent += usize::from(byte.is_some());
        byte
    }

    /// Returns true while an answer is being sent.
    pub fn is_sending(&self) -> bool {
        self.sent < self.answer.len()
    }

    /// The next event, for the application.
    pub fn take(&mut self) -> Option<Event> {
        let event = self.events.pop_front();
        if event.is_none() && self.overrun {
            self.overrun = false;
            return Some(Event::Damaged);
        }
        event
    }

    /// Starts to send an answer. One that is still being sent is cut off.
    pub fn send(&mut self, answer: &[u8]) {
        self.answer.clear();
        self.sent = 0;
        // An answer is never longer than a frame.
        let _ = self.answer.extend_from_slice(answer);
    }

    /// Milliseconds since the start; wraps after 49 days.
    pub fn milliseconds(&self) -> u32 {
        self.milliseconds
    }

    fn put(&mut self, event: Event) {
        // What is lost makes the frame unusable; its checksum says so, and the plant asks again.
        self.overrun |= self.events.push_back(event).is_err();
    }
}

impl Default for PortBuffer {
    fn default() -> Self {
        Self::new()
    }
}

/// A board's line to the plant.
pub trait Port {
    /// Does something with the buffer that the interrupts share.
    fn with<T>(&mut self, work: impl FnOnce(&mut PortBuffer) -> T) -> T;
    /// Starts to send what is in the buffer.
    fn start_sending(&mut self);
}

//! The plant's bus: USART1 and an RS-485 driver, with interrupts for bytes and a tick for silence.
//!
//! | pin | to the driver's |
//! |---|---|
//! | PA8 | DE and /RE |
//! | PA9 | DI |
//! | PA10 | RO |
//!
//! The chip's USART does not switch a driver by itself. The tick does, once the last bit is out.

use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use cortex_m::peripheral::syst::SystClkSource;
use cortex_m::peripheral::{NVIC, SYST};
use cortex_m_rt::exception;
use firmware_examples::app::port::{Port, PortBuffer};
use stm32f4xx_hal::gpio::{Output, PA8, PA9, PA10};
use stm32f4xx_hal::pac::{Interrupt, USART1, interrupt};
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::Rcc;
use stm32f4xx_hal::serial::config::Config;
use stm32f4xx_hal::serial::{Rx, Tx};

/// Bits a second; with even parity and one stop bit, the bus's default.
const BAUD: u32 = 19_200;

/// The line as interrupts and application share it.
struct Line {
    receiver: Rx<USART1>,
    sender: Tx<USART1>,
    drive: PA8<Output>,
    buffer: PortBuffer,
}

static LINE: Mutex<RefCell<Option<Line>>> = Mutex::new(RefCell::new(None));

impl Line {
    fn receive(&mut self) {
        // A damaged byte is read as well, which clears its flag.
        loop {
            match self.receiver.read() {
                Ok(byte) => self.buffer.byte(Some(byte)),
                Err(nb::Error::Other(_)) => self.buffer.byte(None),
                Err(nb::Error::WouldBlock) => break,
            }
        }
    }

    /// Sends as many bytes as the USART takes now, and lets go of the line after the last.
    fn send(&mut self) {
        while self.sender.is_tx_empty() {
            let Some(byte) = self.buffer.next_to_send() else {
                self.sender.unlisten();
                break;
            };
            // It has just said that it takes one.
            let _ = self.sender.write(byte);
        }
        if !self.buffer.is_sending() && self.sender.flush().is_ok() {
            self.drive.set_low();
        }
    }
}

fn with_line(work: impl FnOnce(&mut Line)) {
    free(|token| {
        if let Some(line) = LINE.borrow(token).borrow_mut().as_mut() {
            work(line);
        }
    });
}

#[interrupt]
fn USART1() {
    with_line(|line| {
        line.receive();
        line.send();
    });
}

#[exception]
fn SysTick() {
    with_line(|line| {
        line.buffer.tick();
        // QEMU has no interrupt for an empty sender.
        line.send();
    });
}

/// The application's end of the line.
pub struct SerialPort(());

impl SerialPort {
    /// Sets up the line; `None` if the clock is too slow for it.
    pub(crate) fn new(
        usart: USART1,
        (drive, send, receive): (PA8, PA9, PA10),
        mut tick: SYST,
        megahertz: u32,
        rcc: &mut Rcc,
    ) -> Option<Self> {
        // Nine bits: eight and parity.
        let config = Config::default().baudrate(BAUD.bps()).parity_even().wordlength_9();
        let serial = usart.serial((send, receive), config, rcc).ok()?;
        let (sender, mut receiver) = serial.split();
        receiver.listen();
        let mut drive = drive.into_push_pull_output();
        drive.set_low();
        let line = Line { receiver, sender, drive, buffer: PortBuffer::new() };
        free(|token| LINE.borrow(token).replace(Some(line)));
        tick.set_clock_source(SystClkSource::Core);
        tick.set_reload(1000 * megahertz - 1);
        tick.clear_current();
        tick.enable_interrupt();
        tick.enable_counter();
        // SAFETY: the handler is above, and takes what it shares in a critical section.
        unsafe { NVIC::unmask(Interrupt::USART1) };
        Some(Self(()))
    }
}

impl Port for SerialPort {
    fn with<T>(&mut self, work: impl FnOnce(&mut PortBuffer) -> T) -> T {
        free(|token| {
            let mut line = LINE.borrow(token).borrow_mut();
            // Without a line there is a buffer in which nothing ever happens.
            match line.as_mut() {
                Some(line) => work(&mut line.buffer),
                None => work(&mut PortBuffer::new()),
            }
        })
    }

    fn start_sending(&mut self) {
        with_line(|line| {
            line.drive.set_high();
            line.sender.listen();
            line.send();
        });
    }
}

//! 168 MHz from the internal oscillator, or 16 MHz where the PLL does not lock.
//!
//! No crystal, because boards differ in theirs and nothing here needs one: the samples come at
//! the sensor's own rate.

use stm32f4xx_hal::pac::RCC;
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::{Config, Rcc};

/// A PLL locks in some 200 µs; 16 million cycles a second, and a loop takes several of them.
const TRIES: u32 = 10_000;

/// What the processor runs from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, defmt::Format)]
pub enum Clock {
    /// The PLL, 168 MHz.
    Pll,
    /// The oscillator that the chip starts with, 16 MHz: slower, but it works.
    Oscillator,
}

impl Clock {
    /// Million cycles a second.
    pub fn megahertz(self) -> u32 {
        match self {
            Self::Pll => 168,
            Self::Oscillator => 16,
        }
    }

    /// Goes as fast as the chip can.
    pub(crate) fn start(rcc: RCC) -> (Self, Rcc) {
        // The HAL waits for the PLL for ever, so it is tried before.
        if locks(&rcc) {
            (Self::Pll, rcc.constrain().freeze(Config::hsi().sysclk(168.MHz())))
        } else {
            (Self::Oscillator, rcc.constrain())
        }
    }
}

/// Whether the PLL locks, with the settings that it has after a reset (96 MHz); off again after.
fn locks(rcc: &RCC) -> bool {
    rcc.cr().modify(|_, w| w.pllon().set_bit());
    let locked = (0..TRIES).any(|_| rcc.cr().read().pllrdy().bit_is_set());
    rcc.cr().modify(|_, w| w.pllon().clear_bit());
    // Its settings may be changed only once it has stopped.
    locked && (0..TRIES).any(|_| rcc.cr().read().pllrdy().bit_is_clear())
}

//! 168 MHz from the internal oscillator, or 16 MHz if the PLL does not lock.
//!
//! The board's crystal is not used. Boards differ in theirs, and nothing here needs one: the
//! samples come at the sensor's own rate.

use stm32f4xx_hal::pac::RCC;
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::{Config, Rcc};

/// Times to poll the PLL. It locks in some 200 µs; at 16 million cycles a second, each poll takes
/// several cycles.
const TRIES: u32 = 10_000;

/// The processor's clock source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, defmt::Format)]
pub enum Clock {
    /// The PLL, 168 MHz.
    Pll,
    /// The oscillator that the chip starts with, 16 MHz: slower, but it works.
    Oscillator,
}

impl Clock {
    /// Clock rate in MHz.
    pub fn megahertz(self) -> u32 {
        match self {
            Self::Pll => 168,
            Self::Oscillator => 16,
        }
    }

    /// Starts the fastest clock that the chip can run.
    pub(crate) fn start(rcc: RCC) -> (Self, Rcc) {
        // The HAL waits for the PLL for ever, so we test the PLL first.
        if locks(&rcc) {
            (Self::Pll, rcc.constrain().freeze(Config::hsi().sysclk(168.MHz())))
        } else {
            (Self::Oscillator, rcc.constrain())
        }
    }
}

/// Returns true if the PLL locks with its settings after a reset (96 MHz). Turns it off again.
fn locks(rcc: &RCC) -> bool {
    rcc.cr().modify(|_, w| w.pllon().set_bit());
    let locked = (0..TRIES).any(|_| rcc.cr().read().pllrdy().bit_is_set());
    rcc.cr().modify(|_, w| w.pllon().clear_bit());
    // The PLL settings may be changed only after it has stopped.
    locked && (0..TRIES).any(|_| rcc.cr().read().pllrdy().bit_is_clear())
}

//! Sleep until the sensor's FIFO has reached its watermark.
//!
//! It waits for an event, not an interrupt. A pending interrupt wakes the processor but no handler
//! runs, so nothing is shared and nothing can interrupt the analysis.

use cortex_m::peripheral::{NVIC, SCB};
use stm32f4xx_hal::gpio::{Edge, ExtiPin, Input, PB0, Pull};
use stm32f4xx_hal::pac::{EXTI, Interrupt, SYSCFG};
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::rcc::Rcc;

/// SEVONPEND of the system control register: a pending interrupt is an event.
const EVENT_ON_PENDING: u32 = 1 << 4;

/// INT1 of the sensor.
pub struct Wake {
    interrupt: PB0<Input>,
}

impl Wake {
    pub(crate) fn new(pin: PB0, syscfg: SYSCFG, mut exti: EXTI, scb: &SCB, rcc: &mut Rcc) -> Self {
        let mut syscfg = syscfg.constrain(rcc);
        let mut interrupt = Input::new(pin, Pull::Down);
        interrupt.make_interrupt_source(&mut syscfg);
        interrupt.trigger_on_edge(&mut exti, Edge::Rising);
        interrupt.enable_interrupt(&mut exti);
        // SAFETY: the bit changes only what `wfe` waits for, and only `sleep` uses `wfe`.
        unsafe { scb.scr.modify(|scr| scr | EVENT_ON_PENDING) };
        Self { interrupt }
    }

    /// Sleeps until INT1 is high; returns at once if it is. May return early.
    pub fn sleep(&mut self) {
        if self.interrupt.is_high() {
            return;
        }
        // An edge since the pin was read is already an event, so this returns at once.
        cortex_m::asm::wfe();
        self.interrupt.clear_interrupt_pending_bit();
        NVIC::unpend(Interrupt::EXTI0);
    }
}

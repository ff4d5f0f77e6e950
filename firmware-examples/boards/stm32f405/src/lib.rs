//! An STM32F405 with an IIS3DWB on SPI1: clocks, pins, sensor, watchdog.
//!
//! | pin | to the sensor's |
//! |---|---|
//! | PA4 | CS |
//! | PA5 | SCL (SPC) |
//! | PA6 | SDO |
//! | PA7 | SDA (SDI) |
//! | PB0 | INT1 |
//!
//! [`serial`] has the pins of the plant's bus.
//!
//! QEMU's netduinoplus2 has the chip's SPI without a sensor on it. It has neither a clock
//! controller nor a watchdog: their registers read as zero. Nothing here waits for ever, so this
//! code runs there as it does on a board.

#![no_std]

mod clock;
mod flash;
pub mod keys;
pub mod qemu;
pub mod ram_flash;
mod run;
pub mod serial;
mod wake;

use core::convert::Infallible;

use embedded_hal::delay::DelayNs;
use embedded_hal_bus::spi::ExclusiveDevice;
use firmware_examples::app::{self, AXES, LONGEST_WINDOW_MS, WATCHDOG_MS};
use rebearing::acquisition::{Axis, FullScale, IIS3DWB_RATE_HZ, Iis3dwb};
use rebearing::monitor::Sampling;
use stm32f4xx_hal::flash::LockedFlash;
use stm32f4xx_hal::gpio::{Output, Pin, Speed};
use stm32f4xx_hal::pac::{CorePeripherals, Peripherals, SPI1};
use stm32f4xx_hal::prelude::*;
use stm32f4xx_hal::spi::{Mode, Phase, Polarity, Spi};
use stm32f4xx_hal::watchdog::IndependentWatchdog;

pub use clock::Clock;
pub use flash::BoardFlash;
pub use run::run;
pub use serial::SerialPort;
pub use wake::Wake;

/// The chip as probe-rs names it.
pub const CHIP: &str = "STM32F405RG";

/// Range of the accelerometer.
const FULL_SCALE: FullScale = FullScale::G16;
/// How the board samples.
pub const SAMPLING: Sampling = Sampling {
    rate_hz: IIS3DWB_RATE_HZ,
    longest_window_ms: LONGEST_WINDOW_MS,
    full_scale_g: FULL_SCALE.g(),
};

/// Upper limit of the bus clock in MHz. With it, the HAL divides 84 MHz by 16 and 16 MHz by 2. The
/// sensor accepts up to 10 MHz and needs 1.5 MHz.
const SPI_MHZ: u32 = 6;

/// The accelerometer on its bus.
pub type Sensor =
    Iis3dwb<ExclusiveDevice<Spi<SPI1>, Pin<'A', 4, Output>, CycleDelay>, CycleDelay, AXES>;

/// Everything that the application needs from the chip.
pub struct Board {
    /// The processor's clock source.
    pub clock: Clock,
    /// The accelerometer, not started yet.
    pub sensor: Sensor,
    /// Sleeps until the accelerometer has samples.
    pub wake: Wake,
    /// The watchdog, already running.
    pub watchdog: BoardWatchdog,
    /// The flash that holds the model slots.
    pub flash: BoardFlash,
    /// The line to the plant; `None` if the clock is too slow for it.
    pub port: Option<SerialPort>,
    /// Delays in units of time.
    pub delay: CycleDelay,
}

impl Board {
    /// Sets up the chip; `None` if that was done before.
    pub fn new() -> Option<Self> {
        let core = CorePeripherals::take()?;
        let chip = Peripherals::take()?;

        // The watchdog comes first: if anything hangs after this, the board restarts.
        let mut watchdog = IndependentWatchdog::new(chip.IWDG);
        watchdog.stop_on_debug(&chip.DBGMCU, true);
        watchdog.start(WATCHDOG_MS.millis());

        let (clock, mut rcc) = Clock::start(chip.RCC);
        let delay = CycleDelay { cycles_per_us: clock.megahertz() };

        let a = chip.GPIOA.split(&mut rcc);
        let mut select = a.pa4.into_push_pull_output();
        select.set_high();
        // The pins' slow edges after a reset would spoil the last bit of a byte.
        let pins = (
            Some(a.pa5.into_alternate().speed(Speed::High)),
            Some(a.pa6.into_alternate()),
            Some(a.pa7.into_alternate().speed(Speed::High)),
        );
        let mode = Mode { polarity: Polarity::IdleHigh, phase: Phase::CaptureOnSecondTransition };
        let bus = chip.SPI1.spi(pins, mode, SPI_MHZ.MHz(), &mut rcc);
        let Ok::<_, Infallible>(device) = ExclusiveDevice::new(bus, select, delay);
        let sensor = Iis3dwb::new(device, delay, FULL_SCALE, [Axis::Z]);

        let b = chip.GPIOB.split(&mut rcc);
        let wake = Wake::new(b.pb0, chip.SYSCFG, chip.EXTI, &core.SCB, &mut rcc);
        let flash = BoardFlash(LockedFlash::new(chip.FLASH));
        let line = (a.pa8, a.pa9, a.pa10);
        let port = SerialPort::new(chip.USART1, line, core.SYST, clock.megahertz(), &mut rcc);
        Some(Self { clock, sensor, wake, watchdog: BoardWatchdog(watchdog), flash, port, delay })
    }
}

/// The independent watchdog, which has its own oscillator.
pub struct BoardWatchdog(IndependentWatchdog);

impl app::Watchdog for BoardWatchdog {
    fn feed(&mut self) {
        self.0.feed();
    }
}

/// Waits at least the requested time by counting cycles. Needs no timer, and works in QEMU.
#[derive(Clone, Copy)]
pub struct CycleDelay {
    cycles_per_us: u32,
}

impl DelayNs for CycleDelay {
    fn delay_ns(&mut self, ns: u32) {
        // At most 4.3 s at 168 MHz, which fits in 32 bits.
        cortex_m::asm::delay((ns / 1000 + 1).saturating_mul(self.cycles_per_us));
    }
}

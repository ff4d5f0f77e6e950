//! An nRF52840 with an IIS3DWB on SPI, in embassy's executor; reports over RTT.
//!
//! | pin | on the nRF52840-DK | to the sensor's |
//! |---|---|---|
//! | P1.12 | D10 | CS |
//! | P1.13 | D11 | SDA (SDI) |
//! | P1.14 | D12 | SDO |
//! | P1.15 | D13 | SCL (SPC) |
//! | P1.11 | D9 | INT1 |

#![no_std]
#![no_main]
#![allow(clippy::used_underscore_binding, reason = "embassy's macro uses what nobody else does")]

use core::convert::Infallible;

use defmt_rtt as _;
use embassy_executor::Spawner;
use embassy_nrf::gpio::{Input, Level, Output, OutputDrive, Pull};
use embassy_nrf::nvmc::Nvmc;
use embassy_nrf::spim::{self, Spim};
use embassy_nrf::wdt::{self, HaltConfig, Watchdog, WatchdogHandle};
use embassy_nrf::{bind_interrupts, peripherals};
use embassy_time::{Delay, Timer};
use embedded_hal_bus::spi::ExclusiveDevice;
use firmware_examples::app::rtt::RttJournal;
use firmware_examples::app::{
    self, App, FloatMonitor, LONGEST_WINDOW_MS, RETRY_MS, Room, SLOTS, WATCHDOG_MS,
};
use firmware_examples::model_region::model_region;
use panic_probe as _;
use rebearing::acquisition::{AsyncIis3dwb, Axis, FullScale, IIS3DWB_RATE_HZ};
use rebearing::monitor::Sampling;
use rebearing::update::{LayoutError, Slots};
use static_cell::ConstStaticCell;

/// For i16 models of 2048 points, use `CountMonitor<2048>`.
type BoardMonitor = FloatMonitor;

/// Range of the accelerometer.
const FULL_SCALE: FullScale = FullScale::G16;
/// How the board samples.
const SAMPLING: Sampling = Sampling {
    rate_hz: IIS3DWB_RATE_HZ,
    longest_window_ms: LONGEST_WINDOW_MS,
    full_scale_g: FULL_SCALE.g(),
};

rebearing::descriptor!(BoardMonitor, "nRF52840_xxAA", SLOTS, SAMPLING);

bind_interrupts!(struct Interrupts {
    SPI2 => spim::InterruptHandler<peripherals::SPI2>;
});

/// The large parts of the application.
static ROOM: ConstStaticCell<Room<BoardMonitor>> =
    ConstStaticCell::new(Room::new(BoardMonitor::vacant()));

/// Ticks of the watchdog's clock in a second.
const WATCHDOG_HZ: u32 = 32_768;

/// The chip's watchdog, through its only handle.
struct BoardWatchdog(WatchdogHandle);

impl app::Watchdog for BoardWatchdog {
    fn feed(&mut self) {
        self.0.pet();
    }
}

#[embassy_executor::main]
async fn main(_spawner: Spawner) {
    let chip = embassy_nrf::init(embassy_nrf::config::Config::default());

    let mut settings = wdt::Config::default();
    settings.timeout_ticks = WATCHDOG_HZ / 1000 * WATCHDOG_MS;
    settings.action_during_debug_halt = HaltConfig::Pause;
    let Ok((_, [handle])) = Watchdog::try_new(chip.WDT, settings) else {
        // Another firmware left it running. It resets this firmware, which can then set it up anew.
        defmt::error!("the watchdog runs with other settings: waiting for it");
        return;
    };

    if let Err(error) = check_layout(Nvmc::new(chip.NVMC)) {
        defmt::error!("memory.x: {}", error);
        return;
    }
    let app = App::start(ROOM.take(), model_region(), &SAMPLING, RttJournal, BoardWatchdog(handle));
    // Without a model there is nothing to do. The watchdog restarts the board.
    let Some(mut app) = app else { return };

    let mut bus_settings = spim::Config::default();
    bus_settings.frequency = spim::Frequency::M8;
    bus_settings.mode = spim::MODE_3;
    let (clock, from_sensor, to_sensor) = (chip.P1_15, chip.P1_14, chip.P1_13);
    let bus = Spim::new(chip.SPI2, Interrupts, clock, from_sensor, to_sensor, bus_settings);
    let select = Output::new(chip.P1_12, Level::High, OutputDrive::Standard);
    let Ok::<_, Infallible>(device) = ExclusiveDevice::new(bus, select, Delay);
    let interrupt = Input::new(chip.P1_11, Pull::Down);
    let mut sensor = AsyncIis3dwb::new(device, interrupt, Delay, FULL_SCALE, [Axis::Z]);
    if let Err(error) = sensor.start().await {
        defmt::warn!("sensor: {}", defmt::Debug2Format(&error));
    }
    loop {
        // The driver waits for INT1 itself. After a fault it restarts the sensor at the next step.
        if app.step_async(&mut sensor).await.is_err() {
            Timer::after_millis(RETRY_MS.into()).await;
        }
    }
}

/// Checks that a new model could be stored in the slots. Writes nothing.
fn check_layout(flash: Nvmc<'_>) -> Result<(), LayoutError> {
    // The flash begins at address zero, so addresses are offsets.
    let region = model_region().as_ptr_range();
    Slots::new(flash, region.start.addr() as u32..region.end.addr() as u32).map(drop)
}

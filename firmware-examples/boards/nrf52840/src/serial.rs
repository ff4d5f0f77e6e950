//! The plant's bus: UARTE0 and an RS-485 driver, in a task of its own.
//!
//! | pin | on the nRF52840-DK | to the driver's |
//! |---|---|---|
//! | P1.02 | D1 | DI |
//! | P1.01 | D0 | RO |
//! | P1.03 | D2 | DE and /RE |
//!
//! The task brings bytes and ticks to a buffer that it shares with the application, and takes the
//! answers from it.

use core::cell::RefCell;

use cortex_m::interrupt::{Mutex, free};
use embassy_futures::select::{Either, select};
use embassy_nrf::buffered_uarte::{self, BufferedUarte};
use embassy_nrf::gpio::{Level, Output, OutputDrive};
use embassy_nrf::uarte::{Baudrate, Config, Parity};
use embassy_nrf::{Peri, bind_interrupts, peripherals};
use embassy_time::{Duration, Ticker};
use firmware_examples::app::port::{Port, PortBuffer};
use static_cell::ConstStaticCell;

/// Room for a frame in each direction.
const ROOM: usize = 256;

bind_interrupts!(struct Interrupts {
    UARTE0 => buffered_uarte::InterruptHandler<peripherals::UARTE0>;
});

static BUFFER: Mutex<RefCell<PortBuffer>> = Mutex::new(RefCell::new(PortBuffer::new()));

fn with_buffer<T>(work: impl FnOnce(&mut PortBuffer) -> T) -> T {
    free(|token| work(&mut BUFFER.borrow(token).borrow_mut()))
}

/// The application's end of the line.
pub struct SerialPort;

impl Port for SerialPort {
    fn with<T>(&mut self, work: impl FnOnce(&mut PortBuffer) -> T) -> T {
        with_buffer(work)
    }

    /// The task looks at every tick.
    fn start_sending(&mut self) {}
}

/// The parts of the chip that the line needs.
pub struct Pins {
    /// The serial port.
    pub uarte: Peri<'static, peripherals::UARTE0>,
    /// Counts the bytes that arrive.
    pub timer: Peri<'static, peripherals::TIMER1>,
    /// Connects port and timer.
    pub channels: (Peri<'static, peripherals::PPI_CH0>, Peri<'static, peripherals::PPI_CH1>),
    /// Switches the connection.
    pub group: Peri<'static, peripherals::PPI_GROUP0>,
    /// From the driver.
    pub receive: Peri<'static, peripherals::P1_01>,
    /// To the driver.
    pub send: Peri<'static, peripherals::P1_02>,
    /// Switches the driver.
    pub drive: Peri<'static, peripherals::P1_03>,
}

/// Moves bytes between the line and the buffer for ever.
#[embassy_executor::task]
pub async fn serve(pins: Pins) {
    static RECEIVED: ConstStaticCell<[u8; ROOM]> = ConstStaticCell::new([0; ROOM]);
    static SENT: ConstStaticCell<[u8; ROOM]> = ConstStaticCell::new([0; ROOM]);
    let Pins { uarte, timer, channels, group, receive, send, drive } = pins;
    // 19,200 baud with even parity, the bus's default.
    let mut config = Config::default();
    (config.baudrate, config.parity) = (Baudrate::Baud19200, Parity::Included);
    let mut line = BufferedUarte::new(
        uarte,
        timer,
        channels.0,
        channels.1,
        group,
        receive,
        send,
        Interrupts,
        config,
        RECEIVED.take(),
        SENT.take(),
    );
    let mut drive = Output::new(drive, Level::Low, OutputDrive::Standard);
    let mut tick = Ticker::every(Duration::from_millis(1));
    let mut bytes = [0; 16];
    loop {
        match select(line.read(&mut bytes), tick.next()).await {
            Either::First(Ok(count)) => {
                for byte in bytes.iter().take(count) {
                    with_buffer(|buffer| buffer.byte(Some(*byte)));
                }
            }
            Either::First(Err(_)) => with_buffer(|buffer| buffer.byte(None)),
            Either::Second(()) => {
                with_buffer(PortBuffer::tick);
                answer(&mut line, &mut drive).await;
            }
        }
    }
}

/// Sends the answer, if there is one, and lets go of the line after it.
async fn answer(line: &mut BufferedUarte<'static>, drive: &mut Output<'static>) {
    if !with_buffer(|buffer| buffer.is_sending()) {
        return;
    }
    drive.set_high();
    while let Some(byte) = with_buffer(PortBuffer::next_to_send) {
        if line.write(&[byte]).await.is_err() {
            break;
        }
    }
    // A line that fails is noticed by the plant, which asks again.
    let _ = line.flush().await;
    drive.set_low();
}

//! IIS3DWB, a three-axis vibration accelerometer on SPI: 26.7 kHz, 16 bits, a FIFO of 512 words.
//!
//! This driver is our own because there is no driver crate for the chip. It does only what
//! continuous acquisition needs. It uses everything that the chip says about gaps: the overrun
//! flags, and the counter and parity in the tag of every word. Connect INT1 to wake up at the
//! watermark, or poll `read`. SPI mode 0 or 3, up to 10 MHz.

use core::fmt;

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{Operation, SpiDevice};

use super::SampleSource;
use crate::acquisition::SensorFault;

/// Registers, and the values written to them.
mod register {
    pub(super) const READ: u8 = 0x80;
    pub(super) const FIFO_CTRL1: u8 = 0x07;
    pub(super) const FIFO_CTRL4: u8 = 0x0A;
    pub(super) const INT1_CTRL: u8 = 0x0D;
    pub(super) const WHO_AM_I: u8 = 0x0F;
    pub(super) const CTRL1_XL: u8 = 0x10;
    pub(super) const CTRL3_C: u8 = 0x12;
    pub(super) const FIFO_STATUS1: u8 = 0x3A;
    pub(super) const FIFO_DATA_OUT_TAG: u8 = 0x78;

    pub(super) const IDENTITY: u8 = 0x7B;
    pub(super) const SW_RESET: u8 = 0x01;
    /// Both bytes come from the same sample, and addresses count up in a transfer.
    pub(super) const BDU_IF_INC: u8 = 0x44;
    pub(super) const XL_ENABLE: u8 = 0xA0;
    /// All samples go into the FIFO.
    pub(super) const BATCH_ALL: u8 = 0x0A;
    pub(super) const BYPASS: u8 = 0x00;
    /// New samples push out the oldest when the FIFO is full.
    pub(super) const STREAM: u8 = 0x06;
    pub(super) const INT1_FIFO_WATERMARK: u8 = 0x08;
    /// `FIFO_OVR_IA` and `FIFO_OVR_LATCHED`.
    pub(super) const OVERRUN: u8 = 0x48;
    pub(super) const ACCELEROMETER: u8 = 0x02;
}

/// Nominal sample rate of each axis in Hz. The chip has no other.
pub const IIS3DWB_RATE_HZ: f32 = 26_667.0;

/// Bytes of a FIFO word: tag, x, y, z.
const WORD: usize = 7;
/// Words read in one transfer. They are on the stack during it.
const BURST: usize = 16;
/// Words that wake the processor up: a quarter of the FIFO. The other three quarters give it time
/// to finish other work.
const WATERMARK: u8 = 128;
/// Times to wait 100 µs for a reset, which takes some 50 µs. After that many there is no chip.
const RESET_TRIES: u8 = 50;

/// Writes after a reset, in order: the first register, then its bytes.
const SETTINGS: [(u8, &[u8]); 3] = [
    (register::CTRL3_C, &[register::BDU_IF_INC]),
    (register::FIFO_CTRL1, &[WATERMARK, 0, register::BATCH_ALL, register::STREAM]),
    (register::INT1_CTRL, &[register::INT1_FIFO_WATERMARK]),
];

/// Largest acceleration that the chip measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum FullScale {
    /// ±2 g, 0.061 mg a count.
    G2,
    /// ±4 g, 0.122 mg a count.
    G4,
    /// ±8 g, 0.244 mg a count.
    G8,
    /// ±16 g, 0.488 mg a count.
    G16,
}

impl FullScale {
    /// The largest acceleration in g, as a count of 32768.
    pub const fn g(self) -> f32 {
        match self {
            Self::G2 => 2.0,
            Self::G4 => 4.0,
            Self::G8 => 8.0,
            Self::G16 => 16.0,
        }
    }

    fn bits(self) -> u8 {
        match self {
            Self::G2 => 0x00,
            Self::G16 => 0x04,
            Self::G4 => 0x08,
            Self::G8 => 0x0C,
        }
    }
}

/// Direction in which the chip measures.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Axis {
    /// Along x.
    X,
    /// Along y.
    Y,
    /// Along z.
    Z,
}

/// Why the chip does not start.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Iis3dwbError<E> {
    /// The bus failed.
    Bus(E),
    /// Something answers, but it is not an IIS3DWB: wiring, chip select, or another chip.
    Identity(u8),
    /// The chip does not finish its reset.
    Reset,
    /// A register does not hold what was written to it.
    Verify,
}

impl<E: fmt::Debug> fmt::Display for Iis3dwbError<E> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Bus(error) => write!(f, "the bus failed: {error:?}"),
            Self::Identity(found) => write!(
                f,
                "the chip says {found:#04x} where an IIS3DWB says 0x7b: check wiring and chip select"
            ),
            Self::Reset => f.write_str("the chip does not finish its reset: check its supply"),
            Self::Verify => f.write_str("a register does not keep what was written: check the bus"),
        }
    }
}

impl<E: fmt::Debug> core::error::Error for Iis3dwbError<E> {}

/// The part of the driver that is the same for blocking and async buses.
#[derive(Debug, Clone)]
struct Protocol<const AXES: usize> {
    full_scale: FullScale,
    axes: [Axis; AXES],
    /// The counter in the last word's tag; `None` after a start.
    counter: Option<u8>,
}

impl<const AXES: usize> Protocol<AXES> {
    fn enable(&self) -> u8 {
        register::XL_ENABLE | self.full_scale.bits()
    }

    /// Returns the number of words in the FIFO, from its two status registers.
    fn level(status: [u8; 2]) -> Result<usize, SensorFault> {
        if status[1] & register::OVERRUN != 0 {
            return Err(SensorFault::Overrun);
        }
        Ok(usize::from(status[0]) | usize::from(status[1] & 0x03) << 8)
    }

    /// Writes the samples of `words` to `out` and returns how many there were.
    fn samples(&mut self, words: &[u8], out: &mut [[i16; AXES]]) -> Result<usize, SensorFault> {
        let mut count = 0;
        let (words, _) = words.as_chunks::<WORD>();
        for &[tag, x0, x1, y0, y1, z0, z1] in words {
            // The tag has even parity. A bus that reads only ones or only zeros gives no valid tag.
            if tag.count_ones() % 2 != 0 || tag >> 3 == 0 || tag >> 3 == 0x1F {
                return Err(SensorFault::Bus);
            }
            if tag >> 3 != register::ACCELEROMETER {
                continue;
            }
            let counter = tag >> 1 & 0x03;
            if self.counter.is_some_and(|last| counter != (last + 1) & 0x03) {
                return Err(SensorFault::LostSamples);
            }
            self.counter = Some(counter);
            let (x, y, z) = ([x0, x1], [y0, y1], [z0, z1]);
            if let Some(sample) = out.get_mut(count) {
                *sample = self.axes.map(|axis| {
                    i16::from_le_bytes(match axis {
                        Axis::X => x,
                        Axis::Y => y,
                        Axis::Z => z,
                    })
                });
                count += 1;
            }
        }
        Ok(count)
    }
}

/// An IIS3DWB on a SPI bus. It recovers from overruns and bus faults by starting again.
#[derive(Debug)]
pub struct Iis3dwb<SPI, DELAY, const AXES: usize> {
    spi: SPI,
    delay: DELAY,
    protocol: Protocol<AXES>,
    running: bool,
}

/// An IIS3DWB for async executors: `read` waits for its interrupt pin.
#[derive(Debug)]
pub struct AsyncIis3dwb<SPI, INT, DELAY, const AXES: usize> {
    spi: SPI,
    interrupt: INT,
    delay: DELAY,
    protocol: Protocol<AXES>,
    running: bool,
}

macro_rules! driver {
    ([$($await:tt)*], [$($async:tt)*], $spi:path, $delay:path, $name:ident<$($type:ident),*>) => {
        impl<$($type,)* const AXES: usize> $name<$($type,)* AXES>
        where
            SPI: $spi,
            DELAY: $delay,
        {
            /// Resets the chip, checks its identity and starts it.
            pub $($async)* fn start(&mut self) -> Result<(), Iis3dwbError<SPI::Error>> {
                self.running = false;
                self.write(register::CTRL3_C, &[register::SW_RESET])$($await)*?;
                let mut tries = 0;
                let mut state = [register::SW_RESET];
                while state[0] & register::SW_RESET != 0 {
                    if tries == RESET_TRIES {
                        return Err(Iis3dwbError::Reset);
                    }
                    tries += 1;
                    self.delay.delay_us(100)$($await)*;
                    self.read_registers(register::CTRL3_C, &mut state)$($await)*?;
                }
                let mut found = [0];
                self.read_registers(register::WHO_AM_I, &mut found)$($await)*?;
                if found[0] != register::IDENTITY {
                    return Err(Iis3dwbError::Identity(found[0]));
                }
                for (register, bytes) in SETTINGS {
                    self.write(register, bytes)$($await)*?;
                }
                let enable = self.protocol.enable();
                self.write(register::CTRL1_XL, &[enable])$($await)*?;
                self.read_registers(register::CTRL1_XL, &mut found)$($await)*?;
                if found[0] != enable {
                    return Err(Iis3dwbError::Verify);
                }
                self.protocol.counter = None;
                self.running = true;
                Ok(())
            }

            /// Reads samples from the FIFO, as far as there is room.
            $($async)* fn read_fifo(
                &mut self,
                samples: &mut [[i16; AXES]],
            ) -> Result<usize, SensorFault> {
                if !self.running {
                    self.start()$($await)*.map_err(|_| SensorFault::Bus)?;
                }
                let read = self.drain(samples)$($await)*;
                match read {
                    Ok(_) => {}
                    // The FIFO holds samples from before the gap: discard them.
                    Err(SensorFault::Overrun | SensorFault::LostSamples) => {
                        self.running = self.empty()$($await)*.is_ok();
                    }
                    Err(_) => self.running = false,
                }
                read
            }

            $($async)* fn drain(
                &mut self,
                samples: &mut [[i16; AXES]],
            ) -> Result<usize, SensorFault> {
                let mut status = [0; 2];
                self.read_registers(register::FIFO_STATUS1, &mut status)$($await)*
                    .map_err(|_| SensorFault::Bus)?;
                let mut level = Protocol::<AXES>::level(status)?.min(samples.len());
                let mut count = 0;
                let mut words = [0; WORD * BURST];
                while level > 0 {
                    let burst = level.min(BURST);
                    let words = words.get_mut(..burst * WORD).unwrap_or_default();
                    self.read_registers(register::FIFO_DATA_OUT_TAG, words)$($await)*
                        .map_err(|_| SensorFault::Bus)?;
                    let rest = samples.get_mut(count..).unwrap_or_default();
                    count += self.protocol.samples(words, rest)?;
                    level -= burst;
                }
                Ok(count)
            }

            /// Empties the FIFO, and lets it fill again.
            $($async)* fn empty(&mut self) -> Result<(), Iis3dwbError<SPI::Error>> {
                self.protocol.counter = None;
                self.write(register::FIFO_CTRL4, &[register::BYPASS])$($await)*?;
                self.write(register::FIFO_CTRL4, &[register::STREAM])$($await)*
            }

            $($async)* fn write(
                &mut self,
                register: u8,
                bytes: &[u8],
            ) -> Result<(), Iis3dwbError<SPI::Error>> {
                let mut operations = [Operation::Write(&[register]), Operation::Write(bytes)];
                self.spi.transaction(&mut operations)$($await)*.map_err(Iis3dwbError::Bus)
            }

            $($async)* fn read_registers(
                &mut self,
                register: u8,
                bytes: &mut [u8],
            ) -> Result<(), Iis3dwbError<SPI::Error>> {
                let register = [register | register::READ];
                let mut operations = [Operation::Write(&register), Operation::Read(bytes)];
                self.spi.transaction(&mut operations)$($await)*.map_err(Iis3dwbError::Bus)
            }
        }
    };
}
driver!([], [], SpiDevice, DelayNs, Iis3dwb<SPI, DELAY>);
driver!(
    [.await], [async], embedded_hal_async::spi::SpiDevice, embedded_hal_async::delay::DelayNs,
    AsyncIis3dwb<SPI, INT, DELAY>
);

impl<SPI, DELAY, const AXES: usize> Iis3dwb<SPI, DELAY, AXES> {
    /// Creates a driver that measures along `axes`. The first `read` starts the chip.
    /// [`start`](Self::start) starts it too, and says what is wrong.
    pub fn new(spi: SPI, delay: DELAY, full_scale: FullScale, axes: [Axis; AXES]) -> Self {
        let protocol = Protocol { full_scale, axes, counter: None };
        Self { spi, delay, protocol, running: false }
    }

    /// Returns the bus and the delay.
    pub fn release(self) -> (SPI, DELAY) {
        (self.spi, self.delay)
    }
}

impl<SPI: SpiDevice, DELAY: DelayNs, const AXES: usize> SampleSource<i16, AXES>
    for Iis3dwb<SPI, DELAY, AXES>
{
    fn read(&mut self, samples: &mut [[i16; AXES]]) -> Result<usize, SensorFault> {
        self.read_fifo(samples)
    }
}

impl<SPI, INT, DELAY, const AXES: usize> AsyncIis3dwb<SPI, INT, DELAY, AXES> {
    /// As [`Iis3dwb::new`], with the pin that INT1 is connected to.
    pub fn new(
        spi: SPI,
        interrupt: INT,
        delay: DELAY,
        full_scale: FullScale,
        axes: [Axis; AXES],
    ) -> Self {
        let protocol = Protocol { full_scale, axes, counter: None };
        Self { spi, interrupt, delay, protocol, running: false }
    }
}

impl<SPI, INT, DELAY, const AXES: usize> super::AsyncSampleSource<i16, AXES>
    for AsyncIis3dwb<SPI, INT, DELAY, AXES>
where
    SPI: embedded_hal_async::spi::SpiDevice,
    INT: embedded_hal_async::digital::Wait,
    DELAY: embedded_hal_async::delay::DelayNs,
{
    async fn read(&mut self, samples: &mut [[i16; AXES]]) -> Result<usize, SensorFault> {
        if self.running {
            self.interrupt.wait_for_high().await.map_err(|_| SensorFault::Bus)?;
        }
        self.read_fifo(samples).await
    }
}

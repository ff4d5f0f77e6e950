//! Sources of samples, and the way from them into a monitor.

use core::convert::Infallible;
use core::hint::black_box;

use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use rebearing::AnyMonitor;
use rebearing::acquisition::{
    Axis, DoubleBuffered, FullScale, Halves, Iis3dwb, Rails, SampleSource,
};
use rebearing::monitor::acquire;
use rebearing::operation::Feeding;

use crate::unknown::{inspect, number, write};

/// A bus that may answer anything.
struct Bus;

impl ErrorType for Bus {
    type Error = Infallible;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            if let Operation::Read(bytes) = operation {
                bytes.fill(black_box(0));
            }
        }
        Ok(())
    }
}

/// A delay that takes no time.
struct Now;

impl DelayNs for Now {
    fn delay_ns(&mut self, _: u32) {}
}

/// Moves samples of every source into a monitor.
pub(crate) fn sources<'m, M, const CLASSES: usize>(monitor: &mut M)
where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16>,
{
    let monitor = black_box(monitor);
    let mut sensor = black_box(Iis3dwb::new(Bus, Now, black_box(FullScale::G16), [Axis::Z]));
    if let Err(error) = sensor.start() {
        write(error);
    }
    let mut samples = [[0; 1]; 64];
    let samples = samples.get_mut(..number()).unwrap_or_default();
    let rails = black_box(Rails::FULL);
    acquire(&mut sensor, &rails, samples, monitor, |finding| inspect(&finding));
    let halves = black_box(Halves::new());
    let mut source = black_box(DoubleBuffered::new(&halves, |_, _: &mut [[i16; 1]]| number()));
    halves.complete();
    black_box(source.read(samples).is_ok());
    let mut feeding = black_box(Feeding::new());
    let count = acquire(&mut source, &rails, samples, monitor, |finding| {
        inspect(&finding);
        feeding.handed_on(&finding);
    });
    feeding.arrived(count);
    black_box(feeding.due());
}

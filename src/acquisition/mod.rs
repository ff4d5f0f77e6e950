//! Sensor to samples: where samples come from, and why they may be unfit for analysis.
//!
//! ```text
//!  accelerometer with a FIFO ─► Iis3dwb ─────────┐
//!                                                ├─► SampleSource ─► acquire ─► a monitor
//!  DMA or ADC, double buffer ─► DoubleBuffered ──┘       │
//!                                                        └─ SensorFault: the window is discarded
//! ```
//!
//! A source that cannot vouch for an unbroken row of samples returns a [`SensorFault`].
//! [`acquire`](crate::monitor::acquire) then discards the window those samples belong to. A gap in
//! the middle of a window looks like an impact and would be analysed as one.

mod double_buffer;
mod fault;
mod iis3dwb;
mod rails;
mod sample;

pub use double_buffer::{DoubleBuffered, Half, Halves};
pub use fault::SensorFault;
pub use iis3dwb::{AsyncIis3dwb, Axis, FullScale, IIS3DWB_RATE_HZ, Iis3dwb, Iis3dwbError};
pub use rails::Rails;
pub use sample::Sample;

/// A source of samples.
pub trait SampleSource<S, const AXES: usize> {
    /// Writes the samples that have arrived since the last call, oldest first, and returns how
    /// many it wrote; zero if none have arrived.
    ///
    /// After a fault, the next samples do not continue those before it. Just call again: a source
    /// recovers by itself if it can.
    fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault>;
}

/// [`SampleSource`] for executors: `read` waits until samples have arrived.
#[allow(async_fn_in_trait, reason = "futures of drivers stay on the core they were made on")]
pub trait AsyncSampleSource<S, const AXES: usize> {
    /// As [`SampleSource::read`].
    async fn read(&mut self, samples: &mut [[S; AXES]]) -> Result<usize, SensorFault>;
}

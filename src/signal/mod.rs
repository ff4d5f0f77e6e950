//! Samples to a power spectrum, and to the numbers measured on the way.

pub mod envelope;
mod front_end;
mod hann;
pub mod orders;
pub mod segment;
pub mod severity;
pub mod spectrum;
pub mod statistics;

pub use front_end::{FrontEnd, MAX_BANDS};
pub use hann::Hann;
pub(crate) use hann::sine;
pub use orders::{Orders, ShaftSpeedError};
pub use segment::Segment;
pub use severity::{Severity, SeverityParameters, Zone};
pub use spectrum::{FFT_LENGTHS, Spectrum};
pub use statistics::Statistics;

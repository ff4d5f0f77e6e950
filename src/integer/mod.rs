//! The stages in integers, for chips without a floating-point unit.
//!
//! ```text
//! i16 samples ─► taper ─► transform ─► spectrum ─► features ─► mixture ─► classifier ─► finding
//!                           FFT        band power    log2       energies     label
//! ```
//!
//! The stages are those of the `f32` line. The host makes an i16 model from an `f32` one and
//! measures what that costs. There is no floating-point operation at run time, so nothing rounds
//! differently from one processor to another. Every stage is exact integer arithmetic and states
//! its bounds. Host and device agree bit for bit.
//!
//! Numbers carry their scale in one of three ways, and their documentation says which: *block
//! floating point* (a block of integers and one exponent, from taper to band power), *Qn* (n
//! fraction bits), and the *units of the model*, which the host chose.

pub mod classifier;
pub mod features;
pub mod kernel;
pub mod math;
pub mod mixture;
pub mod part;
pub mod segment;
pub mod spectrum;
pub mod statistics;
pub mod taper;
pub mod transform;

pub use classifier::{GateSettings, IntegerClassified, IntegerClassifier, IntegerGate, classify};
pub use features::IntegerScaling;
pub use part::{IntegerComponent, IntegerPart};
pub use segment::add_segment;
pub use statistics::IntegerStatistics;

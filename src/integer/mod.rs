//! The line of the data in integers, for chips without a floating-point unit.
//!
//! ```text
//! i16 samples ─► window ─► transform ─► spectrum ─► features ─► mixture ─► diagnosis ─► report
//!                 taper      FFT        band power    log2       energies    label
//! ```
//!
//! The stages are those of the `f32` line, and an i16 model is made from an `f32` one by the
//! host, which measures what that costs. Nothing here is a floating-point operation at run
//! time, so nothing rounds differently from one processor to another: every stage is exact
//! integer arithmetic, whose bounds stand beside it, and host and device agree bit for bit.
//!
//! Numbers carry their scale in one of three ways, which their documentation names:
//! *block floating point* (a block of integers and one exponent, from taper to band power),
//! *Qn* (n fraction bits), and the *units of the model*, which the host chose.

pub mod diagnosis;
pub mod features;
pub mod math;
pub mod mixture;
pub(crate) mod model;
pub mod monitor;
pub mod spectrum;
pub mod statistics;
pub mod transform;
pub mod window;

pub use model::{IntegerComponent, IntegerGate, IntegerModel, IntegerPart};
pub use monitor::{IntegerFinding, IntegerMonitor, IntegerReport};
pub use statistics::IntegerStatistics;

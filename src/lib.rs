//! Fault labels on a Cortex-M microcontroller, in fixed memory.
//!
//! This is the device half of rebearing. The host tool fits a model file to recordings. This crate
//! reads the file where it lies in flash, takes samples, and says which fault each window of them
//! shows. It has no heap, and no panic can be reached.
//!
//! ```text
//!  acquisition ─► signal ─► features ─► classify ─► finding ─► operation
//!  samples        segment   bands       mixture     of one     alarm, drift, snapshot,
//!                 spectrum  orders      label       window     report line, schedule
//!  └──────────────── monitor: the stages in order ──────────┘
//!                          ▲
//!                          model: one checked file in flash ◄── update: slots ◄── bus: Modbus
//! ```
//!
//! Each word is a module, and a module imports only those that come before it: acquisition, signal,
//! features, classify, integer, model, monitor, operation, update, bus. `integer` has the same stages
//! without a floating-point operation.
//!
//! Start with [`Model`] and [`Monitor`]; [`IntegerModel`] and [`IntegerMonitor`] are their twins for
//! chips without a floating-point unit. [`AnyMonitor`] has the methods of both monitors.
//!
//! ```
//! # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
//! use rebearing::{Alarm, AnyMonitor, Model, Monitor, include_model};
//!
//! // In a firmware the model lies in its own flash region: `Model::from_region`.
//! let model = Model::parse(include_model!(path!()))?;
//!
//! // `rebearing inspect` prints this type for a model.
//! type Pump<'m> = rebearing::monitor!(
//!     'm, model: f32, samples: f32, fft: 256, axes: 1, features: 4, components: 3, classes: 3
//! );
//! // Everything is checked here. After this nothing can fail.
//! let mut monitor = Pump::new(model)?;
//! let mut alarm = Alarm::<3, 8>::of_model(&model)?;
//! for n in 0..10_000 {
//!     let acceleration = (n as f32 * 0.7).sin();
//!     if let Some(finding) = monitor.push([acceleration]) {
//!         println!("{:?}: {:?}", finding.result, alarm.update(&finding));
//!     }
//! }
//! # Ok::<(), rebearing::ModelError>(())
//! ```
//!
//! # Features
//!
//! - `defmt`: `defmt::Format` for every public type.
//! - `asm`: the mixture's inner loop in assembly, for Cortex-M with a floating-point unit.
//! - `dsp`: the inner loop of i16 models with DSP instructions.
//!
//! # What is **not** here
//!
//! Fitting and adaptation: they need a host. Drivers for sensors other than the IIS3DWB: write a
//! [`SampleSource`](acquisition::SampleSource). Cryptography: this crate has the traits for it, and
//! `rebearing-verify` implements them.

#![no_std]
// The two kernels in assembly are exceptions, and say why.
#![deny(unsafe_code)]

#[cfg(test)]
extern crate std;

// So that the example in it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../docs/alarm.md")]
struct AlarmExample;

// So that the example in it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct ReadmeExample;

pub mod acquisition;
pub mod bus;
pub mod model;
pub mod monitor;
pub mod operation;
pub mod update;

// The stages one by one, for the host library, tests and benchmarks. They may change at any time.
#[doc(hidden)]
pub mod classify;
#[doc(hidden)]
pub mod features;
#[doc(hidden)]
pub mod integer;
#[doc(hidden)]
pub mod math;
#[doc(hidden)]
pub mod signal;

pub use acquisition::SensorFault;
#[doc(inline)]
pub use classify::Label;
#[doc(inline)]
pub use integer::IntegerStatistics;
pub use model::{Encoding, IntegerModel, Model, ModelError};
pub use monitor::{
    AnyMonitor, Classification, Finding, IntegerClassification, IntegerFinding, IntegerMonitor,
    Monitor, Vacant,
};
pub use operation::Alarm;
#[doc(inline)]
pub use signal::{FrontEnd, Orders, Severity, ShaftSpeedError, Statistics, Zone};

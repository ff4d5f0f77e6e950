//! Contents to bytes: the model file in both encodings.
//!
//! ```text
//! source, adaptation ─► contents ─► file ─┬─────────────────────────────► deployed
//!                                         └─► quantise ─► integer_file ───┘
//!                 drift, alarm, severity, unit, verdict ─► sections ──────┘
//! ```
//!
//! [`early_drop`] orders the features so that the device can leave components out early.
//! [`findings`] runs the device's code on rows of features. [`loss`] compares the encodings.
//! [`on_disk`] reads model files, signed or not.

pub mod bytes;
pub mod deployed;
pub mod drift;
pub mod early_drop;
pub mod encoded;
pub mod file;
pub mod findings;
pub mod integer_file;
pub mod loss;
pub mod on_disk;
pub mod quantise;
pub mod sections;
mod shared;
pub mod verdict;

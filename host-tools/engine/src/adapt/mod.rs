//! Adaptation: turns a source and unlabelled target windows into the parts of a model.
//!
//! ```text
//! source ─► reference ─┬─► cautious ─► healthy ─┬─► gate ─┐
//!                      │                        └─► keep ─┼─► verdict ─► model file
//! source ──────────────┴─► plan ─► propagate ─► transfer ─┘
//! ```
//!
//! [`transfer`] is the method of the paper: a mixture of the target, with labels carried along a
//! plan. It is right if the pool holds every class. [`gate`] and [`keep`] need only healthy
//! windows. [`cautious`] needs no windows at all. [`verdict`] decides between them and gives the
//! reasons.

pub mod adaptation;
pub mod cautious;
pub mod gate;
pub mod healthy;
pub mod keep;
pub mod maps;
pub mod plan;
pub mod propagate;
pub mod reference;
pub mod softmax;
pub mod transfer;
pub mod verdict;

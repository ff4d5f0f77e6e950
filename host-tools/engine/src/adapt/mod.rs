//! Adaptation: turns a library and unlabelled target windows into the parts of a model.
//!
//! ```text
//! library ─┬─► plan ─► propagate ─► transfer ─► choose ─► curve ─┐
//!          └─► reference ─► combine ─┬─► gate ───────────────────┼─► verdict ─► model file
//!                                    └─► keep ───────────────────┘
//! ```
//!
//! [`transfer`] is the method of the paper: a mixture of the target, with labels carried along a
//! plan. [`choose`] does it for every machine of the library and takes the best. [`curve`] predicts
//! how many of its labels are right. [`gate`] and [`keep`] need only healthy windows, and
//! [`combine`] mixes the known machines for them. [`verdict`] decides between them and gives the
//! reasons. [`leave_one_out`] tries the known machines on one another.

pub mod adaptation;
pub mod cautious;
pub mod choose;
pub mod combine;
pub mod consistency;
pub mod curve;
pub mod false_alarms;
pub mod gate;
pub mod healthy;
pub mod judgement;
pub mod keep;
mod lbfgs;
pub mod leave_one_out;
pub(crate) mod mapped;
pub mod maps;
pub mod nothing;
pub mod plan;
pub mod plausible;
pub mod propagate;
pub(crate) mod reasons;
pub mod reference;
pub mod settings;
pub mod simplex;
pub mod softmax;
pub mod states;
pub mod target;
pub mod transfer;
pub mod verdict;

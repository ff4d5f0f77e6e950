//! Features to a label: mixture, gate, direction, posterior.

mod classifier;
pub mod kernel;
mod label;
mod mixture;

pub use classifier::{
    AnyClassified, Classified, Classifier, Component, EarlyDrop, Gate, classify, take_direction,
};
pub use label::{Label, map_class, posterior};
pub use mixture::{Mixture, margin, reorder, responsibilities};

//! From a transport plan to a classifier for the target machine.

pub mod maps;
pub mod propagate;
pub mod softmax;

//! From a source and a target's recordings to a classifier for the target machine.

pub mod maps;
pub mod propagate;
pub mod softmax;
pub mod verdict;

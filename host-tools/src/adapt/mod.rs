//! From a source and a target's recordings to a classifier for the target machine.

pub mod propagate;
pub mod verdict;

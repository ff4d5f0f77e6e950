//! From a transport plan to a classifier for the target machine.

pub mod propagate;

//! Expectation maximisation: samples to a mixture, with or without labels.

pub(super) mod check;
pub(super) mod conditional;
pub(super) mod em;
mod maximisation;
mod start;

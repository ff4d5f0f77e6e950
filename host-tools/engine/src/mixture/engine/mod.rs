//! The sums over rows and components that take most of the time of fitting and evaluating a
//! mixture.

mod diagonal;
pub(super) mod expectation;
pub(super) mod kernel;
pub(super) mod lanes;
pub(super) mod linear;
pub(super) mod moments;
pub(super) mod near;
mod portion;
mod reach;
pub(super) mod share;
mod squares;
pub(super) mod tiles;

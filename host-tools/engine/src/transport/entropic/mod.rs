//! Entropic plans: dense and smooth, by scaling rows and columns in turn.

mod newton;
mod overrelaxation;
pub mod relaxed;
mod scaling;
pub mod sinkhorn;

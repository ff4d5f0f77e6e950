//! Entropic plans: dense and smooth. Rows and columns are scaled in turn.

mod newton;
mod overrelaxation;
pub mod relaxed;
mod scaling;
pub mod sinkhorn;

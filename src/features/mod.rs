//! Spectrum to the feature vector: bands in Hz, and blocks of shaft orders.

pub mod bands;
pub mod blocks;

pub use blocks::{add_segment, add_tapered, log_blocks};

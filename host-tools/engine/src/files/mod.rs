//! Files that are not recordings: output files (complete or absent), `.npy` matrices, CSV rows.

pub(crate) mod csv_place;
mod hex;
pub mod npy;
pub mod output;

pub use hex::hex;

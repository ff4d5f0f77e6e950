//! Files: input files (regular ones, up to a limit), output files (complete or absent), keys,
//! matrices and labels in `.npy`, CSV and Parquet files.

pub(crate) mod cell;
pub(crate) mod content;
pub(crate) mod csv_place;
#[cfg(feature = "parquet")]
mod guard;
mod hex;
pub mod input;
pub mod matrix;
pub mod npy;
pub(crate) mod npy_header;
pub mod output;
#[cfg(feature = "parquet")]
pub(crate) mod parquet;
pub mod private;
mod shown;
mod temporary;

pub use hex::{hex, hex_bytes};
pub(crate) use shown::shown;
pub use temporary::{TemporaryError, temporary_folder};

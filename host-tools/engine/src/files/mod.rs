//! Files: input files (regular ones, up to a limit), output files (complete or absent), keys, `.npy`
//! matrices, CSV rows.

pub(crate) mod csv_place;
mod hex;
pub mod input;
pub mod matrix;
pub mod npy;
pub(crate) mod npy_header;
pub mod output;
pub mod private;
mod shown;
mod temporary;

pub use hex::{hex, hex_bytes};
pub(crate) use shown::shown;
pub use temporary::{TemporaryError, temporary_folder};

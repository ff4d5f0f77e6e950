//! Files that are not recordings: output files (complete or absent), keys, `.npy` matrices, CSV
//! rows.

pub(crate) mod csv_place;
mod hex;
pub mod npy;
pub mod output;
pub mod private;
mod shown;
mod temporary;

pub use hex::{hex, hex_bytes};
pub(crate) use shown::shown;
pub use temporary::{TemporaryError, temporary_folder};

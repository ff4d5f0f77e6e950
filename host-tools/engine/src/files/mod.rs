//! Files that are not recordings: output files (complete or absent), `.npy` matrices, CSV rows.

pub(crate) mod csv_place;
mod hex;
pub mod npy;
pub mod output;
mod shown;
mod temporary;

pub use hex::hex;
pub(crate) use shown::shown;
pub use temporary::{TemporaryError, temporary_folder};

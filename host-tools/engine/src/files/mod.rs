//! Files that are not recordings: output that is whole or not there, `.npy` matrices, rows of CSV.

pub(crate) mod csv_place;
mod hex;
pub mod npy;
pub mod output;
mod shown;
mod temporary;

pub use hex::hex;
pub(crate) use shown::shown;
pub use temporary::{TemporaryError, temporary_folder};

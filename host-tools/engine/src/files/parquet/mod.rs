//! Parquet files: their columns, the numbers and texts in them, and tables written as such files.
//!
//! The crate panics on some damaged files, so every call into it is guarded. It also allocates what
//! a page announces, so the pages are looked at first.

mod column;
mod directory;
mod pages;
mod rows;
mod texts;
mod write;

use std::io;

use ::parquet::errors::ParquetError;

pub(crate) use self::column::{Column, Kind};
pub(crate) use self::directory::open;
pub(crate) use self::rows::{CHUNK_ROWS, Rows};
pub(crate) use self::texts::{integers, texts};
pub(crate) use self::write::{Values, write};

/// Why a file could not be read. The caller adds the path.
#[derive(Debug)]
pub(crate) enum Problem {
    /// The operating system refused.
    Io(io::Error),
    /// The content is wrong: the problem, its place and its remedy.
    Content(String),
}

impl Problem {
    /// The problem for an error of the crate.
    fn of(error: &ParquetError, place: impl std::fmt::Display) -> Self {
        Self::Content(format!(
            "not a readable Parquet file {place} ({error}); copy it again, or write it with \
             pandas: to_parquet(file, compression=\"snappy\")"
        ))
    }

    /// The problem for a panic of the crate.
    fn damaged(place: impl std::fmt::Display) -> Self {
        Self::of(&ParquetError::General("damaged".into()), place)
    }
}

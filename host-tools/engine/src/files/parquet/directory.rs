//! The directory of a Parquet file: its columns, its rows, and how they are compressed.

use std::fs::File;
use std::path::Path;

use ::parquet::basic::Compression;
use ::parquet::file::metadata::RowGroupMetaData;
use ::parquet::file::reader::{FileReader, SerializedFileReader};

use super::{Column, Problem};
use crate::files::guard::guarded;
use crate::files::input;

/// The place of a problem that is found before any row.
const IN_DIRECTORY: &str = "in its directory, at its end";

/// The columns and rows of a file.
#[derive(Debug)]
pub(crate) struct Directory {
    /// All columns but the row numbers of pandas.
    pub(crate) columns: Vec<Column>,
    /// Number of rows in all row groups.
    pub(crate) rows: usize,
    /// Length of the file in bytes.
    pub(crate) bytes: u64,
}

/// Opens a file and reads its directory.
pub(crate) fn open(path: &Path) -> Result<Directory, Problem> {
    let (reader, bytes) = reader(path)?;
    let metadata = reader.metadata();
    let all = metadata.file_metadata().schema_descr().columns().iter().enumerate();
    let columns = all.filter_map(|(index, column)| Column::new(index, column)).collect();
    let rows = metadata.row_groups().iter().map(RowGroupMetaData::num_rows);
    let rows = rows.map(|rows| usize::try_from(rows).unwrap_or(0));
    let rows = rows.fold(0, usize::saturating_add);
    Ok(Directory { columns, rows, bytes })
}

/// The crate's reader, and the length of the file in bytes. Refuses a codec that this build does
/// not have.
pub(super) fn reader(path: &Path) -> Result<(SerializedFileReader<File>, u64), Problem> {
    let file = input::open(path).map_err(Problem::Io)?;
    let bytes = file.metadata().map_err(Problem::Io)?.len();
    let open = || {
        let reader =
            SerializedFileReader::new(file).map_err(|error| Problem::of(&error, IN_DIRECTORY))?;
        let groups = reader.metadata().row_groups().iter();
        groups.flat_map(RowGroupMetaData::columns).try_for_each(|c| check(c.compression()))?;
        Ok((reader, bytes))
    };
    guarded(open).unwrap_or_else(|| Err(Problem::damaged(IN_DIRECTORY)))
}

/// Refuses a codec that this build does not have.
fn check(codec: Compression) -> Result<(), Problem> {
    let (name, remedy) = match codec {
        Compression::ZSTD(_) if cfg!(not(feature = "zstd")) => {
            ("zstd", "build the tool with the feature `zstd`, or ")
        }
        Compression::BROTLI(_) => ("brotli", ""),
        Compression::LZO => ("lzo", ""),
        _ => return Ok(()),
    };
    Err(Problem::Content(format!(
        "compressed with {name}, which this build does not read; {remedy}write it with snappy, as \
         pandas does: to_parquet(file, compression=\"snappy\")"
    )))
}

//! A table of numbers, with columns about each row beside them, in all three formats.

use std::io;
use std::ops::Range;
use std::path::{Path, PathBuf};

use ndarray::{ArrayView2, s};

use super::{BESIDE, Format, MatrixError};
use crate::files::cell;
use crate::files::npy_header::header;
use crate::files::output::{self, Out};

/// A column about each row.
#[derive(Debug, Clone)]
pub enum Beside<'a> {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Numbers.
    Numbers(Vec<f64>),
    /// Texts; a row may have none.
    Texts(Vec<Option<&'a str>>),
}

impl Beside<'_> {
    fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            Self::Numbers(values) => values.len(),
            Self::Texts(values) => values.len(),
        }
    }
}

/// Some rows of numbers.
#[derive(Debug, Clone, Copy)]
pub enum Block<'a> {
    /// Single precision.
    F32(ArrayView2<'a, f32>),
    /// Double precision.
    F64(ArrayView2<'a, f64>),
}

impl Block<'_> {
    fn dim(&self) -> (usize, usize) {
        match self {
            Self::F32(x) => x.dim(),
            Self::F64(x) => x.dim(),
        }
    }
}

/// A table: blocks of rows one below the other, and columns about each row beside them.
#[derive(Debug, Clone)]
pub struct Table<'a> {
    /// Name and values of the columns about each row.
    pub beside: Vec<(&'a str, Beside<'a>)>,
    /// Names of the columns of numbers.
    pub columns: &'a [String],
    /// The numbers.
    pub blocks: Vec<Block<'a>>,
}

impl Table<'_> {
    /// Number of rows.
    pub fn rows(&self) -> usize {
        match self.beside.first() {
            Some((_, values)) => values.len(),
            None => self.blocks.iter().map(|block| block.dim().0).sum(),
        }
    }

    fn single(&self) -> bool {
        self.blocks.iter().all(|block| matches!(block, Block::F32(_)))
    }

    /// Refuses a table whose parts do not go together, and names that would not be read back.
    fn check(&self) -> Result<(), String> {
        let rows = self.rows();
        let wide = |block: &Block<'_>| block.dim().1 == self.columns.len();
        let below: usize = self.blocks.iter().map(|block| block.dim().0).sum();
        if self.beside.iter().any(|(_, values)| values.len() != rows)
            || !self.blocks.iter().all(wide)
            || (below != rows && !self.columns.is_empty())
        {
            return Err(format!(
                "its parts have different sizes: {} names of columns, {below} rows of numbers, \
                 {rows} rows",
                self.columns.len()
            ));
        }
        let mut names: Vec<&str> = self.columns.iter().map(String::as_str).collect();
        names.sort_unstable();
        let twice = names.windows(2).find(|pair| pair[0] == pair[1]).map(|pair| pair[0]);
        let taken = |name: &&str| BESIDE.contains(name) || name.is_empty();
        match twice.or_else(|| names.into_iter().find(taken)) {
            Some(name) => Err(format!(
                "a column of numbers cannot be called {name:?}; give each a name of its own, other \
                 than {}",
                BESIDE.join(", ")
            )),
            None => Ok(()),
        }
    }
}

/// The file beside a `.npy` file that holds the columns about each row: `X.rows.csv` for `X.npy`.
pub fn rows_file(path: &Path) -> Option<PathBuf> {
    (super::extension(path) == "npy").then(|| path.with_extension("rows.csv"))
}

/// Writes a table, whole or not at all. `.npy` holds the numbers alone; the other columns go to
/// [`rows_file`].
pub fn write_table(path: &Path, table: &Table<'_>) -> Result<(), MatrixError> {
    let format = Format::of_output(path)?;
    table.check().map_err(|problem| MatrixError::content(path, problem))?;
    let written = match (format, rows_file(path)) {
        (Format::Npy, Some(rows)) if !table.beside.is_empty() => {
            let beside = Table { beside: table.beside.clone(), columns: &[], blocks: Vec::new() };
            output::write_all_with(&[
                (path, &|out| write_npy(out, table)),
                (&rows, &|out| write_csv(out, &beside)),
            ])
        }
        (Format::Npy, _) => output::write_with(path, &|out| write_npy(out, table)),
        (Format::Csv, _) => output::write_with(path, &|out| write_csv(out, table)),
        (Format::Parquet, _) => output::write_with(path, &|out| write_parquet(out, table)),
    };
    Ok(written?)
}

fn write_npy(out: &mut Out<'_>, table: &Table<'_>) -> io::Result<()> {
    let single = table.single();
    let shape = [table.rows(), table.columns.len()];
    out.write_all(&header(if single { "<f4" } else { "<f8" }, &shape))?;
    for block in &table.blocks {
        match block {
            Block::F32(x) if single => {
                x.iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?;
            }
            Block::F32(x) => {
                x.iter().try_for_each(|n| out.write_all(&f64::from(*n).to_le_bytes()))?;
            }
            Block::F64(x) => x.iter().try_for_each(|n| out.write_all(&n.to_le_bytes()))?,
        }
    }
    Ok(())
}

/// Every number has the fewest digits that give it back in double precision, so that all formats
/// hold the same numbers.
fn write_csv(out: &mut Out<'_>, table: &Table<'_>) -> io::Result<()> {
    let mut csv = ::csv::Writer::from_writer(out);
    let names = table.beside.iter().map(|(name, _)| *name);
    csv.write_record(names.chain(table.columns.iter().map(String::as_str)))?;
    let mut numbers =
        table.blocks.iter().flat_map(|block| (0..block.dim().0).map(move |row| (block, row)));
    for row in 0..table.rows() {
        for (_, values) in &table.beside {
            match values {
                Beside::Integers(values) => csv.write_field(values[row].to_string())?,
                Beside::Numbers(values) => csv.write_field(format!("{:?}", values[row]))?,
                Beside::Texts(values) => {
                    csv.write_field(values[row].map(cell::written).unwrap_or_default())?;
                }
            }
        }
        match numbers.next() {
            Some((Block::F32(x), row)) => {
                let numbers = x.row(row);
                numbers.iter().try_for_each(|n| csv.write_field(format!("{:?}", f64::from(*n))))?;
            }
            Some((Block::F64(x), row)) => {
                x.row(row).iter().try_for_each(|n| csv.write_field(format!("{n:?}")))?;
            }
            None => (),
        }
        csv.write_record(None::<&[u8]>)?;
    }
    csv.flush()
}

#[cfg(feature = "parquet")]
fn write_parquet(out: &mut Out<'_>, table: &Table<'_>) -> io::Result<()> {
    use crate::files::parquet::{Values, write};
    let names: Vec<&str> = table.beside.iter().map(|(name, _)| *name).collect();
    let names = [names, table.columns.iter().map(String::as_str).collect()].concat();
    write(out, &names, table.rows(), &|column, rows| match table
        .beside
        .get(column)
        .map(|(_, values)| values)
    {
        Some(Beside::Integers(values)) => Values::Integers(&values[rows]),
        Some(Beside::Numbers(values)) => Values::Double(values[rows].to_vec()),
        Some(Beside::Texts(values)) => Values::Texts(&values[rows]),
        None => {
            let column = column - table.beside.len();
            if table.single() {
                Values::Single(gathered(table, column, rows, |number| number as f32))
            } else {
                Values::Double(gathered(table, column, rows, |number| number))
            }
        }
    })
}

#[cfg(not(feature = "parquet"))]
fn write_parquet(_out: &mut Out<'_>, _table: &Table<'_>) -> io::Result<()> {
    Err(io::Error::other(super::NO_PARQUET))
}

/// The numbers of a column in these rows.
#[cfg_attr(not(feature = "parquet"), allow(dead_code))]
fn gathered<T>(
    table: &Table<'_>,
    column: usize,
    rows: Range<usize>,
    number: impl Fn(f64) -> T,
) -> Vec<T> {
    let mut values = Vec::with_capacity(rows.len());
    let mut first = 0;
    for block in &table.blocks {
        let last = first + block.dim().0;
        let own = rows.start.max(first)..rows.end.min(last).max(rows.start.max(first));
        let within = s![own.start - first..own.end - first, column];
        if !own.is_empty() {
            match block {
                Block::F32(x) => {
                    values.extend(x.slice(within).iter().map(|n| number(f64::from(*n))));
                }
                Block::F64(x) => values.extend(x.slice(within).iter().map(|n| number(*n))),
            }
        }
        first = last;
    }
    values
}

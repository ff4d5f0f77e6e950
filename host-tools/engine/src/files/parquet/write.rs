//! Tables written as Parquet files: with zstd if the build has it, else with snappy.

use std::io::{self, Write};
use std::sync::Arc;

use ::parquet::basic::{Compression, LogicalType, Repetition, Type as Physical, ZstdLevel};
use ::parquet::data_type::{ByteArray, ByteArrayType, DoubleType, FloatType, Int64Type};
use ::parquet::errors::ParquetError;
use ::parquet::file::properties::WriterProperties;
use ::parquet::file::writer::{SerializedColumnWriter, SerializedFileWriter};
use ::parquet::schema::types::{ColumnPath, Type, TypePtr};

/// Most values in a row group, which is in memory while it is written.
const GROUP_VALUES: usize = 1 << 22;
/// Most rows in a row group.
const GROUP_ROWS: usize = 1 << 16;

/// The values of one column in some rows.
#[derive(Debug, Clone)]
pub(crate) enum Values<'a> {
    /// `float`.
    Single(Vec<f32>),
    /// `double`.
    Double(Vec<f64>),
    /// 64-bit integers.
    Integers(&'a [i64]),
    /// Text; `None` becomes null.
    Texts(&'a [Option<&'a str>]),
}

/// Writes a table of `rows` rows. `values` gives the values of a column in a range of rows; the
/// kind of a column is always the same.
pub(crate) fn write<'a>(
    out: &mut (dyn Write + Send),
    names: &[&str],
    rows: usize,
    values: &dyn Fn(usize, std::ops::Range<usize>) -> Values<'a>,
) -> io::Result<()> {
    let failed = |error: ParquetError| io::Error::other(error);
    let fields = names.iter().enumerate().map(|(column, name)| field(name, &values(column, 0..0)));
    let fields = fields.collect::<Result<_, _>>().map_err(failed)?;
    let schema = Type::group_type_builder("schema").with_fields(fields).build().map_err(failed)?;
    // Texts repeat, so a dictionary makes them small. Measured numbers do not repeat.
    let mut properties =
        WriterProperties::builder().set_compression(compression()).set_dictionary_enabled(false);
    for (column, name) in names.iter().enumerate() {
        if matches!(values(column, 0..0), Values::Texts(_)) {
            let path = ColumnPath::new(vec![(*name).to_owned()]);
            properties = properties.set_column_dictionary_enabled(path, true);
        }
    }
    let properties = Arc::new(properties.build());
    let mut file = SerializedFileWriter::new(out, Arc::new(schema), properties).map_err(failed)?;
    let step = (GROUP_VALUES / names.len().max(1)).clamp(1, GROUP_ROWS);
    let mut start = 0;
    while start < rows {
        let end = rows.min(start + step);
        let mut group = file.next_row_group().map_err(failed)?;
        let mut column = 0;
        while let Some(mut writer) = group.next_column().map_err(failed)? {
            write_column(&mut writer, &values(column, start..end)).map_err(failed)?;
            writer.close().map_err(failed)?;
            column += 1;
        }
        group.close().map_err(failed)?;
        start = end;
    }
    file.close().map(drop).map_err(failed)
}

fn compression() -> Compression {
    if cfg!(feature = "zstd") {
        Compression::ZSTD(ZstdLevel::default())
    } else {
        Compression::SNAPPY
    }
}

fn field(name: &str, values: &Values<'_>) -> Result<TypePtr, ParquetError> {
    let (physical, logical, repetition) = match values {
        Values::Single(_) => (Physical::FLOAT, None, Repetition::REQUIRED),
        Values::Double(_) => (Physical::DOUBLE, None, Repetition::REQUIRED),
        Values::Integers(_) => (Physical::INT64, None, Repetition::REQUIRED),
        Values::Texts(_) => (Physical::BYTE_ARRAY, Some(LogicalType::String), Repetition::OPTIONAL),
    };
    let field = Type::primitive_type_builder(name, physical);
    field.with_logical_type(logical).with_repetition(repetition).build().map(Arc::new)
}

fn write_column(
    writer: &mut SerializedColumnWriter<'_>,
    values: &Values<'_>,
) -> Result<(), ParquetError> {
    match values {
        Values::Single(values) => writer.typed::<FloatType>().write_batch(values, None, None)?,
        Values::Double(values) => writer.typed::<DoubleType>().write_batch(values, None, None)?,
        Values::Integers(values) => writer.typed::<Int64Type>().write_batch(values, None, None)?,
        Values::Texts(texts) => {
            let levels: Vec<i16> = texts.iter().map(|text| i16::from(text.is_some())).collect();
            let present: Vec<ByteArray> = texts.iter().flatten().map(|&text| text.into()).collect();
            writer.typed::<ByteArrayType>().write_batch(&present, Some(&levels), None)?
        }
    };
    Ok(())
}

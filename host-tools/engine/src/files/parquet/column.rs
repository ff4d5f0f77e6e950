//! One column of a Parquet file.

use ::parquet::basic::{ConvertedType, LogicalType, Type};
use ::parquet::schema::types::ColumnDescriptor;

/// The values of a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Signed integers.
    Signed,
    /// Unsigned integers.
    Unsigned,
    /// `float`.
    Single,
    /// `double`.
    Double,
    /// `true` and `false`.
    Boolean,
    /// Text.
    Text,
    /// Anything else: dates, decimals, lists.
    Other,
}

impl Kind {
    /// Returns true for integers and floats.
    pub(crate) fn is_number(self) -> bool {
        matches!(self, Self::Signed | Self::Unsigned | Self::Single | Self::Double)
    }
}

/// A column of a file.
#[derive(Debug, Clone)]
pub(crate) struct Column {
    /// Its name, dotted inside structures.
    pub(crate) name: String,
    /// Index among all columns.
    pub(crate) index: usize,
    /// Its values.
    pub(crate) kind: Kind,
    /// The definition level of a value that is present.
    pub(super) present: i16,
}

impl Column {
    /// Returns the column; `None` for row numbers that pandas stores.
    pub(super) fn new(index: usize, column: &ColumnDescriptor) -> Option<Self> {
        let name = column.path().string();
        let of_pandas = name.starts_with("__index_level_");
        (!of_pandas).then(|| Self {
            name,
            index,
            kind: kind(column),
            present: column.max_def_level(),
        })
    }
}

fn kind(column: &ColumnDescriptor) -> Kind {
    let logical = column.logical_type_ref();
    let plain = logical.is_none_or(|kind| matches!(kind, LogicalType::Integer(_)));
    let unsigned = matches!(
        column.converted_type(),
        ConvertedType::UINT_8
            | ConvertedType::UINT_16
            | ConvertedType::UINT_32
            | ConvertedType::UINT_64
    );
    if column.max_rep_level() > 0 {
        return Kind::Other;
    }
    match column.physical_type() {
        Type::INT32 | Type::INT64 if plain && unsigned => Kind::Unsigned,
        Type::INT32 | Type::INT64 if plain => Kind::Signed,
        Type::FLOAT if plain => Kind::Single,
        Type::DOUBLE if plain => Kind::Double,
        Type::BOOLEAN => Kind::Boolean,
        Type::BYTE_ARRAY
            if matches!(logical, Some(LogicalType::String | LogicalType::Enum))
                || matches!(column.converted_type(), ConvertedType::UTF8 | ConvertedType::ENUM) =>
        {
            Kind::Text
        }
        _ => Kind::Other,
    }
}

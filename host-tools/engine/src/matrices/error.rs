//! Why matrices cannot be used, with the place.

use std::fmt;

use thiserror::Error;

use crate::adapt::maps::MapError;
use crate::adapt::transfer::TransferError;
use crate::baselines::{BaselineError, Method};
use crate::mixture::{InvalidMixture, MixtureError};
use crate::words::plural;

/// One of the given matrices or lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Which {
    /// Rows of the source.
    Source,
    /// Labels of the source.
    SourceLabels,
    /// Rows of the target.
    Target,
    /// Labels of the target.
    TargetLabels,
    /// Rows of the test.
    Test,
    /// Labels of the test.
    TestLabels,
}

impl fmt::Display for Which {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Source => "source matrix",
            Self::SourceLabels => "source labels",
            Self::Target => "target matrix",
            Self::TargetLabels => "target labels",
            Self::Test => "test matrix",
            Self::TestLabels => "test labels",
        })
    }
}

/// Why matrices cannot be used, or a method failed on them.
#[derive(Debug, Error)]
pub enum MatrixError {
    /// A matrix has too few rows or columns.
    #[error(
        "the {which} has {} and {}; it needs at least two of each",
        plural(*rows, "row", "rows"),
        plural(*columns, "column", "columns")
    )]
    Small {
        /// The matrix.
        which: Which,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A test matrix is empty.
    #[error("the {which} has no row; there is nothing to label")]
    NoRow {
        /// The matrix.
        which: Which,
    },
    /// A matrix does not have the source's columns.
    #[error(
        "the {which} has {}, and the source has {expected}; both need the same features in the same order",
        plural(*columns, "column", "columns")
    )]
    Columns {
        /// The matrix.
        which: Which,
        /// Number of columns.
        columns: usize,
        /// Number of columns of the source.
        expected: usize,
    },
    /// A value is infinite or not a number.
    #[error(
        "the {which} has {value} in row {row}, column {column} (counted from 0); remove the row, or fill in a number"
    )]
    NotFinite {
        /// The matrix.
        which: Which,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The number of labels differs from the number of rows.
    #[error("the {which} are {labels} for {}; there must be one for each row", plural(*rows, "row", "rows"))]
    Length {
        /// The labels.
        which: Which,
        /// Number of labels.
        labels: usize,
        /// Number of rows.
        rows: usize,
    },
    /// All rows of the source have one label.
    #[error("all source rows have the label {label}; a source needs at least two classes")]
    OneClass {
        /// The label.
        label: String,
    },
    /// A class has a single row, which has no spread.
    #[error(
        "class {label} has only one source row, row {row} (counted from 0); bring more rows of it, or leave it out"
    )]
    OneRow {
        /// The label.
        label: String,
        /// Row, counted from 0.
        row: usize,
    },
    /// A label that the source does not have.
    #[error(
        "the {which} have {label} in row {row} (counted from 0), a label that the source never has; it has {known}"
    )]
    Unseen {
        /// The labels.
        which: Which,
        /// The label.
        label: String,
        /// Row, counted from 0.
        row: usize,
        /// The source's labels.
        known: String,
    },
    /// A setting is outside its range, or does not suit the method.
    #[error("`{name}` {value}: {problem}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The given value.
        value: String,
        /// The problem and its remedy.
        problem: &'static str,
    },
    /// The method needs the rows of the source, and only a mixture is there.
    #[error(
        "{method} moves the rows of the source, and a saved mixture has none; give the source's rows, or choose \
         guarded, gmm-otda-map or source-only"
    )]
    NeedsRows {
        /// The method.
        method: &'static str,
    },
    /// A saved mixture has no labels.
    #[error("the saved mixture has no labels, so it is no source; fit it again with `labels`")]
    NoLabels,
    /// All columns of the source are constant.
    #[error("the source matrix has no spread: every column is constant; give features that differ")]
    NoSpread,
    /// A method failed.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// `guarded` failed.
    #[error(transparent)]
    Transfer(#[from] TransferError),
    /// Fitting a mixture failed.
    #[error(transparent)]
    Fit(#[from] MixtureError),
    /// A mixture cannot be evaluated.
    #[error(transparent)]
    Mixture(#[from] InvalidMixture),
    /// Rows could not be mapped.
    #[error(transparent)]
    Map(#[from] MapError),
}

impl MatrixError {
    /// The matrix or list that is wrong, if it is one of them.
    pub fn which(&self) -> Option<Which> {
        match self {
            Self::Small { which, .. }
            | Self::NoRow { which }
            | Self::Columns { which, .. }
            | Self::NotFinite { which, .. }
            | Self::Length { which, .. }
            | Self::Unseen { which, .. } => Some(*which),
            Self::OneClass { .. } | Self::OneRow { .. } => Some(Which::SourceLabels),
            Self::NoSpread => Some(Which::Source),
            _ => None,
        }
    }

    /// Whether the labels are wrong, not the rows.
    pub fn is_about_labels(&self) -> bool {
        use Which::{SourceLabels, TargetLabels, TestLabels};
        matches!(self.which(), Some(SourceLabels | TargetLabels | TestLabels))
    }

    pub(super) fn needs_rows(method: Method) -> Self {
        Self::NeedsRows { method: method.name() }
    }
}

//! Why a method gave no classifier.

use thiserror::Error;

use crate::adapt::maps::MapError;
use crate::adapt::plan::PlanError;
use crate::adapt::propagate::PropagateError;
use crate::adapt::softmax::SoftmaxError;
use crate::mixture::{InvalidMixture, MixtureError};
use crate::transport::TransportError;

/// Why a method gave no classifier.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BaselineError {
    /// A feature matrix is empty or does not have the source's number of columns.
    #[error(
        "the {what} features are {rows} × {columns}; they need at least one row and {dims} columns, as the source has"
    )]
    Shape {
        /// `source`, `pool` or `test`.
        what: &'static str,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Number of columns of the source.
        dims: usize,
    },
    /// A feature is infinite or not a number.
    #[error(
        "{what} feature at row {row}, column {column} is {value}; remove the row or repair the recording it comes from"
    )]
    NotFinite {
        /// `source`, `pool` or `test`.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The number of labels differs from the number of source rows.
    #[error("{labels} labels for {rows} source rows; there must be one for each")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of source rows.
        rows: usize,
    },
    /// A label is not the index of a class.
    #[error(
        "source row {row} has label {label}, but there are {classes} classes (labels count from zero)"
    )]
    Label {
        /// Row, counted from 0.
        row: usize,
        /// The label.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A class has no source row.
    #[error("class {class} has no source row; leave it out or bring recordings of it")]
    AbsentClass {
        /// Class, counted from 0.
        class: usize,
    },
    /// The target pool is too small to be clustered.
    #[error("{samples} pool rows for {clusters} clusters; bring at least one row for each class")]
    TooFew {
        /// Number of rows in the pool.
        samples: usize,
        /// Required number of clusters.
        clusters: usize,
    },
    /// A setting is outside its range.
    #[error("{name} is {value}; it must be {allowed}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The source covariance allows no affine map.
    #[error(
        "the source covariance is singular even when shrunk: two samples, or no spread at all; bring more source samples, or use otda-affine-diag"
    )]
    NoSpread,
    /// Fitting a mixture failed.
    #[error(transparent)]
    Fit(#[from] MixtureError),
    /// Evaluating a mixture failed.
    #[error(transparent)]
    Mixture(#[from] InvalidMixture),
    /// Computing the component costs or the plan failed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Propagating labels failed.
    #[error(transparent)]
    Propagate(#[from] PropagateError),
    /// Mapping samples failed.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Training the classifier failed.
    #[error(transparent)]
    Softmax(#[from] SoftmaxError),
}

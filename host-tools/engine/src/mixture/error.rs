//! Why a mixture could not be fitted or used.

use thiserror::Error;

use crate::words::plural;

/// Why a mixture could not be fitted.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum MixtureError {
    /// No rows or no columns.
    #[error(
        "the feature matrix is {rows} × {columns}; EM needs at least one sample and one feature"
    )]
    Empty {
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
    },
    /// A feature is NaN or infinite.
    #[error(
        "feature at row {row}, column {column} is {value}; remove the row or repair the recording it comes from"
    )]
    NotFinite {
        /// Row of the feature matrix, counted from zero.
        row: usize,
        /// Column of the feature matrix, counted from zero.
        column: usize,
        /// The value.
        value: f64,
    },
    /// There are fewer samples than components.
    #[error(
        "{} asked of {}; ask for at most {samples}, or bring more samples",
        plural(*components, "component was", "components were"),
        plural(*samples, "sample", "samples")
    )]
    TooFewSamples {
        /// Samples with a weight above zero.
        samples: usize,
        /// Requested number of components.
        components: usize,
    },
    /// A list does not have one entry per row.
    #[error("{what}: {found} entries for {expected} rows; there must be one per row")]
    Length {
        /// Name of the list.
        what: &'static str,
        /// Number of rows of the feature matrix.
        expected: usize,
        /// Number of entries in the list.
        found: usize,
    },
    /// A sample weight is negative, NaN or infinite.
    #[error("sample weight of row {row} is {value}; weights must be finite and not negative")]
    SampleWeight {
        /// Row of the feature matrix, counted from zero.
        row: usize,
        /// The value.
        value: f64,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}; it must be {expected}")]
    Setting {
        /// Name of the setting, as in [`EmSettings`](super::EmSettings).
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed values.
        expected: &'static str,
    },
    /// The given start does not fit the data or the settings.
    #[error("the given start has {what} {found}, expected {expected}")]
    StartShape {
        /// The part that does not fit: components, dimensions or covariance.
        what: &'static str,
        /// The given value.
        found: String,
        /// The value that the data or the settings require.
        expected: String,
    },
    /// The given start is not a mixture.
    #[error("the given start cannot be used: {0}")]
    Start(#[from] InvalidMixture),
    /// A covariance matrix lost its positive definiteness.
    #[error(
        "the covariance of component {component} is not positive definite; raise the variance floor, or ask for fewer components or a diagonal covariance"
    )]
    Singular {
        /// The component, counted from zero.
        component: usize,
    },
    /// A sum of squares is too large for the number type.
    #[error(
        "the features are so large or the variance floor so small that their squares overflow; standardise the features or raise the variance floor"
    )]
    Overflow,
    /// A label is not the index of a class.
    #[error(
        "row {row} has label {label}, but there are {classes} classes (labels count from zero)"
    )]
    Label {
        /// Row of the feature matrix, counted from zero.
        row: usize,
        /// The label.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A class has no samples.
    #[error(
        "class '{class}' has no samples; leave it out of the list of classes or bring recordings of it"
    )]
    AbsentClass {
        /// Name of the class.
        class: String,
    },
    /// Fitting one class failed.
    #[error("class '{class}': {source}")]
    Class {
        /// Name of the class.
        class: String,
        /// The reason.
        source: Box<MixtureError>,
    },
}

/// Why a [`Mixture`](super::Mixture) is not valid, or does not fit the data.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InvalidMixture {
    /// The mixture has no components or no dimensions.
    #[error(
        "the mixture has {components} components over {dimensions} dimensions; both must be at least one"
    )]
    Empty {
        /// Number of components.
        components: usize,
        /// Number of dimensions.
        dimensions: usize,
    },
    /// Weights, means and covariances disagree about K or d.
    #[error("{what} has shape {found}, but the means are {components} × {dimensions}")]
    Shape {
        /// The part that does not fit.
        what: &'static str,
        /// Its shape.
        found: String,
        /// Number of rows of the means.
        components: usize,
        /// Number of columns of the means.
        dimensions: usize,
    },
    /// A weight is negative or not finite.
    #[error("weight of component {component} is {value}; weights must be finite and not negative")]
    Weight {
        /// The component, counted from zero.
        component: usize,
        /// The value.
        value: f64,
    },
    /// The weights do not sum to one.
    #[error("the weights sum to {sum}; they must sum to one")]
    WeightSum {
        /// Their sum.
        sum: f64,
    },
    /// A mean is NaN or infinite.
    #[error("mean of component {component}, dimension {dimension} is {value}")]
    Mean {
        /// The component, counted from zero.
        component: usize,
        /// The dimension, counted from zero.
        dimension: usize,
        /// The value.
        value: f64,
    },
    /// A variance is zero, negative or not finite.
    #[error("variance {value} of component {component}; variances must be finite and above zero")]
    Variance {
        /// The component, counted from zero.
        component: usize,
        /// The value.
        value: f64,
    },
    /// A covariance matrix is not symmetric and positive definite.
    #[error(
        "the covariance matrix of component {component} is not symmetric and positive definite"
    )]
    NotPositiveDefinite {
        /// The component, counted from zero.
        component: usize,
    },
    /// The data do not have the dimensions of the mixture.
    #[error(
        "the data have {}, the mixture has {}",
        plural(*found, "feature", "features"),
        plural(*expected, "dimension", "dimensions")
    )]
    Dimensions {
        /// Columns of the data.
        found: usize,
        /// Dimensions of the mixture.
        expected: usize,
    },
    /// A feature is NaN or infinite.
    #[error("feature at row {row}, column {column} is {value}")]
    NotFinite {
        /// Row of the data, counted from zero.
        row: usize,
        /// Column of the data, counted from zero.
        column: usize,
        /// The value.
        value: f64,
    },
}

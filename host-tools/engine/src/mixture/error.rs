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
        /// Rows found.
        rows: usize,
        /// Columns found.
        columns: usize,
    },
    /// A feature is NaN or infinite.
    #[error(
        "feature at row {row}, column {column} is {value}; remove the row or repair the recording it comes from"
    )]
    NotFinite {
        /// Row of the feature matrix, from zero.
        row: usize,
        /// Column of the feature matrix, from zero.
        column: usize,
        /// What was found.
        value: f64,
    },
    /// Fewer samples than components.
    #[error(
        "{} asked of {}; ask for at most {samples}, or bring more samples",
        plural(*components, "component was", "components were"),
        plural(*samples, "sample", "samples")
    )]
    TooFewSamples {
        /// Samples with a weight above zero.
        samples: usize,
        /// Components asked for.
        components: usize,
    },
    /// One list should have one entry per row and has not.
    #[error("{what}: {found} entries for {expected} rows; there must be one per row")]
    Length {
        /// Which list.
        what: &'static str,
        /// Rows of the feature matrix.
        expected: usize,
        /// Entries of the list.
        found: usize,
    },
    /// A sample weight is negative, NaN or infinite.
    #[error("sample weight of row {row} is {value}; weights must be finite and not negative")]
    SampleWeight {
        /// Row of the feature matrix, from zero.
        row: usize,
        /// What was found.
        value: f64,
    },
    /// A setting is out of its range.
    #[error("{name} is {value}; it must be {expected}")]
    Setting {
        /// Name of the setting, as in [`EmSettings`](super::EmSettings).
        name: &'static str,
        /// What was given.
        value: f64,
        /// What is allowed.
        expected: &'static str,
    },
    /// The given start does not fit the data or the settings.
    #[error("the given start has {what} {found}, expected {expected}")]
    StartShape {
        /// What does not fit: components, dimensions or covariance.
        what: &'static str,
        /// What was given.
        found: String,
        /// What the data or the settings ask for.
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
        /// The component, from zero.
        component: usize,
    },
    /// A sum of squares is beyond the range of the numbers.
    #[error(
        "the features are so large or the variance floor so small that their squares overflow; standardise the features or raise the variance floor"
    )]
    Overflow,
    /// A label is not the index of a class.
    #[error(
        "row {row} has label {label}, but there are {classes} classes (labels count from zero)"
    )]
    Label {
        /// Row of the feature matrix, from zero.
        row: usize,
        /// What was found.
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
        /// Why.
        source: Box<MixtureError>,
    },
}

/// Why a [`Mixture`](super::Mixture) is not one, or does not fit the data it is asked about.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum InvalidMixture {
    /// No components or no dimensions.
    #[error(
        "the mixture has {components} components over {dimensions} dimensions; both must be at least one"
    )]
    Empty {
        /// Components found.
        components: usize,
        /// Dimensions found.
        dimensions: usize,
    },
    /// Weights, means and covariances disagree about K or d.
    #[error("{what} has shape {found}, but the means are {components} × {dimensions}")]
    Shape {
        /// Which part.
        what: &'static str,
        /// Its shape.
        found: String,
        /// Rows of the means.
        components: usize,
        /// Columns of the means.
        dimensions: usize,
    },
    /// A weight is negative or not finite.
    #[error("weight of component {component} is {value}; weights must be finite and not negative")]
    Weight {
        /// The component, from zero.
        component: usize,
        /// What was found.
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
        /// The component, from zero.
        component: usize,
        /// The dimension, from zero.
        dimension: usize,
        /// What was found.
        value: f64,
    },
    /// A variance is zero, negative or not finite.
    #[error("variance {value} of component {component}; variances must be finite and above zero")]
    Variance {
        /// The component, from zero.
        component: usize,
        /// What was found.
        value: f64,
    },
    /// A covariance matrix is not symmetric and positive definite.
    #[error(
        "the covariance matrix of component {component} is not symmetric and positive definite"
    )]
    NotPositiveDefinite {
        /// The component, from zero.
        component: usize,
    },
    /// The data have other dimensions than the mixture.
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
        /// Row of the data, from zero.
        row: usize,
        /// Column of the data, from zero.
        column: usize,
        /// What was found.
        value: f64,
    },
}

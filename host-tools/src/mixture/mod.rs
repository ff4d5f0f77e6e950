//! Gaussian mixtures in full precision: what EM fits and transport moves.
#![allow(
    clippy::needless_pass_by_value,
    reason = "array views are pointers; they go by value, as in ndarray itself"
)]

mod conditional;
mod density;
mod em;
mod error;
mod expectation;
mod linear;
mod maximisation;
mod sample;
mod start;

pub use conditional::{ClassFit, ComponentCount, ConditionalFit, fit_conditional};
pub use em::{EmSettings, Fit, Progress, Start, fit};
pub use error::{InvalidMixture, MixtureError};
pub use sample::Sample;

use ndarray::{Array1, Array2, Array3};
use serde::{Deserialize, Serialize};

/// A Gaussian mixture of K components over d dimensions.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Mixture {
    /// Component weights, length K, summing to one.
    pub weights: Array1<f64>,
    /// Component means, K × d.
    pub means: Array2<f64>,
    /// Component covariances.
    pub covariance: Covariance,
}

/// The covariances of a mixture's components.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Covariance {
    /// Variances, K × d.
    Diagonal(Array2<f64>),
    /// One variance per component, length K.
    Spherical(Array1<f64>),
    /// One d × d matrix for all components.
    Tied(Array2<f64>),
    /// A d × d matrix per component, K × d × d.
    Full(Array3<f64>),
}

/// Shape of a mixture's covariances.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum CovarianceKind {
    /// A variance per component and dimension.
    Diagonal,
    /// A variance per component.
    Spherical,
    /// One matrix for all components.
    Tied,
    /// A matrix per component.
    Full,
}

/// A mixture whose components carry class labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledMixture {
    /// The mixture.
    pub mixture: Mixture,
    /// Label table ν, K × C: row k is the class distribution of component k.
    pub labels: Array2<f64>,
}

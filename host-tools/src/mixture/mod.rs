//! Gaussian mixtures in full precision: what EM fits and transport moves.

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

/// A mixture whose components carry class labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledMixture {
    /// The mixture.
    pub mixture: Mixture,
    /// Label table ν, K × C: row k is the class distribution of component k.
    pub labels: Array2<f64>,
}

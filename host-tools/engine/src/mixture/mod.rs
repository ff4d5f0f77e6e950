//! Gaussian mixtures in full precision. EM fits them, and transport moves them.
//!
//! ```text
//! features ─► start ─► expectation ⇄ maximisation ─► Fit            fit: no labels
//!                        └─ moments ─┘
//! features + labels ─► the same for each class ─► ConditionalFit    fit_conditional
//! ```
//!
//! A mixture without labels, for a new machine:
//!
//! ```
//! use ndarray::array;
//! use rebearing_host::mixture::{EmSettings, fit};
//!
//! let x = array![[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [5.0, 5.1], [5.2, 4.9], [5.1, 5.0]];
//! let fit = fit(x.view(), None, &EmSettings::new(2), &|_| {})?;
//! assert!(fit.converged);
//! assert!((fit.mixture.weights[0] - 0.5).abs() < 1e-6);
//! let responsibilities = fit.mixture.responsibilities(array![[0.0, 0.0]].view())?;
//! assert!(responsibilities.iter().any(|r| *r > 0.999));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! A mixture whose components carry labels, for a known machine:
//!
//! ```
//! use ndarray::array;
//! use rebearing_host::mixture::{ComponentCount, EmSettings, fit_conditional};
//!
//! let x = array![[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [5.0, 5.1], [5.2, 4.9], [5.1, 5.0]];
//! let labels = [0, 0, 0, 1, 1, 1];
//! let classes = ["healthy".into(), "inner race".into()];
//! let one_each = ComponentCount::PerClass(1);
//! let fit = fit_conditional(
//!     x.view(), &labels, &classes, None, &one_each, &EmSettings::new(1), &|_| {},
//! )?;
//! assert_eq!(fit.mixture.labels, array![[1.0, 0.0], [0.0, 1.0]]);
//! # Ok::<(), rebearing_host::mixture::MixtureError>(())
//! ```
//!
//! We have our own code because no crate has the diagonal case. Its results, also from a given
//! start, agree with scikit-learn's `GaussianMixture` to 1e-9.
#![allow(
    clippy::needless_pass_by_value,
    reason = "array views are pointers; they go by value, as in ndarray itself"
)]

mod density;
mod engine;
mod error;
mod fit;
pub mod held_out;
mod sample;

pub(crate) use engine::tiles::squared_distances;
pub use fit::conditional::{ClassFit, ComponentCount, ConditionalFit, fit_conditional};

pub use error::{InvalidMixture, MixtureError};
pub use fit::em::{EmSettings, Fit, Progress, Start, fit};
pub use sample::Sample;

use ndarray::{Array1, Array2, Array3, ArrayView1};
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

impl CovarianceKind {
    /// All kinds.
    pub const ALL: [Self; 4] = [Self::Diagonal, Self::Full, Self::Spherical, Self::Tied];

    /// scikit-learn's name: `diag`, `full`, `spherical` or `tied`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Diagonal => "diag",
            Self::Full => "full",
            Self::Spherical => "spherical",
            Self::Tied => "tied",
        }
    }
}

/// The index of the largest number of a row. Among equals the lowest index wins, as on the device.
pub fn largest(row: ArrayView1<'_, f64>) -> usize {
    (0..row.len()).fold(0, |best, index| if row[index] > row[best] { index } else { best })
}

/// A mixture whose components carry class labels.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct LabelledMixture {
    /// The mixture.
    pub mixture: Mixture,
    /// Label table ν, K × C: row k is the class distribution of component k.
    pub labels: Array2<f64>,
}

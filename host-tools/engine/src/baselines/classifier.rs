//! The classifier for rows of the target that every method ends in.

use ndarray::{Array2, ArrayView2, Axis};

use super::task::check_rows;
use super::{BaselineError, Nearest};
use crate::adapt::softmax::Softmax;
use crate::mixture::{LabelledMixture, Sample};

/// Rows that are widened to f64 at once.
const BLOCK: usize = 1024;

/// The result of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Fitted {
    /// The classifier for rows of the target.
    pub classifier: Classifier,
    /// The time spent.
    pub seconds: Seconds,
}

/// A classifier for rows of the target.
#[derive(Debug, Clone, PartialEq)]
pub enum Classifier {
    /// `h(x) = Σ_k r_k(x) ν[k]`, with the responsibilities r of a mixture.
    Mixture(LabelledMixture),
    /// A one-layer softmax.
    Softmax(Softmax),
    /// The label of the nearest carried sample.
    Nearest(Nearest),
}

impl Classifier {
    /// Number of features of a row.
    pub fn dimensions(&self) -> usize {
        match self {
            Self::Mixture(labelled) => labelled.mixture.dimensions(),
            Self::Softmax(softmax) => softmax.coefficients.ncols(),
            Self::Nearest(nearest) => nearest.samples.ncols(),
        }
    }

    /// The class posterior of each row, n × C; rows sum to one.
    pub fn posterior<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Array2<f64>, BaselineError> {
        check_rows("test", x, self.dimensions())?;
        match self {
            Self::Mixture(LabelledMixture { mixture, labels }) => {
                Ok(mixture.responsibilities(x)?.dot(labels))
            }
            Self::Softmax(softmax) => {
                Ok(by_blocks(x, softmax.intercepts.len(), |block| softmax.posterior(block)))
            }
            Self::Nearest(nearest) => {
                Ok(by_blocks(x, nearest.classes, |block| nearest.posterior(block)))
            }
        }
    }
}

/// The posterior of rows that are widened to f64 block by block.
fn by_blocks<T: Sample>(
    x: ArrayView2<'_, T>,
    classes: usize,
    posterior: impl Fn(&Array2<f64>) -> Array2<f64>,
) -> Array2<f64> {
    let mut all = Array2::zeros((x.nrows(), classes));
    for (block, out) in
        x.axis_chunks_iter(Axis(0), BLOCK).zip(all.axis_chunks_iter_mut(Axis(0), BLOCK))
    {
        posterior(&block.mapv(Into::into)).assign_to(out);
    }
    all
}

/// Seconds spent in each step of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Time for the source mixture, or for the classifier on the carried samples.
    pub fit_source: f64,
    /// Time for the target mixture or clusters.
    pub fit_target: f64,
    /// Time for cost, plan and map.
    pub transport: f64,
}

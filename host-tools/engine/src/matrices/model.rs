//! A fitted method: labels for rows of the target.

use ndarray::{Array2, ArrayView2, Axis, s};

use super::check::check_rows;
use super::{Guarded, MatrixError, Scaling, Which};
use crate::baselines::{Classifier, Seconds};
use crate::evaluate::EvaluatedMethod;
use crate::mixture::{Sample, largest};

/// Rows that are standardised at once.
const BLOCK: usize = 4096;

/// A fitted method, for rows of the target.
#[derive(Debug, Clone)]
pub struct Model {
    /// The method.
    pub method: EvaluatedMethod,
    /// The classifier, over standardised rows.
    pub classifier: Classifier,
    /// The time spent in fitting.
    pub seconds: Seconds,
    /// The constants by which rows are standardised, if they are.
    pub scaling: Option<Scaling>,
    /// The verdict of `guarded`.
    pub guarded: Option<Guarded>,
}

/// The classes that a model found.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The class of each row. `None` means unknown: `guarded` abstained.
    pub classes: Vec<Option<usize>>,
    /// The class posterior of each row, n × C. It is all zero where the class is unknown.
    pub posterior: Array2<f64>,
}

impl Model {
    /// Whether the model names classes.
    pub fn names_classes(&self) -> bool {
        self.guarded.as_ref().is_none_or(Guarded::names_classes)
    }

    /// Labels rows of the target, in the units in which they were given.
    pub fn label<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Found, MatrixError> {
        check_rows(x, Which::Test, self.classifier.dimensions())?;
        if !self.names_classes() {
            return Ok(self.nothing(x.nrows()));
        }
        Ok(found(self.posterior(x)?))
    }

    /// The class posterior of each row, n × C, whatever the verdict.
    pub fn posterior<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Array2<f64>, MatrixError> {
        let Some(scaling) = &self.scaling else { return Ok(self.classifier.posterior(x)?) };
        let mut posterior = Array2::zeros((x.nrows(), self.classes()));
        for (block, mut out) in
            x.axis_chunks_iter(Axis(0), BLOCK).zip(posterior.axis_chunks_iter_mut(Axis(0), BLOCK))
        {
            let block = scaling.applied(block.into());
            out.slice_mut(s![.., ..]).assign(&self.classifier.posterior(block.view())?);
        }
        Ok(posterior)
    }

    /// Labels rows that are standardised already, such as those of
    /// [`Prepared::target`](super::Prepared::target).
    pub fn label_prepared<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Found, MatrixError> {
        if !self.names_classes() {
            return Ok(self.nothing(x.nrows()));
        }
        Ok(found(self.classifier.posterior(x)?))
    }

    /// The classes that were carried to rows of the target, whether the verdict uses them or not.
    pub fn carried<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Found, MatrixError> {
        check_rows(x, Which::Test, self.classifier.dimensions())?;
        Ok(found(self.posterior(x)?))
    }

    /// The same for rows that are standardised already.
    pub fn carried_prepared<T: Sample>(&self, x: ArrayView2<'_, T>) -> Result<Found, MatrixError> {
        Ok(found(self.classifier.posterior(x)?))
    }

    /// Number of classes.
    fn classes(&self) -> usize {
        match &self.classifier {
            Classifier::Mixture(labelled) => labelled.labels.ncols(),
            Classifier::Softmax(softmax) => softmax.intercepts.len(),
        }
    }

    fn nothing(&self, rows: usize) -> Found {
        Found { classes: vec![None; rows], posterior: Array2::zeros((rows, self.classes())) }
    }
}

fn found(posterior: Array2<f64>) -> Found {
    let classes = posterior.rows().into_iter().map(|row| Some(largest(row))).collect();
    Found { classes, posterior }
}

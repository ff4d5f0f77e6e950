//! Matrices that were checked and scaled, ready for every method.

use std::time::Instant;

use ndarray::{ArrayView2, CowArray, Ix2};

use super::check::{check_columns, check_domain, check_source};
use super::guarded::guarded;
use super::model::Model;
use super::{
    Classes, MatrixError, MatrixSettings, SavedLabels, SavedMixture, Scale, Scaling, Which,
};
use crate::baselines::{self, Classifier, Joined, Method, Seconds, Task};
use crate::evaluate::EvaluatedMethod;
use crate::files::matrix::Labels;
use crate::mixture::{LabelledMixture, Sample};

/// The matrices of a transfer. Owned ones are scaled in place; views are copied if they are scaled.
#[derive(Debug, Clone)]
pub struct Given<'a, T> {
    /// Rows of the source.
    pub source: CowArray<'a, T, Ix2>,
    /// Label of each source row.
    pub labels: &'a Labels,
    /// Rows of the target, which methods adapt to.
    pub target: CowArray<'a, T, Ix2>,
}

/// Matrices that were checked and scaled.
#[derive(Debug, Clone)]
pub struct Prepared<'a, T> {
    pub(super) source: Known<'a, T>,
    pub(super) target: CowArray<'a, T, Ix2>,
    classes: Classes,
    /// The constants by which rows of the target are standardised, if they are.
    scaling: Option<Scaling>,
    /// Mean variance of the source's columns after scaling.
    mean_variance: f64,
}

/// The source, as rows or as a mixture.
#[derive(Debug, Clone)]
pub(super) enum Known<'a, T> {
    /// Its rows, with the class of each.
    Rows { x: CowArray<'a, T, Ix2>, labels: Vec<usize> },
    /// Its mixture alone.
    Mixture(LabelledMixture),
}

impl<'a, T: Sample> Prepared<'a, T> {
    /// Checks the matrices and standardises them.
    pub fn new(given: Given<'a, T>, scale: Scale) -> Result<Self, MatrixError> {
        let Given { source, labels, target } = given;
        let (classes, rows) = check_source(source.view(), labels)?;
        let (source, target) = (in_rows(source), in_rows(target));
        check_columns(target.view(), Which::Target, source.ncols())?;
        check_domain(target.view(), Which::Target)?;
        let measured = Scaling::measure(source.view());
        if measured.mean_variance() <= 0.0 {
            return Err(MatrixError::NoSpread);
        }
        let scaling = scaling_of_target(&measured, target.view(), scale);
        let (x, measured) = match scale {
            Scale::None => (source, measured),
            Scale::Source | Scale::Each => {
                (measured.applied(source).into(), measured.standardised())
            }
        };
        let target = match &scaling {
            Some(scaling) => scaling.applied(target).into(),
            None => target,
        };
        let mean_variance = measured.mean_variance();
        let source = Known::Rows { x, labels: rows };
        Ok(Self { source, target, classes, scaling, mean_variance })
    }

    /// Takes a saved mixture for the source, and checks and standardises the target's rows.
    ///
    /// Methods that move the source's rows are refused later.
    pub fn from_mixture(
        source: SavedMixture,
        target: CowArray<'a, T, Ix2>,
        scale: Scale,
    ) -> Result<Self, MatrixError> {
        let SavedMixture { mixture, labels } = source;
        let Some(SavedLabels { classes, table, columns }) = labels else {
            return Err(MatrixError::NoLabels);
        };
        let target = in_rows(target);
        check_columns(target.view(), Which::Target, mixture.dimensions())?;
        check_domain(target.view(), Which::Target)?;
        let mixture = LabelledMixture { mixture, labels: table };
        let scaling = scaling_of_target(&columns, target.view(), scale);
        let (mixture, columns) = match scale {
            Scale::None => (mixture, columns),
            Scale::Source | Scale::Each => (columns.of_mixture(&mixture), columns.standardised()),
        };
        let target = match &scaling {
            Some(scaling) => scaling.applied(target).into(),
            None => target,
        };
        let mean_variance = columns.mean_variance();
        Ok(Self { source: Known::Mixture(mixture), target, classes, scaling, mean_variance })
    }

    /// The classes of the source.
    pub fn classes(&self) -> &Classes {
        &self.classes
    }

    /// The target's rows as the methods see them: standardised, if they are.
    pub fn target(&self) -> ArrayView2<'_, T> {
        self.target.view()
    }

    /// The constants by which rows of the target are standardised, if they are.
    pub fn scaling(&self) -> Option<&Scaling> {
        self.scaling.as_ref()
    }

    /// Mean variance of the source's columns after scaling.
    pub fn mean_variance(&self) -> f64 {
        self.mean_variance
    }

    /// Adapts with a method and returns a model for rows of the target.
    pub fn fit(
        &self,
        method: EvaluatedMethod,
        settings: &MatrixSettings,
    ) -> Result<Model, MatrixError> {
        settings.check()?;
        let own = settings.in_units(self.mean_variance);
        let (fitted, verdict) = match method {
            EvaluatedMethod::Guarded => {
                let (fitted, verdict) = guarded(self, settings, &own)?;
                (fitted, Some(verdict))
            }
            EvaluatedMethod::Baseline(method) => (self.baseline(method, &own)?, None),
        };
        let baselines::Fitted { classifier, seconds } = fitted;
        Ok(Model { method, classifier, seconds, scaling: self.scaling.clone(), guarded: verdict })
    }

    fn baseline(
        &self,
        method: Method,
        settings: &baselines::Settings,
    ) -> Result<baselines::Fitted, MatrixError> {
        match (&self.source, method) {
            (Known::Rows { .. }, _) => Ok(method.fit(&self.task(method)?, settings)?),
            (Known::Mixture(source), Method::SourceOnly) => Ok(baselines::Fitted {
                classifier: Classifier::Mixture(source.clone()),
                seconds: Seconds::default(),
            }),
            (Known::Mixture(_), Method::GmmOtdaMap) => Ok(self.joined(settings)?.map()?),
            (Known::Mixture(_), _) => Err(MatrixError::needs_rows(method)),
        }
    }

    /// Both mixtures and the plan between them.
    pub(super) fn joined(&self, settings: &baselines::Settings) -> Result<Joined, MatrixError> {
        Ok(match &self.source {
            Known::Rows { .. } => Joined::new(&self.task(Method::GmmOtdaMap)?, settings)?,
            Known::Mixture(source) => {
                Joined::from_mixture(source.clone(), self.target.view(), settings)?
            }
        })
    }

    /// The task of a method that needs the source's rows.
    pub(super) fn task(&self, method: Method) -> Result<Task<'_, T>, MatrixError> {
        let Known::Rows { x, labels } = &self.source else {
            return Err(MatrixError::needs_rows(method));
        };
        let (classes, pool) = (self.classes.len(), self.target.view());
        Ok(Task { source: x.view(), labels, classes, pool })
    }
}

/// The matrix row by row. Every step needs it so; one copy here spares a copy in each.
fn in_rows<T: Sample>(x: CowArray<'_, T, Ix2>) -> CowArray<'_, T, Ix2> {
    if x.is_standard_layout() { x } else { x.as_standard_layout().into_owned().into() }
}

/// The constants for rows of the target.
fn scaling_of_target<T: Sample>(
    source: &Scaling,
    target: ArrayView2<'_, T>,
    scale: Scale,
) -> Option<Scaling> {
    match scale {
        Scale::None => None,
        Scale::Source => Some(source.clone()),
        Scale::Each => Some(Scaling::measure(target)),
    }
}

/// Seconds since `start`.
pub(super) fn since(start: Instant) -> f64 {
    start.elapsed().as_secs_f64()
}

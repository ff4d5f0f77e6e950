//! The source's rows, moved to the target.

use ndarray::{Array1, Array2};

use super::{MatrixError, MatrixSettings, Prepared};
use crate::adapt::maps::{ComponentMaps, WeightedSamples};
use crate::baselines::Method;
use crate::mixture::Sample;

/// The map that moves rows of the source.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum MapKind {
    /// `T_weight`: from the likeliest component of a row to every component that the plan joins it
    /// with.
    Weight,
    /// `T_mean`: to the mean over all pairs of components.
    Mean,
    /// `T_rand`: along one pair of components, drawn at random.
    Rand,
}

/// Source rows in the target, in the units in which the target was given.
#[derive(Debug, Clone, PartialEq)]
pub struct Mapped {
    /// The moved rows.
    pub x: Array2<f64>,
    /// The weight of each.
    pub weights: Array1<f64>,
    /// The source row of each, counted from 0.
    pub origin: Vec<usize>,
    /// The class of each.
    pub classes: Vec<Option<usize>>,
}

impl<T: Sample> Prepared<'_, T> {
    /// Moves the source's rows along the plan between the mixtures of source and target.
    ///
    /// `T_weight` leaves out entries of the plan below a thousandth of their row. For the other maps
    /// every row has weight one and stays in its place.
    pub fn map(&self, kind: MapKind, settings: &MatrixSettings) -> Result<Mapped, MatrixError> {
        settings.check()?;
        let own = settings.in_units(self.mean_variance());
        let task = self.task(Method::GmmOtdaT)?;
        let joined = self.joined(&own)?;
        let maps = ComponentMaps::new(&joined.source.mixture, &joined.target, &joined.plan)?;
        let one_each = |x: Array2<f64>| {
            let rows = x.nrows();
            WeightedSamples { samples: x, weights: Array1::ones(rows), origin: (0..rows).collect() }
        };
        let WeightedSamples { mut samples, weights, origin } = match kind {
            MapKind::Weight => maps.without_negligible().weighted(task.source, 0.0)?,
            MapKind::Mean => one_each(maps.mean(task.source)?),
            MapKind::Rand => one_each(maps.random(task.source, own.seed)?),
        };
        if let Some(scaling) = self.scaling() {
            scaling.undo(samples.view_mut());
        }
        let classes = origin.iter().map(|row| Some(task.labels[*row])).collect();
        Ok(Mapped { x: samples, weights, origin, classes })
    }
}

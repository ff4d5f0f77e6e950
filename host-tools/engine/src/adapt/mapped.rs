//! Training samples that `T_weight` maps to the target. They are never made.
//!
//! A mapped sample is `A x + o`, so its score is `(W A) x + W o + b`: the coefficients are mapped
//! back, once for a block of rows, and the rows stay where they are. The gradient goes the other way.
//! Mapped samples would take the memory of the source as often as the plan joins its components.

use ndarray::{Array1, Array2, ArrayView2, Axis};

use super::maps::{ComponentMaps, GaussianMap, MapError};
use super::softmax::{Loss, Samples, residuals};
use crate::mixture::Sample;

/// Rows that are widened to f64 at once.
const BLOCK: usize = 512;

/// Source rows, mapped to the target by `T_weight`, with the class of each.
pub(crate) struct MappedSamples<'a, T> {
    x: ArrayView2<'a, T>,
    labels: &'a [usize],
    /// For each component, the ways to the target.
    ways: Vec<Vec<Way<'a>>>,
    /// Rows of one component each.
    blocks: Vec<(usize, Vec<usize>)>,
}

/// A map with the weight of its samples.
struct Way<'a> {
    weight: f64,
    map: &'a GaussianMap,
    offset: Array1<f64>,
}

impl<'a, T: Sample> MappedSamples<'a, T> {
    pub(crate) fn new(
        maps: &'a ComponentMaps<'_>,
        x: ArrayView2<'a, T>,
        labels: &'a [usize],
    ) -> Result<Self, MapError> {
        let components = maps.likeliest(x)?;
        let count = components.iter().max().map_or(0, |most| most + 1);
        let mut rows = vec![Vec::new(); count];
        for (row, component) in components.into_iter().enumerate() {
            rows[component].push(row);
        }
        let mut ways = Vec::with_capacity(count);
        let mut total = 0.0;
        for (component, rows) in rows.iter().enumerate() {
            let own = if rows.is_empty() { &[] } else { maps.from(component) };
            let way = |(mass, map): &'a (f64, GaussianMap)| Way {
                weight: *mass,
                map,
                offset: map.offset(),
            };
            let own: Vec<Way<'a>> = own.iter().map(way).collect();
            if own.is_empty() && !rows.is_empty() {
                return Err(MapError::Threshold { component, threshold: 0.0 });
            }
            total += rows.len() as f64 * own.iter().map(|way| way.weight).sum::<f64>();
            ways.push(own);
        }
        for way in ways.iter_mut().flatten() {
            way.weight /= total;
        }
        let blocks = rows.iter().enumerate().flat_map(|(component, rows)| {
            rows.chunks(BLOCK).map(move |rows| (component, rows.to_vec()))
        });
        Ok(Self { x, labels, ways, blocks: blocks.collect() })
    }
}

impl<T: Sample> Samples for MappedSamples<'_, T> {
    fn dims(&self) -> usize {
        self.x.ncols()
    }

    fn parts(&self) -> usize {
        self.blocks.len()
    }

    fn part(&self, part: usize, coefficients: &Array2<f64>, intercepts: &Array1<f64>) -> Loss {
        let (component, rows) = &self.blocks[part];
        let dims = self.x.ncols();
        let mut x = Array2::zeros((rows.len(), dims));
        for (mut to, row) in x.outer_iter_mut().zip(rows) {
            to.iter_mut().zip(self.x.row(*row)).for_each(|(to, from)| *to = (*from).into());
        }
        let mut loss = Loss::zero(intercepts.len(), dims);
        for way in &self.ways[*component] {
            let pulled = way.map.pulled(coefficients);
            let mut scores = x.dot(&pulled.t()) + &(intercepts + &coefficients.dot(&way.offset));
            let given = rows.iter().map(|row| (self.labels[*row], way.weight));
            loss.value += residuals(&mut scores, given);
            let sums = scores.sum_axis(Axis(0));
            loss.coefficients += &way.map.pulled(&scores.t().dot(&x));
            for (mut row, sum) in loss.coefficients.outer_iter_mut().zip(&sums) {
                row.scaled_add(*sum, &way.offset);
            }
            loss.intercepts += &sums;
        }
        loss
    }
}

//! HOT-DA: hierarchical optimal transport (El Hamri, Bennani, Falih 2022).
//!
//! Source samples are grouped by class, target samples by spectral clustering into as many groups. The
//! plan between groups, all of the same weight, has the exact transport cost between their samples as
//! its cost; being exact, it matches each class to one cluster. The samples of a class then move to the
//! barycentres of the plan to their cluster.

use std::time::Instant;

use ndarray::{Array2, Axis};

use super::{Carried, Samples, Settings, barycentric, spectral_clusters, uniform};
use crate::adapt::maps::likeliest;
use crate::transport::{Plan, TransportError, cost::squared_distances, exact};

/// Source samples moved within the pair of class and cluster.
pub(super) fn carry(samples: &Samples, settings: &Settings) -> Carried {
    let start = Instant::now();
    let clusters = spectral_clusters(&samples.pool, samples.classes, settings.seed)?;
    let fit_target = start.elapsed().as_secs_f64();

    let source: Vec<Group> =
        (0..samples.classes).map(|c| Group::new(&samples.source, &samples.labels, c)).collect();
    // A cluster may have come out empty; only those with samples can be matched.
    let target: Vec<Group> = (0..samples.classes)
        .map(|c| Group::new(&samples.pool, &clusters, c))
        .filter(|group| !group.rows.is_empty())
        .collect();
    let mut plans = Vec::with_capacity(source.len());
    for class in &source {
        let to_each: Result<Vec<Plan>, TransportError> =
            target.iter().map(|cluster| class.plan_to(cluster)).collect();
        plans.push(to_each?);
    }
    let cost = Array2::from_shape_fn((source.len(), target.len()), |(c, k)| plans[c][k].cost);
    let options = exact::Options::default();
    let matching = exact::solve(&uniform(source.len()), &uniform(target.len()), &cost, &options)?;

    let mut carried = samples.source.clone();
    for ((class, plans), matched) in source.iter().zip(&plans).zip(matching.plan.outer_iter()) {
        let cluster = likeliest(matched.iter().copied());
        let moved = barycentric(&plans[cluster].plan, &target[cluster].samples);
        for (&row, moved) in class.rows.iter().zip(moved.outer_iter()) {
            carried.row_mut(row).assign(&moved);
        }
    }
    Ok((carried, fit_target))
}

/// The samples of one class or cluster.
struct Group {
    rows: Vec<usize>,
    samples: Array2<f64>,
}

impl Group {
    fn new(samples: &Array2<f64>, groups: &[usize], group: usize) -> Self {
        let rows: Vec<usize> = (0..groups.len()).filter(|&row| groups[row] == group).collect();
        let samples = samples.select(Axis(0), &rows);
        Self { rows, samples }
    }

    fn plan_to(&self, other: &Self) -> Result<Plan, TransportError> {
        let cost = squared_distances(&self.samples, &other.samples);
        let (a, b) = (uniform(self.rows.len()), uniform(other.rows.len()));
        exact::solve(&a, &b, &cost, &exact::Options::default())
    }
}

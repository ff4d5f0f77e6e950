//! HOT-DA: hierarchical optimal transport (El Hamri, Bennani, Falih 2022).
//!
//! Source samples are grouped by class. Target samples are grouped by spectral clustering into the
//! same number of groups. The cost between a class and a cluster is the cost of the entropic plan
//! between their samples. A second entropic plan joins the groups, each weighted by its share of
//! the samples. It tells to which cluster most of a class goes. The samples of the class then move
//! to the barycentres of the plan to that cluster. The authors' entropy weights are in units of the
//! cost. Ours are relative to the largest cost, as in every plan here.

use std::time::Instant;

use ndarray::{Array2, ArrayRef2, Axis};

use super::otda::{barycentric, entropic};
use super::{BaselineError, Carried, Samples, Settings, spectral_clusters, uniform};
use crate::adapt::maps::likeliest;
use crate::transport::{Plan, cost::squared_distances};

/// Source samples moved within each pair of class and cluster.
pub(super) fn carry(samples: &Samples, settings: &Settings) -> Carried {
    let start = Instant::now();
    let clusters = spectral_clusters(&samples.pool, samples.classes, settings.seed)?;
    let fit_target = start.elapsed().as_secs_f64();
    let carried = hierarchical_map(
        (&samples.source, &samples.labels),
        (&samples.pool, &clusters),
        samples.classes,
        settings.epsilon,
    )?;
    Ok((carried, fit_target))
}

/// The source's rows, moved by their class's plans. The groups of `source` and `target` give the
/// group of every row, counted from 0. `epsilon` is relative to the largest cost of each plan.
///
/// A source group without rows moves nothing. A target group without rows is skipped.
pub fn hierarchical_map(
    source: (&ArrayRef2<f64>, &[usize]),
    target: (&ArrayRef2<f64>, &[usize]),
    groups: usize,
    epsilon: f64,
) -> Result<Array2<f64>, BaselineError> {
    let (classes, clusters) = (Group::all(source, groups), Group::all(target, groups));
    let mut plans = Vec::with_capacity(classes.len());
    for class in &classes {
        let to_each: Result<Vec<Plan>, BaselineError> =
            clusters.iter().map(|cluster| class.plan_to(cluster, epsilon)).collect();
        plans.push(to_each?);
    }
    let cost = Array2::from_shape_fn((classes.len(), clusters.len()), |(c, k)| plans[c][k].cost);
    let shares = |groups: &[Group], rows: usize| -> Vec<f64> {
        groups.iter().map(|group| group.rows.len() as f64 / rows as f64).collect()
    };
    let (a, b) = (shares(&classes, source.0.nrows()), shares(&clusters, target.0.nrows()));
    let matching = entropic(&a, &b, &cost, epsilon)?;

    let mut carried = source.0.to_owned();
    for ((class, plans), matched) in classes.iter().zip(&plans).zip(matching.plan.outer_iter()) {
        let cluster = likeliest(matched.iter().copied());
        let moved = barycentric(&plans[cluster].plan, &clusters[cluster].samples);
        for (&row, moved) in class.rows.iter().zip(moved.outer_iter()) {
            carried.row_mut(row).assign(&moved);
        }
    }
    Ok(carried)
}

/// The samples of one class or cluster.
struct Group {
    rows: Vec<usize>,
    samples: Array2<f64>,
}

impl Group {
    /// The groups that have samples.
    fn all((samples, groups): (&ArrayRef2<f64>, &[usize]), count: usize) -> Vec<Self> {
        let members = |group| (0..groups.len()).filter(|&row| groups[row] == group).collect();
        (0..count)
            .map(members)
            .filter(|rows: &Vec<usize>| !rows.is_empty())
            .map(|rows| Self { samples: samples.select(Axis(0), &rows), rows })
            .collect()
    }

    fn plan_to(&self, other: &Self, epsilon: f64) -> Result<Plan, BaselineError> {
        let cost = squared_distances(&self.samples, &other.samples);
        entropic(&uniform(self.rows.len()), &uniform(other.rows.len()), &cost, epsilon)
    }
}

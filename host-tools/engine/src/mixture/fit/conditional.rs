//! Conditional EM: fits a labelled feature matrix to one mixture whose components carry classes.

use ndarray::{Array1, Array2, Array3, ArrayView2, Axis};
use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::check::check_data;
use super::em::fit_rows;
use crate::mixture::engine::expectation::NotPositiveDefinite;
use crate::mixture::engine::tiles::log_likelihoods;
use crate::mixture::sample::{Rows, Sample};
use crate::mixture::{
    Covariance, EmSettings, Fit, LabelledMixture, Mixture, MixtureError, Progress, Start,
};

/// Number of components for each class.
#[derive(Debug, Clone, PartialEq)]
pub enum ComponentCount {
    /// The same number in every class.
    PerClass(usize),
    /// A number for each class, in the order of the classes.
    Each(Vec<usize>),
    /// For each class, the number from one to `most` with the smallest Bayesian information
    /// criterion.
    Bic {
        /// The largest number tried.
        most: usize,
    },
    /// For each class, the number from one to `most` with the largest likelihood on the last `part`
    /// of its rows. The trial fits leave these rows out. The chosen number is then fitted to all
    /// rows. Rows are never shuffled: neighbours in time are alike, so they would give each other
    /// away.
    HeldOut {
        /// The largest number tried.
        most: usize,
        /// The fraction of rows left out, between 0 and 1.
        part: f64,
    },
}

/// Result of fitting one class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ClassFit {
    /// Name of the class.
    pub class: String,
    /// Number of samples of the class.
    pub samples: usize,
    /// Number of components of the class. A class with fewer samples than requested components gets
    /// one component per sample.
    pub components: usize,
    /// Requested number of components, if a number was given.
    pub asked: Option<usize>,
    /// Mean log-likelihood per sample of the class in the last E-step.
    pub log_likelihood: f64,
    /// Number of iterations.
    pub iterations: usize,
    /// Whether the tolerance was reached before the iteration limit.
    pub converged: bool,
    /// How many times a component lost its samples and was moved.
    pub reseeded: usize,
}

/// A labelled mixture and the result of fitting each class.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ConditionalFit {
    /// The mixtures of all classes side by side, in the order of the classes. Every class has the
    /// same total weight, whatever the length of its recordings. The recorded time of a fault on a
    /// known machine says nothing about how often it occurs on another.
    pub mixture: LabelledMixture,
    /// The result for each class.
    pub classes: Vec<ClassFit>,
}

/// Fits one mixture per class and puts them side by side.
///
/// `labels` has a class index for each row; `class_names` has a name for each class. Each row
/// counts `sample_weights` times (once if `None`); a row with weight zero is ignored. `components`
/// replaces `settings.components`. A given start makes no sense here and is refused. With tied
/// covariance each class has its own, so the result is full.
pub fn fit_conditional<T: Sample>(
    x: ArrayView2<T>,
    labels: &[usize],
    class_names: &[String],
    sample_weights: Option<&[f64]>,
    components: &ComponentCount,
    settings: &EmSettings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<ConditionalFit, MixtureError> {
    check_data(x, sample_weights)?;
    check(components, class_names.len(), settings)?;
    let x = x.as_standard_layout();
    let Some(all) = Rows::new(x.view(), sample_weights) else {
        unreachable!("the matrix was just put in standard layout");
    };
    let members = members(&all, labels, class_names)?;
    let fits = members
        .par_iter()
        .enumerate()
        .map(|(class, members)| {
            fit_class(all, members, class, components, settings, progress).map_err(|source| {
                MixtureError::Class { class: class_names[class].clone(), source: Box::new(source) }
            })
        })
        .collect::<Vec<_>>();
    let fits = fits.into_iter().collect::<Result<Vec<Fit>, _>>()?;
    let classes = fits
        .iter()
        .enumerate()
        .map(|(class, fit)| ClassFit {
            class: class_names[class].clone(),
            samples: members[class].len(),
            components: fit.mixture.components(),
            asked: match components {
                ComponentCount::PerClass(count) => Some(*count),
                ComponentCount::Each(counts) => Some(counts[class]),
                ComponentCount::Bic { .. } | ComponentCount::HeldOut { .. } => None,
            },
            log_likelihood: fit.log_likelihood,
            iterations: fit.iterations,
            converged: fit.converged,
            reseeded: fit.reseeded,
        })
        .collect();
    Ok(ConditionalFit { mixture: side_by_side(&fits), classes })
}

fn check(
    components: &ComponentCount,
    classes: usize,
    settings: &EmSettings,
) -> Result<(), MixtureError> {
    let least = match components {
        ComponentCount::PerClass(count) => *count,
        ComponentCount::Bic { most } | ComponentCount::HeldOut { most, .. } => *most,
        ComponentCount::Each(counts) => {
            if counts.len() != classes {
                return Err(MixtureError::Setting {
                    name: "number of component counts",
                    value: counts.len() as f64,
                    expected: "one per class",
                });
            }
            counts.iter().copied().min().unwrap_or(1)
        }
    };
    if least == 0 {
        return Err(MixtureError::Setting {
            name: "components",
            value: 0.0,
            expected: "at least 1",
        });
    }
    if let ComponentCount::HeldOut { part, .. } = components
        && !(*part > 0.0 && *part < 1.0)
    {
        return Err(MixtureError::Setting {
            name: "held-out part",
            value: *part,
            expected: "between 0 and 1",
        });
    }
    match settings.start {
        Start::KMeans | Start::KMeansPlusPlus => Ok(()),
        Start::Means(_) | Start::Mixture(_) => Err(MixtureError::StartShape {
            what: "kind",
            found: "given".into(),
            expected: "k-means or k-means++, as each class starts for itself".into(),
        }),
    }
}

/// The rows of each class with a weight above zero, in order.
fn members<T: Sample>(
    rows: &Rows<T>,
    labels: &[usize],
    class_names: &[String],
) -> Result<Vec<Vec<usize>>, MixtureError> {
    if labels.len() != rows.len() {
        return Err(MixtureError::Length {
            what: "labels",
            expected: rows.len(),
            found: labels.len(),
        });
    }
    let mut members = vec![Vec::new(); class_names.len()];
    for (row, &label) in labels.iter().enumerate() {
        match members.get_mut(label) {
            Some(members) if rows.weight(row) > 0.0 => members.push(row),
            Some(_) => {}
            None => {
                return Err(MixtureError::Label { row, label, classes: class_names.len() });
            }
        }
    }
    match members.iter().position(Vec::is_empty) {
        Some(absent) => Err(MixtureError::AbsentClass { class: class_names[absent].clone() }),
        None => Ok(members),
    }
}

fn fit_class<T: Sample>(
    all: Rows<T>,
    members: &[usize],
    class: usize,
    components: &ComponentCount,
    settings: &EmSettings,
    progress: &(dyn Fn(Progress) + Sync),
) -> Result<Fit, MixtureError> {
    let n = members.len();
    let with = |members: &[usize], count: usize| {
        let settings = EmSettings { components: count, ..settings.clone() };
        fit_rows(&all.select(members), &settings, class as u64 + 1, progress)
    };
    match components {
        ComponentCount::PerClass(count) => with(members, (*count).min(n)),
        ComponentCount::Each(counts) => with(members, counts[class].min(n)),
        ComponentCount::Bic { most } => {
            let mut best: Option<(f64, Fit)> = None;
            for count in 1..=(*most).min(n) {
                let fit = with(members, count)?;
                let rows = all.select(members);
                let weight = rows.total_weight();
                let bic = fit.mixture.parameters() as f64 * weight.ln()
                    - 2.0 * weight * mean_log_likelihood(&fit.mixture, &rows)?;
                if best.as_ref().is_none_or(|b| bic < b.0) {
                    best = Some((bic, fit));
                }
            }
            best.map_or_else(|| with(members, 1), |(_, fit)| Ok(fit))
        }
        ComponentCount::HeldOut { most, part } => {
            let held_out = ((n as f64 * part).ceil() as usize).min(n - 1);
            if held_out == 0 {
                return with(members, 1);
            }
            let (kept, left_out) = members.split_at(n - held_out);
            let left_out = all.select(left_out);
            let mut best = (f64::NEG_INFINITY, 1);
            for count in 1..=(*most).min(kept.len()) {
                let fit = with(kept, count)?;
                let likelihood = mean_log_likelihood(&fit.mixture, &left_out)?;
                if likelihood > best.0 {
                    best = (likelihood, count);
                }
            }
            with(members, best.1)
        }
    }
}

/// Weighted mean of the rows' log-likelihood.
fn mean_log_likelihood<T: Sample>(mixture: &Mixture, rows: &Rows<T>) -> Result<f64, MixtureError> {
    let likelihoods = log_likelihoods(mixture, rows)
        .map_err(|NotPositiveDefinite(component)| MixtureError::Singular { component })?;
    let sum: f64 = likelihoods.iter().enumerate().map(|(i, l)| rows.weight(i) * l).sum();
    Ok(sum / rows.total_weight())
}

/// Puts the mixtures of the classes side by side. All classes get the same weight.
fn side_by_side(fits: &[Fit]) -> LabelledMixture {
    let mixtures = || fits.iter().map(|fit| &fit.mixture);
    let components: usize = mixtures().map(Mixture::components).sum();
    let dimensions = mixtures().map(Mixture::dimensions).max().unwrap_or(0);
    let weights: Array1<f64> =
        mixtures().flat_map(|mixture| mixture.weights.iter().copied()).collect();
    let weights = &weights / weights.sum();
    let mut means = Array2::zeros((components, dimensions));
    let mut labels = Array2::zeros((components, fits.len()));
    let mut covariance = match fits.first().map(|fit| &fit.mixture.covariance) {
        Some(Covariance::Spherical(_)) => Covariance::Spherical(Array1::zeros(components)),
        Some(Covariance::Tied(_) | Covariance::Full(_)) => {
            Covariance::Full(Array3::zeros((components, dimensions, dimensions)))
        }
        Some(Covariance::Diagonal(_)) | None => {
            Covariance::Diagonal(Array2::zeros((components, dimensions)))
        }
    };
    let mut k = 0;
    for (class, mixture) in mixtures().enumerate() {
        for own in 0..mixture.components() {
            means.row_mut(k).assign(&mixture.means.row(own));
            labels[[k, class]] = 1.0;
            match (&mut covariance, &mixture.covariance) {
                (Covariance::Diagonal(all), Covariance::Diagonal(v)) => {
                    all.row_mut(k).assign(&v.row(own));
                }
                (Covariance::Spherical(all), Covariance::Spherical(v)) => all[k] = v[own],
                (Covariance::Full(all), Covariance::Full(m)) => {
                    all.index_axis_mut(Axis(0), k).assign(&m.index_axis(Axis(0), own));
                }
                (Covariance::Full(all), Covariance::Tied(m)) => {
                    all.index_axis_mut(Axis(0), k).assign(m);
                }
                _ => unreachable!("all classes were fitted with the same settings"),
            }
            k += 1;
        }
    }
    LabelledMixture { mixture: Mixture { weights, means, covariance }, labels }
}

//! A synthetic source between the known machines, for a target that was only recorded healthy.
//!
//! The healthy state of a new machine often lies between those of known machines, at other speeds
//! or loads. The shares that bring the known healthy states nearest to the new one also bring their
//! faults nearest to the faults that the new machine will have.

use anyhow::Result;
use ndarray::{Array1, Array2, ArrayRef1, Axis};

use super::reference::{HealthyReference, Reference};
use super::simplex;
use crate::mixture::{Covariance, LabelledMixture, Mixture};
use crate::source::Source;
use crate::source::library::Library;
use crate::transport::{cost, exact};

/// Pull of the shares towards equal ones, relative to the largest squared healthy mean. Without it,
/// machines that are nearly alike would share by the noise of their means.
const EVEN: f64 = 1e-2;
/// Machines with a smaller share are left out of a combination.
const LEAST_SHARE: f64 = 0.01;

/// A library's machines, mixed so that their healthy states come near the target's.
#[derive(Debug, Clone)]
pub struct Combination {
    /// The share of each machine of the library; the shares sum to one.
    pub shares: Vec<f64>,
    /// The synthetic source.
    pub source: Source,
    /// The same in nats.
    pub reference: Reference,
    /// How far the target's healthy state is from the combination's, in units of the typical
    /// distance from healthy to a fault.
    pub shift: f64,
}

impl Combination {
    /// Mixes the machines of `library` for a target whose healthy windows have the mean `target`.
    /// Returns `None` if the library has no healthy class.
    pub fn new(
        library: &Library,
        references: &[Reference],
        target: &Array1<f64>,
    ) -> Result<Option<Self>> {
        let healthy: Option<Vec<&HealthyReference>> =
            references.iter().map(|reference| reference.healthy.as_ref()).collect();
        let Some(healthy) = healthy else { return Ok(None) };
        let mut shares = shares(&healthy, target);
        for share in &mut shares {
            if *share < LEAST_SHARE {
                *share = 0.0;
            }
        }
        let sum: f64 = shares.iter().sum();
        shares.iter_mut().for_each(|share| *share /= sum);
        let source = combined(library, references, &shares)?;
        let reference = Reference::new(&source)?;
        let shift =
            reference.healthy.as_ref().map_or(f64::INFINITY, |healthy| healthy.shift(target));
        Ok(Some(Self { shares, source, reference, shift }))
    }
}

/// The shares that bring the known healthy means nearest to the target's.
fn shares(healthy: &[&HealthyReference], target: &ArrayRef1<f64>) -> Vec<f64> {
    let mut means = Array2::zeros((healthy.len(), target.len()));
    for (mut row, known) in means.rows_mut().into_iter().zip(healthy) {
        row.assign(&known.mean);
    }
    let largest = means.rows().into_iter().map(|row| row.dot(&row)).fold(0.0, f64::max);
    simplex::nearest(&means, target, EVEN * largest).shares
}

/// The source with these shares of every machine, in nats.
fn combined(library: &Library, references: &[Reference], shares: &[f64]) -> Result<Source> {
    let used: Vec<usize> = (0..shares.len()).filter(|s| shares[*s] > 0.0).collect();
    if let [only] = used.as_slice() {
        return Ok(library.sources[*only].clone());
    }
    let largest = used.iter().copied().max_by(|a, b| shares[*a].total_cmp(&shares[*b]));
    let largest = largest.unwrap_or(0);
    let model = &references[largest];
    let mut weights = Array1::zeros(model.mixture.weights.len());
    let mut means = Array2::zeros(model.mixture.means.dim());
    let mut deviations = Array2::<f64>::zeros(means.dim());
    for s in &used {
        let (other, share) = (&references[*s], shares[*s]);
        let place = matched(model, other)?;
        weights = weights + share * &other.mixture.weights.select(Axis(0), &place);
        means = means + share * &other.mixture.means.select(Axis(0), &place);
        deviations = deviations + share * &other.variances.select(Axis(0), &place).mapv(f64::sqrt);
    }
    weights /= weights.sum();
    let names: Vec<&str> = used.iter().map(|s| library.sources[*s].domain.as_str()).collect();
    let dims = means.ncols();
    Ok(Source {
        domain: names.join("+"),
        shift: vec![0.0; dims],
        scale: vec![1.0; dims],
        mixture: LabelledMixture {
            mixture: Mixture {
                weights,
                means,
                covariance: Covariance::Diagonal(deviations.mapv(|x| x * x)),
            },
            labels: model.labels.clone(),
        },
        log_likelihood_min: None,
        ..library.sources[largest].clone()
    })
}

/// For each component of `model`, the component of `other` that it is mixed with: of the same
/// class, and together as near as possible.
fn matched(model: &Reference, other: &Reference) -> Result<Vec<usize>> {
    let class = |reference: &Reference, k: usize| {
        let row = reference.labels.row(k);
        (0..row.len()).max_by(|a, b| row[*a].total_cmp(&row[*b])).unwrap_or(0)
    };
    let costs = cost::component_costs(&model.mixture, &other.mixture)?;
    let mut place: Vec<usize> = (0..model.mixture.weights.len()).collect();
    for wanted in 0..model.labels.ncols() {
        let of = |reference: &Reference| -> Vec<usize> {
            (0..reference.labels.nrows()).filter(|k| class(reference, *k) == wanted).collect()
        };
        let (rows, columns) = (of(model), of(other));
        if rows.is_empty() || columns.is_empty() {
            continue;
        }
        let own = costs.select(Axis(0), &rows).select(Axis(1), &columns);
        let equal = |n: usize| vec![1.0 / n as f64; n];
        let plan = exact::solve(
            &equal(rows.len()),
            &equal(columns.len()),
            &own,
            &exact::Options::default(),
        )?;
        for (row, masses) in rows.iter().zip(plan.plan.rows()) {
            let most = (0..masses.len()).max_by(|a, b| masses[*a].total_cmp(&masses[*b]));
            place[*row] = columns[most.unwrap_or(0)];
        }
    }
    Ok(place)
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::super::reference::tests::source;
    use super::*;

    /// The machine of the reference's tests, with every mean moved.
    fn moved(name: &str, by: [f64; 2]) -> Source {
        let mut source = source();
        for (i, by) in by.iter().enumerate() {
            let by = by * f64::from(source.scale[i]);
            source.mixture.mixture.means.column_mut(i).mapv_inplace(|x| x + by);
        }
        Source { domain: name.into(), ..source }
    }

    fn library() -> (Library, Vec<Reference>) {
        let sources =
            vec![moved("a", [0.0, 0.0]), moved("b", [2.0, 0.0]), moved("c", [40.0, 40.0])];
        let references = sources.iter().map(|source| Reference::new(source).unwrap()).collect();
        let library = Library { sources, transfers: Vec::new(), left_out: Default::default() };
        (library, references)
    }

    #[test]
    fn a_machine_half_way_gets_faults_half_way() {
        let (library, references) = library();
        // The healthy state of `a` is at (1, 2), that of `b` at (3, 2).
        let combination =
            Combination::new(&library, &references, &array![2.0, 2.0]).unwrap().unwrap();
        assert_eq!(combination.source.domain, "a+b");
        let [a, b, c] = combination.shares[..] else { panic!("{:?}", combination.shares) };
        assert!((a - 0.5).abs() < 0.2 && (b - 0.5).abs() < 0.2 && c == 0.0, "{a} {b} {c}");
        // The first fault of `a` is at (3, 2), that of `b` at (5, 2).
        let fault = combination.reference.mixture.means[[1, 0]];
        assert!((fault - (3.0 * a + 5.0 * b)).abs() < 1e-6, "{fault}");
        assert!(combination.shift < 0.15, "{}", combination.shift);
    }

    #[test]
    fn a_machine_at_a_known_one_takes_it_as_it_is() {
        let (library, references) = library();
        let only = Library { sources: library.sources[..1].to_vec(), ..library };
        let combination =
            Combination::new(&only, &references[..1], &array![1.0, 4.0]).unwrap().unwrap();
        assert_eq!(combination.source, only.sources[0]);
        assert!((combination.shift - 0.5).abs() < 1e-6);
    }
}

//! Finds the healthy windows in a pool about which nothing is known.
//!
//! The pool is split into the components of its mixture. Those nearer to the healthy states of the
//! known machines than to any fault are joined to states. Exactly one of these states may be near
//! enough to be the healthy one. The dangerous mistake is to take a fault for the healthy state:
//! then every healthy window would raise an alarm. So where there is a doubt, nothing is found.

use anyhow::Result;
use ndarray::Array1;

use super::combine::Combination;
use super::plausible::healthy_components;
use super::reference::{Reference, column_means, distance};
use super::target::TargetMixture;
use super::verdict::MAX_FOUND_SHIFT;
use crate::features::extract::Features;
use crate::source::library::Library;

/// Components join one state if their means differ by at most this many healthy standard
/// deviations (root mean square over the features).
const JOINED: f64 = 2.0;
/// Least length of a healthy state, in hops of the front end.
const LEAST_HOPS: usize = 12;
/// A single source does not know how much healthy machines differ. So the state must be nearer to
/// its healthy state than to its faults by this factor.
const SINGLE_MARGIN: f64 = 0.9;

/// The healthy state of a pool.
#[derive(Debug, Clone)]
pub struct FoundHealthy {
    /// Its rows in the pool.
    pub rows: Vec<usize>,
    /// The known machines, mixed to come near it.
    pub combination: Combination,
}

/// Looks for the one healthy state in a pool. Otherwise says in words why there is none.
pub fn find(
    pool: &Features,
    own: &TargetMixture,
    library: &Library,
    references: &[Reference],
) -> Result<Result<FoundHealthy, String>> {
    let Some(deviation) = healthy_deviation(references) else {
        return Ok(Err("the source has no healthy class, so there is no gate".into()));
    };
    let margin = if references.len() > 1 { 1.0 } else { SINGLE_MARGIN };
    let healthy = healthy_components(references, &own.mixture, margin);
    let like: Vec<usize> = (0..healthy.len()).filter(|component| healthy[*component]).collect();
    if like.is_empty() {
        return Ok(Err(
            "no part of the pool is nearer to a known healthy state than to a fault".into()
        ));
    }
    let component_of = own.component_of_windows();
    let mut found: Vec<FoundHealthy> = Vec::new();
    let mut nearest = f64::INFINITY;
    for state in states(&like, own, JOINED * deviation) {
        let rows: Vec<usize> =
            (0..component_of.len()).filter(|row| state.contains(&component_of[*row])).collect();
        if rows.is_empty() {
            continue;
        }
        let mean: Array1<f64> = column_means(&pool.select(&rows).x);
        if let Some(combination) = Combination::new(library, references, &mean)? {
            nearest = nearest.min(combination.shift);
            if combination.shift <= MAX_FOUND_SHIFT {
                found.push(FoundHealthy { rows, combination });
            }
        }
    }
    let hop = library.first().front_end.hop;
    Ok(match found.len() {
        0 => Err(format!(
            "no part of the pool is like a known healthy state: the nearest differs by {nearest:.2} of the distance to \
             a typical fault, and {MAX_FOUND_SHIFT} is the limit"
        )),
        1 => {
            let one = found.remove(0);
            let hops = one.rows.len() * pool.stride / hop.max(1);
            if hops < LEAST_HOPS {
                Err(format!(
                    "{} of {} windows look healthy, which is too little for a gate",
                    one.rows.len(),
                    pool.x.nrows()
                ))
            } else {
                Ok(one)
            }
        }
        states => {
            Err(format!("{states} different parts of the pool look healthy, so none is trusted"))
        }
    })
}

/// Root mean square of the healthy standard deviations over machines and features.
fn healthy_deviation(references: &[Reference]) -> Option<f64> {
    let (mut square, mut count) = (0.0, 0);
    for reference in references {
        let std = &reference.healthy.as_ref()?.std;
        square += std.dot(std);
        count += std.len();
    }
    (count > 0).then(|| (square / count as f64).sqrt())
}

/// Joins components whose means are within `reach` of one another, directly or through others.
fn states(components: &[usize], own: &TargetMixture, reach: f64) -> Vec<Vec<usize>> {
    let mut states: Vec<Vec<usize>> = Vec::new();
    for component in components {
        let mean = own.mixture.means.row(*component);
        let near = |state: &Vec<usize>| {
            state.iter().any(|other| distance(&mean, &own.mixture.means.row(*other)) <= reach)
        };
        let (joined, mut apart): (Vec<_>, Vec<_>) = states.into_iter().partition(near);
        let mut state: Vec<usize> = joined.into_iter().flatten().collect();
        state.push(*component);
        apart.push(state);
        states = apart;
    }
    states
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::super::reference::tests::source;
    use super::super::target::unit;
    use super::*;
    use crate::simulate::random::Random;
    use crate::source::SourceSettings;

    fn pool(groups: &[([f64; 2], usize)]) -> Features {
        let mut random = Random::new(5, 0);
        let centres: Vec<[f64; 2]> =
            groups.iter().flat_map(|(centre, n)| std::iter::repeat_n(*centre, *n)).collect();
        let x = Array2::from_shape_fn((centres.len(), 2), |(row, i)| {
            (centres[row][i] + 0.05 * random.normal()) as f32
        });
        Features { recording: vec![0; centres.len()], x, stride: 128 }
    }

    fn found(groups: &[([f64; 2], usize)]) -> Result<Vec<usize>, String> {
        let library = Library::from(source());
        let references = [Reference::new(&library.sources[0]).unwrap()];
        let pool = pool(groups);
        let em = SourceSettings::default();
        let own = TargetMixture::fit_at_most(&pool.x, unit(&library), 6, &em).unwrap();
        find(&pool, &own, &library, &references).unwrap().map(|found| found.rows)
    }

    #[test]
    fn the_healthy_part_is_found_and_the_faults_are_not() {
        // Healthy at (1, 2), faults at (3, 2) and (1, 6).
        let rows = found(&[([1.1, 2.0], 60), ([2.8, 2.1], 30)]).unwrap();
        assert_eq!(rows, (0..60).collect::<Vec<_>>());
    }

    #[test]
    fn where_there_is_a_doubt_nothing_is_found() {
        let reason = |groups| found(groups).unwrap_err();
        assert!(reason(&[([3.0, 2.0], 40)]).contains("nearer to a known healthy state"));
        // Nearer to healthy than to a fault, but far from all.
        assert!(reason(&[([-2.0, 0.5], 40)]).contains("the nearest differs by"));
        assert!(reason(&[([1.0, 2.0], 8), ([3.0, 2.0], 40)]).contains("too little"));
        let two = reason(&[([1.0, 2.0], 40), ([1.0, 3.8], 40), ([3.0, 2.0], 20)]);
        assert!(two.contains("2 different parts"), "{two}");
    }
}

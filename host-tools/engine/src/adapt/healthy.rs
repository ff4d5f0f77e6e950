//! Finds the healthy windows in a pool about which nothing is known.
//!
//! The pool is split into groups of like windows. A group is healthy if it lies nearer to the
//! healthy states of the known machines, or to a mixture of them, than to any fault. Single windows
//! would follow their noise; whole groups do not.

use anyhow::Result;
use ndarray::{Array2, Axis};

use super::reference::Reference;
use super::simplex;
use crate::features::extract::Features;
use crate::mixture;
use crate::source::SourceSettings;

/// Least number of windows in a group, on average.
const WINDOWS_PER_GROUP: usize = 8;
/// Groups per class of the library.
const GROUPS_PER_CLASS: usize = 2;

/// The rows of `pool` in groups that are nearest to the healthy states of the known machines.
pub fn find(pool: &Features, references: &[Reference], em: &SourceSettings) -> Result<Vec<usize>> {
    let windows = pool.x.nrows();
    let Some(first) = references.first() else { return Ok(Vec::new()) };
    let Some(healthy) = first.healthy.as_ref().map(|healthy| healthy.class) else {
        return Ok(Vec::new());
    };
    let classes = first.labels.ncols();
    let most = GROUPS_PER_CLASS * classes;
    let groups = (windows / WINDOWS_PER_GROUP).clamp(1, most);
    if windows < 2 {
        return Ok(Vec::new());
    }
    let fit = mixture::fit(pool.x.view(), None, &em.em(groups), &|_| ())?.mixture;
    let hulls: Vec<Array2<f64>> = (0..classes).map(|class| hull(references, class)).collect();
    let is_healthy: Vec<bool> = fit
        .means
        .rows()
        .into_iter()
        .map(|mean| {
            let distance =
                |class: usize| simplex::nearest(&hulls[class], &mean, 0.0).squared_distance;
            let own = distance(healthy);
            (0..classes).filter(|class| *class != healthy).all(|class| distance(class) > own)
        })
        .collect();
    let responsibilities = fit.responsibilities(pool.x.view())?;
    let in_healthy = |row: &usize| {
        let shares = responsibilities.row(*row);
        let most = (0..shares.len()).max_by(|a, b| shares[*a].total_cmp(&shares[*b]));
        most.is_some_and(|group| is_healthy[group])
    };
    Ok((0..windows).filter(in_healthy).collect())
}

/// The means of a class's components on all known machines, in nats.
fn hull(references: &[Reference], class: usize) -> Array2<f64> {
    let mut rows = Vec::new();
    let mut dims = 0;
    for reference in references {
        dims = reference.mixture.means.ncols();
        let components = reference.labels.column(class);
        for (mean, share) in reference.mixture.means.axis_iter(Axis(0)).zip(components) {
            if *share > 0.5 {
                rows.extend(mean.iter().copied());
            }
        }
    }
    let count = rows.len() / dims.max(1);
    Array2::from_shape_vec((count, dims), rows).unwrap_or_else(|_| Array2::zeros((0, dims)))
}

#[cfg(test)]
mod tests {
    use super::super::reference::tests::source;
    use super::*;
    use crate::simulate::random::Random;

    fn pool(groups: &[([f64; 2], usize)]) -> Features {
        let mut random = Random::new(5, 0);
        let centres: Vec<[f64; 2]> =
            groups.iter().flat_map(|(centre, n)| std::iter::repeat_n(*centre, *n)).collect();
        let x = Array2::from_shape_fn((centres.len(), 2), |(row, i)| {
            (centres[row][i] + 0.05 * random.normal()) as f32
        });
        Features { recording: vec![0; centres.len()], x, stride: 256 }
    }

    #[test]
    fn groups_near_the_healthy_state_are_found_and_others_are_not() {
        let references = [Reference::new(&source()).unwrap()];
        let pool = pool(&[([1.1, 2.0], 60), ([2.8, 2.1], 30)]);
        let rows = find(&pool, &references, &SourceSettings::default()).unwrap();
        assert_eq!(rows, (0..60).collect::<Vec<_>>());
    }

    #[test]
    fn a_pool_without_healthy_windows_has_none() {
        let references = [Reference::new(&source()).unwrap()];
        let pool = pool(&[([3.0, 2.0], 30)]);
        assert_eq!(find(&pool, &references, &SourceSettings::default()).unwrap(), [0; 0]);
    }
}

//! Finds the healthy windows in a pool about which nothing is known.

use ndarray::{Array1, Array2, Axis};

use super::cautious::Cautious;
use super::reference::{HealthyReference, median};
use crate::features::extract::Features;
use crate::mixture::InvalidMixture;

/// Factor that turns a median absolute deviation into a standard deviation of a normal
/// distribution.
const NORMAL_MAD: f64 = 1.4826;
/// Largest distance from the centre, in units of the median distance. Windows farther away are left
/// out.
const FARTHEST: f64 = 3.0;

/// The rows of `pool` that the source would call healthy and that form one state.
///
/// It uses medians, not means: a few faulty windows among them must not widen the range that the
/// gate accepts.
pub fn find(
    pool: &Features,
    cautious: &Cautious,
    known: &HealthyReference,
) -> Result<Vec<usize>, InvalidMixture> {
    let posterior = cautious.posterior(&pool.x)?;
    let called: Vec<usize> =
        (0..pool.x.nrows()).filter(|row| posterior[[*row, known.class]] > 0.5).collect();
    let x = pool.x.select(Axis(0), &called).mapv(f64::from);
    let centre = column_medians(&x);
    let deviations = (&x - &centre).mapv(f64::abs);
    let scale = known
        .scale(column_medians(&deviations) * NORMAL_MAD)
        .mapv_into(|scale| scale.max(f64::MIN_POSITIVE));
    let distances: Vec<f64> =
        (deviations / &scale).rows().into_iter().map(|row| row.dot(&row).sqrt()).collect();
    let limit = FARTHEST * median(distances.clone());
    let near = called.into_iter().zip(distances).filter(|(_, distance)| *distance <= limit);
    Ok(near.map(|(row, _)| row).collect())
}

fn column_medians(x: &Array2<f64>) -> Array1<f64> {
    x.axis_iter(Axis(1)).map(|column| median(column.to_vec())).collect()
}

#[cfg(test)]
mod tests {
    use super::super::reference::Reference;
    use super::super::reference::tests::source;
    use super::*;
    use crate::simulate::random::Random;

    #[test]
    fn a_few_strays_among_healthy_windows_are_not_taken() {
        let reference = Reference::new(&source()).unwrap();
        let mut random = Random::new(5, 0);
        // 60 healthy windows, 6 windows on the way to a fault, 30 windows of a fault.
        let centre = |row: usize| match row {
            0..60 => [1.1, 2.0],
            60..66 => [1.9, 2.1],
            _ => [3.0, 2.0],
        };
        let x = Array2::from_shape_fn((96, 2), |(row, i)| {
            (centre(row)[i] + 0.05 * random.normal()) as f32
        });
        let pool = Features { x, recording: vec![0; 96] };
        let cautious = Cautious::new(&reference);
        let rows = find(&pool, &cautious, reference.healthy.as_ref().unwrap()).unwrap();
        assert!(rows.len() >= 55 && rows.iter().all(|row| *row < 60), "{rows:?}");
    }

    #[test]
    fn a_pool_without_healthy_windows_has_none() {
        let reference = Reference::new(&source()).unwrap();
        let pool = Features { x: Array2::from_elem((9, 2), 3.0), recording: vec![0; 9] };
        let cautious = Cautious::new(&reference);
        assert_eq!(find(&pool, &cautious, reference.healthy.as_ref().unwrap()).unwrap(), [0; 0]);
    }
}

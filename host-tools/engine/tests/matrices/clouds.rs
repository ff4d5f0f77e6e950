//! Three clouds of points, and the same three clouds moved and stretched.

use ndarray::Array2;
use rebearing_host::files::matrix::Labels;

/// Rows of a domain, with the class of each.
pub(crate) struct Domain {
    pub(crate) x: Array2<f64>,
    pub(crate) labels: Labels,
    pub(crate) classes: Vec<usize>,
}

/// A number in −1..1 that looks random.
fn wobble(i: usize, j: usize) -> f64 {
    let bits = (i as u64 * 4 + j as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15);
    (bits >> 11) as f64 / (1_u64 << 52) as f64 - 1.0
}

/// `n` rows of three clouds in four features, moved by `shift` and stretched.
pub(crate) fn clouds(n: usize, seed: usize, shift: f64, stretch: f64) -> Domain {
    let centres = [[0.0, 0.0, 0.0, 5.0], [8.0, 0.0, 4.0, 5.0], [0.0, 9.0, -4.0, 5.0]];
    let classes: Vec<usize> = (0..n).map(|row| row % 3).collect();
    let x = Array2::from_shape_fn((n, 4), |(i, j)| {
        stretch * (centres[i % 3][j] + wobble(i + 10_000 * seed, j)) + shift
    });
    let number = |class: &usize| 10 * i64::try_from(*class).unwrap();
    let labels = Labels::Integers(classes.iter().map(number).collect());
    Domain { x, labels, classes }
}

pub(crate) fn source() -> Domain {
    clouds(150, 1, 0.0, 1.0)
}

pub(crate) fn target() -> Domain {
    clouds(120, 2, 0.7, 1.1)
}

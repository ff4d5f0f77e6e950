//! The predicted accuracy: a curve from the quality of carried labels to the share that is right.
//!
//! `1/C + (1 − 1/C) · sigmoid(a + b·q)`: labels drawn at random are right in one of C cases, and
//! perfect quality comes close to one. The fixed curve was found on public recordings of many
//! machines. A library adds its own: each known machine was taken as a new one, so that its true
//! accuracy is known. The lower of the two counts, to be read as "at least, on pools like these".

use serde::Serialize;

use crate::source::library::Library;

/// Least number of known machines for a curve of their own.
const LEAST_MACHINES: usize = 3;
/// Weight of the pull towards the fixed curve.
const PULL: f64 = 0.01;
/// Most steps of the fit. It converges in about ten.
const STEPS: usize = 100;

/// A curve from quality to accuracy.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Curve {
    /// Height.
    pub a: f64,
    /// Steepness.
    pub b: f64,
}

/// The curve that holds without any library.
pub const FIXED: Curve = Curve { a: -5.97, b: 9.81 };

/// The predicted accuracy of carried labels, and its basis.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Prediction {
    /// The lower of the two curves. Read it as "at least, on pools like these".
    pub accuracy: f64,
    /// The accuracy by the fixed curve.
    pub fixed: f64,
    /// The accuracy by the library's own curve, if it has one.
    pub library: Option<f64>,
    /// Number of known transfers behind the library's curve.
    pub transfers: usize,
}

impl Prediction {
    /// Predicts the accuracy of labels that `library` carried with this quality.
    pub fn new(library: &Library, quality: f64) -> Self {
        let classes = library.first().classes.len();
        let points: Vec<(f64, f64)> =
            library.best_transfers().iter().map(|t| (t.quality, t.accuracy)).collect();
        let fixed = FIXED.at(quality, classes);
        let own = (points.len() >= LEAST_MACHINES).then(|| Curve::fit(&points, classes));
        let library = own.map(|curve| curve.at(quality, classes));
        Self {
            accuracy: library.map_or(fixed, |library| library.min(fixed)),
            fixed,
            library,
            transfers: if library.is_some() { points.len() } else { 0 },
        }
    }

    /// Predicts the accuracy of labels with this quality by the fixed curve alone.
    pub fn fixed(quality: f64, classes: usize) -> Self {
        let fixed = FIXED.at(quality, classes);
        Self { accuracy: fixed, fixed, library: None, transfers: 0 }
    }

    /// Whether the library's own curve gave the lower number.
    pub fn by_library(&self) -> bool {
        self.library.is_some_and(|library| library < self.fixed)
    }
}

impl Curve {
    /// The accuracy at a quality, for this number of classes.
    pub fn at(self, quality: f64, classes: usize) -> f64 {
        let chance = 1.0 / classes.max(1) as f64;
        chance + (1.0 - chance) * sigmoid(self.a + self.b * quality)
    }

    /// Fits a curve to pairs of quality and true accuracy, pulled towards the fixed one.
    ///
    /// Minimises the cross-entropy plus `0.01·((a − a₀)² + (b − b₀)²/4)` by Fisher scoring, with
    /// halved steps where a whole one would climb.
    pub fn fit(points: &[(f64, f64)], classes: usize) -> Self {
        let mut curve = FIXED;
        let mut loss = curve.loss(points, classes);
        for _ in 0..STEPS {
            let (gradient, [aa, ab, bb]) = curve.derivatives(points, classes);
            let determinant = aa * bb - ab * ab;
            let da = (bb * gradient[0] - ab * gradient[1]) / determinant;
            let db = (aa * gradient[1] - ab * gradient[0]) / determinant;
            let mut step = 1.0;
            let next = loop {
                let next = Self { a: curve.a - step * da, b: curve.b - step * db };
                if next.loss(points, classes) <= loss || step < 1e-6 {
                    break next;
                }
                step /= 2.0;
            };
            let improved = loss - next.loss(points, classes);
            if improved <= 1e-12 {
                break;
            }
            (curve, loss) = (next, loss - improved);
        }
        curve
    }

    fn loss(self, points: &[(f64, f64)], classes: usize) -> f64 {
        let entropy = |(quality, accuracy): &(f64, f64)| {
            let p = probability(self.at(*quality, classes));
            -accuracy * p.ln() - (1.0 - accuracy) * (1.0 - p).ln()
        };
        let pull = (self.a - FIXED.a).powi(2) + (self.b - FIXED.b).powi(2) / 4.0;
        points.iter().map(entropy).sum::<f64>() + PULL * pull
    }

    /// Gradient of the loss, and the expected second derivatives aa, ab, bb.
    fn derivatives(self, points: &[(f64, f64)], classes: usize) -> ([f64; 2], [f64; 3]) {
        let mut gradient = [2.0 * PULL * (self.a - FIXED.a), 0.5 * PULL * (self.b - FIXED.b)];
        let mut second = [2.0 * PULL, 0.0, 0.5 * PULL];
        let chance = 1.0 / classes.max(1) as f64;
        for (quality, accuracy) in points {
            let s = sigmoid(self.a + self.b * quality);
            let p = probability(chance + (1.0 - chance) * s);
            let slope = (1.0 - chance) * s * (1.0 - s);
            let pull = (p - accuracy) / (p * (1.0 - p)) * slope;
            gradient[0] += pull;
            gradient[1] += pull * quality;
            let weight = slope * slope / (p * (1.0 - p));
            second[0] += weight;
            second[1] += weight * quality;
            second[2] += weight * quality * quality;
        }
        (gradient, second)
    }
}

fn sigmoid(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Keeps a probability away from zero and one, where its logarithm ends.
fn probability(p: f64) -> f64 {
    p.clamp(1e-12, 1.0 - 1e-12)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_fixed_curve_runs_from_chance_to_one() {
        assert!((FIXED.at(0.0, 4) - 0.252).abs() < 0.001);
        assert!(FIXED.at(1.0, 4) > 0.98 && FIXED.at(1.0, 4) < 1.0);
        assert!(FIXED.at(0.8, 13) < 0.9 && FIXED.at(0.83, 13) > 0.9);
    }

    /// `scipy.optimize.minimize` on the same loss; `tests/adapt/golden/curve.py` has the script.
    #[test]
    fn a_fit_agrees_with_scipy() {
        let points = [(0.95, 0.99), (0.9, 0.97), (0.6, 0.5), (0.85, 0.9), (0.97, 1.0)];
        let curve = Curve::fit(&points, 13);
        let golden = Curve { a: -6.344_976, b: 10.459_090 };
        assert!(
            (curve.a - golden.a).abs() < 1e-4 && (curve.b - golden.b).abs() < 1e-4,
            "{curve:?}"
        );
    }

    #[test]
    fn a_library_that_knows_of_wrong_labels_predicts_less() {
        // Labels of high quality that were wrong: the known machines contradict the fixed curve.
        let points = [(0.95, 0.4), (0.93, 0.5), (0.96, 0.45)];
        let curve = Curve::fit(&points, 4);
        assert!(curve.at(0.95, 4) < 0.6 && FIXED.at(0.95, 4) > 0.95, "{curve:?}");
    }
}

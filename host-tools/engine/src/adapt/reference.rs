//! The source in the features' own units, and the distances that measure a shift.
//!
//! Features are logarithms of band energies, so a difference is in nats in every band. A
//! standardised feature weighs a band by how much the *source's* classes differ there, which says
//! little about another machine. For fault types that the target never showed, standardised
//! features got 64 % of windows right and nats got 99 % (CWRU, between loads 0 and 3).

use ndarray::{Array1, Array2, ArrayRef1};

use crate::mixture::{Covariance, InvalidMixture, Mixture};
use crate::source::{Parts, Source};

/// A source's mixture in nats, with values derived from it.
#[derive(Debug, Clone)]
pub struct Reference {
    /// The mixture, over features that are not standardised.
    pub mixture: Mixture,
    /// Its variances, K × d.
    pub variances: Array2<f64>,
    /// Its label table, K × C.
    pub labels: Array2<f64>,
    /// The mean of each class, C × d.
    pub class_means: Array2<f64>,
    /// Median distance between the means of two classes.
    pub class_distance: f64,
    /// The healthy state, if the source has one.
    pub healthy: Option<HealthyReference>,
}

/// The healthy state of a source.
#[derive(Debug, Clone)]
pub struct HealthyReference {
    /// Index of the healthy class.
    pub class: usize,
    /// Its mean.
    pub mean: Array1<f64>,
    /// Its standard deviations.
    pub std: Array1<f64>,
    /// Median distance from the healthy state to a fault class.
    pub fault_distance: f64,
}

impl Reference {
    /// Converts `source` to nats.
    pub fn new(source: &Source) -> Result<Self, InvalidMixture> {
        Self::of(source.parts())
    }

    /// Converts the parts of a source to nats.
    pub fn of(source: Parts<'_>) -> Result<Self, InvalidMixture> {
        let standardised = &source.mixture.mixture;
        standardised.validate()?;
        let constants = || source.shift.iter().zip(source.scale);
        let raw_mean =
            |x: f64, (shift, scale): (&f32, &f32)| x / f64::from(*scale) + f64::from(*shift);
        let mut means = standardised.means.clone();
        for mut row in means.rows_mut() {
            row.iter_mut().zip(constants()).for_each(|(x, constants)| *x = raw_mean(*x, constants));
        }
        let mut variances = diagonal(standardised);
        for mut row in variances.rows_mut() {
            row.iter_mut().zip(source.scale).for_each(|(v, scale)| *v /= f64::from(*scale).powi(2));
        }
        let labels = source.mixture.labels.clone();
        let weights = &standardised.weights;
        let moments = |class: usize| {
            let weights = weights * &labels.column(class);
            let weights = &weights / weights.sum().max(f64::MIN_POSITIVE);
            let mean = means.t().dot(&weights);
            let spread = (&means - &mean).mapv(|x| x * x) + &variances;
            (mean, spread.t().dot(&weights).mapv(f64::sqrt))
        };
        let mut class_means = Array2::zeros((labels.ncols(), means.ncols()));
        for (class, mut row) in class_means.rows_mut().into_iter().enumerate() {
            row.assign(&moments(class).0);
        }
        let classes = 0..class_means.nrows();
        let pairs = classes.clone().flat_map(|a| (0..a).map(move |b| (a, b)));
        let between = |(a, b)| distance(&class_means.row(a), &class_means.row(b));
        let class_distance = median(pairs.map(between).collect());
        let healthy = source.healthy.map(|class| {
            let (mean, std) = moments(class);
            let faults = classes.clone().filter(|fault| *fault != class);
            let fault_distance =
                median(faults.map(|fault| distance(&class_means.row(fault), &mean)).collect());
            HealthyReference { class, mean, std, fault_distance }
        });
        let mixture = Mixture {
            weights: weights.clone(),
            means,
            covariance: Covariance::Diagonal(variances.clone()),
        };
        Ok(Self { mixture, variances, labels, class_means, class_distance, healthy })
    }
}

impl HealthyReference {
    /// How far the healthy state has moved to `mean`, in units of the typical fault distance.
    pub fn shift(&self, mean: &Array1<f64>) -> f64 {
        distance(mean, &self.mean) / self.fault_distance.max(f64::MIN_POSITIVE)
    }
}

/// Variances of each component; for a full covariance, its diagonal.
fn diagonal(mixture: &Mixture) -> Array2<f64> {
    let dim = mixture.means.dim();
    match &mixture.covariance {
        Covariance::Diagonal(variances) => variances.clone(),
        Covariance::Spherical(variances) => Array2::from_shape_fn(dim, |(k, _)| variances[k]),
        Covariance::Tied(matrix) => Array2::from_shape_fn(dim, |(_, i)| matrix[[i, i]]),
        Covariance::Full(matrices) => Array2::from_shape_fn(dim, |(k, i)| matrices[[k, i, i]]),
    }
}

/// Root mean square of the difference: a distance that does not grow with the number of features.
pub fn distance(a: &ArrayRef1<f64>, b: &ArrayRef1<f64>) -> f64 {
    let square: f64 = a.iter().zip(b).map(|(a, b)| (a - b).powi(2)).sum();
    (square / a.len().max(1) as f64).sqrt()
}

/// The middle value; the upper one of two; zero if there is none.
pub fn median(mut values: Vec<f64>) -> f64 {
    values.sort_by(f64::total_cmp);
    values.get(values.len() / 2).copied().unwrap_or(0.0)
}

/// Mean of each column; zero if there are no rows.
pub fn column_means(x: &Array2<f32>) -> Array1<f64> {
    // Row by row, without a copy in f64: features may take most of the memory.
    let mut sums = Array1::zeros(x.ncols());
    for row in x.rows() {
        sums.iter_mut().zip(row).for_each(|(sum, value)| *sum += f64::from(*value));
    }
    sums / x.nrows().max(1) as f64
}

#[cfg(test)]
pub(crate) mod tests {
    use ndarray::array;

    use super::*;
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::mixture::LabelledMixture;

    /// Healthy at (1, 2), a fault 2 nats up in the first feature, a fault 4 nats up in the second.
    /// All have standard deviations of 0.1 nats. The constants of the scaling are not round
    /// numbers.
    pub(crate) fn source() -> Source {
        let (shift, scale) = (vec![1.5_f32, 3.0], vec![0.8_f32, 0.25]);
        let raw = array![[1.0, 2.0], [3.0, 2.0], [1.0, 6.0]];
        let scales = Array1::from(scale.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        let shifts = Array1::from(shift.iter().map(|x| f64::from(*x)).collect::<Vec<_>>());
        let means = (&raw - &shifts) * &scales;
        let variances = Array2::from_elem((3, 2), 0.01) * (&scales * &scales);
        let mixture = Mixture {
            weights: Array1::from_elem(3, 1.0 / 3.0),
            means,
            covariance: Covariance::Diagonal(variances),
        };
        Source {
            version: 1,
            tool: String::new(),
            domain: "a".into(),
            classes: ["Healthy", "Ball", "Inner"].map(String::from).to_vec(),
            healthy: Some(0),
            front_end: FrontEndSettings::equal_bands(EqualBands {
                rate_hz: 100.0,
                axes: 1,
                fft_len: 256,
                hop: 128,
                segments: 1,
                bands: 2,
            })
            .unwrap(),
            shift,
            scale,
            mixture: LabelledMixture { mixture, labels: Array2::eye(3) },
            log_likelihood_min: None,
            windows: vec![10; 3],
            hash: "00".repeat(32),
            unit: None,
            full_scale: None,
        }
    }

    #[test]
    fn distances_are_in_nats_whatever_the_scaling() {
        let reference = Reference::new(&source()).unwrap();
        let healthy = reference.healthy.as_ref().unwrap();
        let close = |a: f64, b: f64| assert!((a - b).abs() < 1e-6, "{a} is not {b}");
        close(healthy.mean[0], 1.0);
        close(healthy.std[1], 0.1);
        // Faults at 2 and 4 nats in one of two features: this is the upper median of the two.
        close(healthy.fault_distance, (16.0_f64 / 2.0).sqrt());
        close(reference.class_distance, (16.0_f64 / 2.0).sqrt());
        close(healthy.shift(&array![1.0, 4.0]), 0.5);
        close(healthy.shift(&healthy.mean), 0.0);
    }
}

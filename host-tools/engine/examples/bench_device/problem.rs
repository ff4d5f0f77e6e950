//! A mixture, feature vectors, and their results in f64.

use ndarray::{Array1, Array2};
use rebearing_host::mixture::{Covariance, Mixture};
use rebearing_host::model::early_drop::float::EarlyDrop;

use crate::draw::Draw;

/// Classes of every problem: healthy and four faults.
pub(crate) const CLASSES: usize = 5;
/// Number of feature vectors in a problem. Instructions that vary with the vector are averaged.
const VECTORS: usize = 8;
/// First word of a file.
const MAGIC: [u8; 4] = *b"BNCH";

/// How the components lie relative to each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Case {
    /// Apart, like the states of a machine. The means are random with a standard deviation of one,
    /// and the components' own standard deviations are from 0.5 to 1. The vectors are drawn from
    /// the mixture.
    Clustered,
    /// All in one place, so every component has a share in every vector.
    Worst,
}

impl Case {
    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Clustered => "clustered",
            Self::Worst => "worst",
        }
    }

    pub(crate) fn number(self) -> usize {
        match self {
            Self::Clustered => 1,
            Self::Worst => 2,
        }
    }

    /// Returns the standard deviation of the means, and the range of the components' own.
    fn spread(self) -> (f64, [f64; 2]) {
        match self {
            Self::Clustered => (1.0, [0.5, 1.0]),
            Self::Worst => (0.02, [0.98, 1.0]),
        }
    }
}

/// A mixture as the device stores it, and vectors to evaluate it at.
pub(crate) struct Problem {
    pub(crate) case: Case,
    pub(crate) dims: usize,
    pub(crate) early_drop: EarlyDrop,
    pub(crate) constants: Vec<f32>,
    /// For each component its scales r, then its offsets m.
    pub(crate) whitening: Vec<f32>,
    pub(crate) labels: Vec<f32>,
    pub(crate) vectors: Vec<Vec<f32>>,
}

/// Results for one vector.
pub(crate) struct Reference {
    pub(crate) log_likelihood: f64,
    pub(crate) posterior: Vec<f64>,
    responsibilities: Vec<f64>,
}

impl Problem {
    pub(crate) fn draw(components: usize, dims: usize, case: Case) -> Self {
        let mut draw = Draw::new((components * 10_000 + dims) as u64);
        let (spread, [narrow, wide]) = case.spread();
        let means: Vec<f64> = (0..components * dims).map(|_| spread * draw.normal()).collect();
        let stds: Vec<f64> = (0..components * dims).map(|_| draw.uniform(narrow, wide)).collect();
        let table = |numbers: &[f64]| {
            Array2::from_shape_fn((components, dims), |(k, i)| numbers[k * dims + i])
        };
        let mixture = Mixture {
            weights: Array1::from_elem(components, 1.0 / components as f64),
            means: table(&means),
            covariance: Covariance::Diagonal(table(&stds).mapv(|std| std * std)),
        };
        let mut early_drop = EarlyDrop::choose(&mixture).expect("more than one block of features");
        early_drop.features = match case {
            Case::Clustered if early_drop.pays() => early_drop.features,
            Case::Clustered => 0,
            // Nobody would use early drop for such a mixture. This measures what it costs if
            // someone does.
            Case::Worst => Self::draw(components, dims, Case::Clustered).early_drop.features,
        };
        let mut problem = Self {
            case,
            dims,
            early_drop,
            constants: Vec::new(),
            whitening: Vec::new(),
            labels: Vec::new(),
            vectors: Vec::new(),
        };
        let half_ln_tau = 0.5 * std::f64::consts::TAU.ln();
        for k in 0..components {
            let (mean, std) = (&means[k * dims..][..dims], &stds[k * dims..][..dims]);
            let ln_volume: f64 = std.iter().map(|std| half_ln_tau + std.ln()).sum();
            problem.constants.push((-(components as f64).ln() - ln_volume) as f32);
            let order = &problem.early_drop.order;
            problem.whitening.extend(order.iter().map(|i| (1.0 / std[*i]) as f32));
            problem.whitening.extend(order.iter().map(|i| (-mean[*i] / std[*i]) as f32));
            let class = |c| if c == k % CLASSES { 1.0 } else { 0.0 };
            problem.labels.extend((0..CLASSES).map(class));
        }
        for _ in 0..VECTORS {
            let at = draw.below(components) * dims;
            let x = (at..at + dims).map(|i| (means[i] + stds[i] * draw.normal()) as f32);
            problem.vectors.push(x.collect());
        }
        problem
    }

    /// Computes the results by the definitions, from the numbers as they are stored.
    pub(crate) fn reference(&self, x: &[f32]) -> Reference {
        let scores: Vec<f64> = self
            .constants
            .iter()
            .zip(self.whitening.chunks_exact(2 * self.dims))
            .map(|(constant, whitening)| {
                let (r, m) = whitening.split_at(self.dims);
                let square = |((r, m), i): ((&f32, &f32), &usize)| {
                    (f64::from(*r) * f64::from(x[*i]) + f64::from(*m)).powi(2)
                };
                let order = &self.early_drop.order;
                f64::from(*constant) - 0.5 * r.iter().zip(m).zip(order).map(square).sum::<f64>()
            })
            .collect();
        let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = scores.iter().map(|score| (score - largest).exp()).sum();
        let log_likelihood = largest + sum.ln();
        let responsibilities: Vec<f64> =
            scores.iter().map(|score| (score - log_likelihood).exp()).collect();
        let mut posterior = vec![0.0; CLASSES];
        for (r, row) in responsibilities.iter().zip(self.labels.chunks_exact(CLASSES)) {
            for (p, label) in posterior.iter_mut().zip(row) {
                *p += r * f64::from(*label);
            }
        }
        Reference { log_likelihood, posterior, responsibilities }
    }

    /// Returns the file that `firmware_examples::bench::problem` reads.
    pub(crate) fn f32_bytes(&self) -> Vec<u8> {
        let mut bytes = MAGIC.to_vec();
        let counts = [self.constants.len(), self.dims, CLASSES, self.vectors.len()];
        let order = self.early_drop.order.iter().copied();
        let words = counts
            .into_iter()
            .chain([self.early_drop.features, self.case.number(), 0])
            .chain(order);
        bytes.extend(words.flat_map(|word| (word as u32).to_le_bytes()));
        let mut put = |floats: &[f32]| bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        put(&self.constants);
        put(&self.whitening);
        put(&self.labels);
        let rounded = |x: &[f64]| x.iter().map(|x| *x as f32).collect::<Vec<_>>();
        for x in &self.vectors {
            let reference = self.reference(x);
            put(x);
            put(&[reference.log_likelihood as f32]);
            put(&rounded(&reference.posterior));
            put(&rounded(&reference.responsibilities));
        }
        bytes
    }

    /// Returns the file that the firmware `bench-emlearn` reads: the first vector, and every
    /// diagonal covariance as the Cholesky factor of a full precision matrix.
    pub(crate) fn emlearn_bytes(&self) -> Vec<u8> {
        let (components, dims) = (self.constants.len(), self.dims);
        let mut bytes = b"EMLN".to_vec();
        let counts = [components as u32, dims as u32, 0, 0, 0, 0, 0];
        bytes.extend(counts.iter().flat_map(|count| count.to_le_bytes()));
        let mut put = |floats: &[f32]| bytes.extend(floats.iter().flat_map(|x| x.to_le_bytes()));
        // Everything, the vector too, is in the order of the components' own numbers.
        let rows: Vec<(&[f32], &[f32])> =
            self.whitening.chunks_exact(2 * dims).map(|row| row.split_at(dims)).collect();
        for (r, m) in &rows {
            put(&r.iter().zip(*m).map(|(r, m)| -m / r).collect::<Vec<_>>());
        }
        for (r, _) in &rows {
            for (i, r) in r.iter().enumerate() {
                let mut row = vec![0.0; dims];
                row[i] = *r;
                put(&row);
            }
        }
        let ln_det =
            |(r, _): &(&[f32], &[f32])| r.iter().map(|r| f64::from(*r).ln()).sum::<f64>() as f32;
        put(&rows.iter().map(ln_det).collect::<Vec<_>>());
        put(&vec![-(components as f32).ln(); components]);
        let x = &self.vectors[0];
        put(&self.early_drop.order.iter().map(|i| x[*i]).collect::<Vec<_>>());
        let reference = self.reference(x);
        put(&[reference.log_likelihood as f32]);
        put(&reference.responsibilities.iter().map(|r| *r as f32).collect::<Vec<_>>());
        bytes
    }
}

//! The scaling iterations behind Sinkhorn and its relaxed variants.
//!
//! The plan is `P_ij = a_i b_j exp(f_i + g_j − c_ij/ε)`, and the two potentials are set in turn.
//! For a held marginal, the update meets the marginal. For a marginal with a KL penalty of weight
//! τ, the update is the fraction τ/(τ+ε) of that (Chizat et al. 2018).
//!
//! Potentials are kept as logarithms. Between two evaluations of the exponentials, the iterations
//! multiply a kernel by scalings. This is the same arithmetic without exponentials. When a scaling
//! leaves a safe range, it is absorbed into the potentials and the kernel is computed again
//! (Schmitzer 2019). Epsilon is lowered in steps, and each step starts from the potentials of the
//! one before. If both marginals are held and the iterations make no progress, Newton's method
//! finishes the work.
//!
//! We have our own code because the only crate works in single precision.

use ndarray::{Array1, Array2, ArrayRef2};

use super::newton;
use super::overrelaxation::Overrelaxation;
use crate::progress::pulse;
use crate::transport::TransportError;

/// Scalings outside `1/SAFE..SAFE` are absorbed.
const SAFE: f64 = 1e30;
/// Kernel entries with an exponent below this are set to zero. No two scalings can make such an
/// entry matter. Products with it would be subnormal, which are a hundred times slower on most
/// processors.
const NEGLIGIBLE: f64 = -500.0;
/// Epsilons from this value up are used directly, without larger ones before.
const DIRECT: f64 = 5e-3;
/// The first epsilon otherwise.
const FIRST_EPSILON: f64 = 2e-2;
/// Ratio of an epsilon to the one before.
const EPSILON_STEP: f64 = 0.25;
/// Marginal error at which an intermediate epsilon is done.
const STEP_TOLERANCE: f64 = 1e-2;
/// Iteration limit of an intermediate epsilon.
const STEP_ITERATIONS: usize = 100;
/// Iterations at the last epsilon, with held marginals, before Newton's method takes over.
const PATIENCE: usize = 1000;
/// Largest deviation from one, of the ratio of a weight to its marginal, for which overrelaxed
/// steps are linear.
const NEARLY_ONE: f64 = 0.1;
/// Smallest epsilon. Below it, potentials over epsilon have no digits left for the marginals.
const LEAST_EPSILON: f64 = 1e-12;

/// Settings of the iterations.
#[derive(Debug, Clone, Copy)]
pub(super) struct Settings {
    /// Weight of the entropy, relative to the largest cost.
    pub(super) epsilon: f64,
    /// Weights of the KL penalties of rows and columns, in the same unit; infinite if the side is
    /// held.
    pub(super) taus: [f64; 2],
    pub(super) tolerance: f64,
    pub(super) max_iterations: usize,
}

impl Settings {
    fn check(&self) -> Result<(), TransportError> {
        let parameter =
            |name, value, allowed| Err(TransportError::Parameter { name, value, allowed });
        if !(self.epsilon.is_finite() && self.epsilon >= LEAST_EPSILON) {
            return parameter(
                "epsilon",
                self.epsilon,
                "finite and at least 1e-12 of the largest cost",
            );
        }
        if let Some(tau) = self.taus.into_iter().find(|tau| tau.is_nan() || *tau <= 0.0) {
            return parameter("tau", tau, "positive");
        }
        if !(self.tolerance.is_finite() && self.tolerance > 0.0) {
            return parameter("tolerance", self.tolerance, "positive and finite");
        }
        Ok(())
    }

    /// The exponents τ/(τ+ε) of the two updates.
    fn exponents(&self, epsilon: f64) -> [f64; 2] {
        self.taus.map(|tau| if tau.is_infinite() { 1.0 } else { tau / (tau + epsilon) })
    }
}

/// A plan, the number of iterations, and the potentials in units of the cost.
pub(super) struct Scaled {
    pub(super) plan: Array2<f64>,
    pub(super) iterations: usize,
    pub(super) duals: (Array1<f64>, Array1<f64>),
}

/// Runs the iterations on checked weights and costs. `largest` is the cost's largest magnitude.
pub(super) fn solve(
    a: &[f64],
    b: &[f64],
    cost: &ArrayRef2<f64>,
    largest: f64,
    settings: &Settings,
) -> Result<Scaled, TransportError> {
    settings.check()?;
    let scale = if largest > 0.0 { largest } else { 1.0 };
    let support = |weights: &[f64]| -> Vec<usize> {
        (0..weights.len()).filter(|&i| weights[i] > 0.0).collect()
    };
    let (rows, columns) = (support(a), support(b));
    let mut state = State {
        a: rows.iter().map(|&i| a[i]).collect(),
        b: columns.iter().map(|&j| b[j]).collect(),
        costs: rows
            .iter()
            .flat_map(|&i| columns.iter().map(move |&j| cost[[i, j]] / scale))
            .collect(),
        f: vec![0.0; rows.len()],
        g: vec![0.0; columns.len()],
        kernel: vec![0.0; rows.len() * columns.len()],
        epsilon: 1.0,
    };
    let iterations = state.descend(settings)?;

    let epsilon = settings.epsilon;
    let mut plan = Array2::zeros(cost.dim());
    for (&i, masses) in rows.iter().zip(state.kernel.chunks_exact(columns.len())) {
        for (&j, &mass) in columns.iter().zip(masses) {
            plan[[i, j]] = mass;
        }
    }
    let mut f = Array1::from_elem(a.len(), f64::NAN);
    for (&i, &potential) in rows.iter().zip(&state.f) {
        f[i] = potential;
    }
    let mut g = Array1::from_elem(b.len(), f64::NAN);
    for (&j, &potential) in columns.iter().zip(&state.g) {
        g[j] = potential;
    }
    // Rows and columns without weight get the potentials that the update would give them.
    let [row_exponent, column_exponent] = settings.exponents(epsilon);
    for i in (0..a.len()).filter(|&i| a[i] <= 0.0) {
        let exponents = |(&j, g): (&usize, &f64)| (b[j], g - cost[[i, j]] / scale / epsilon);
        f[i] = -row_exponent * log_sum_exp(columns.iter().zip(&state.g).map(exponents));
    }
    for j in (0..b.len()).filter(|&j| b[j] <= 0.0) {
        let exponents = |(&i, f): (&usize, &f64)| (a[i], f - cost[[i, j]] / scale / epsilon);
        g[j] = -column_exponent * log_sum_exp(rows.iter().zip(&state.f).map(exponents));
    }
    let unit = epsilon * scale;
    Ok(Scaled { plan, iterations, duals: (f * unit, g * unit) })
}

/// `ln Σ w exp(x)` over pairs `(w, x)` with positive w.
fn log_sum_exp(terms: impl Iterator<Item = (f64, f64)> + Clone) -> f64 {
    let largest = terms.clone().map(|(_, x)| x).fold(f64::NEG_INFINITY, f64::max);
    largest + terms.map(|(w, x)| w * (x - largest).exp()).sum::<f64>().ln()
}

/// Weights, costs (row by row, largest magnitude one), potentials over epsilon, and the kernel.
pub(super) struct State {
    pub(super) a: Vec<f64>,
    pub(super) b: Vec<f64>,
    pub(super) costs: Vec<f64>,
    pub(super) f: Vec<f64>,
    pub(super) g: Vec<f64>,
    pub(super) kernel: Vec<f64>,
    pub(super) epsilon: f64,
}

impl State {
    /// Lowers epsilon to its final value and iterates there to the tolerance.
    fn descend(&mut self, settings: &Settings) -> Result<usize, TransportError> {
        let mut done = 0;
        let mut epsilon = if settings.epsilon < DIRECT { FIRST_EPSILON } else { settings.epsilon };
        self.start(epsilon);
        loop {
            // Potentials keep their value in units of the cost.
            let ratio = self.epsilon / epsilon;
            self.f.iter_mut().chain(&mut self.g).for_each(|x| *x *= ratio);
            self.epsilon = epsilon;
            let last = epsilon <= settings.epsilon;
            let held = settings.exponents(epsilon) == [1.0; 2];
            let (tolerance, limit) = if last && held {
                (settings.tolerance, settings.max_iterations.min(done + PATIENCE))
            } else if last {
                (settings.tolerance, settings.max_iterations)
            } else {
                (STEP_TOLERANCE, settings.max_iterations.min(done + STEP_ITERATIONS))
            };
            let mut error = self.iterate(settings.exponents(epsilon), tolerance, limit, &mut done);
            if last {
                if held && error > tolerance && done < settings.max_iterations {
                    error = newton::finish(self, tolerance, settings.max_iterations, &mut done);
                }
                return if error <= tolerance {
                    Ok(done)
                } else {
                    Err(TransportError::NotConverged {
                        iterations: done,
                        marginal_error: error,
                        tolerance,
                    })
                };
            }
            epsilon = (epsilon * EPSILON_STEP).max(settings.epsilon);
        }
    }

    /// Sets feasible starting potentials. No exponent is above zero, and every row and column has
    /// one that is zero, so no sum of the kernel underflows.
    fn start(&mut self, epsilon: f64) {
        self.epsilon = epsilon;
        self.g.fill(f64::INFINITY);
        for (row, f) in self.costs.chunks_exact(self.g.len()).zip(&mut self.f) {
            *f = row.iter().fold(f64::INFINITY, |least, &c| if c < least { c } else { least });
            for (g, c) in self.g.iter_mut().zip(row) {
                let slack = c - *f;
                *g = if slack < *g { slack } else { *g };
            }
        }
        for potential in self.f.iter_mut().chain(&mut self.g) {
            *potential /= epsilon;
        }
    }

    /// Iterates at the current epsilon and returns the last error. The kernel becomes the plan.
    fn iterate(
        &mut self,
        exponents: [f64; 2],
        tolerance: f64,
        limit: usize,
        done: &mut usize,
    ) -> f64 {
        let mut pace = Overrelaxation::new();
        loop {
            self.fill_kernel();
            let mut scalings = Scalings::new(&self.f, &self.g, exponents);
            let mut error = f64::INFINITY;
            while error > tolerance && *done < limit && scalings.safe {
                pulse();
                let omega = pace.omega();
                error = scalings.update(&self.kernel, &self.a, &self.b, omega);
                *done += 1;
                if exponents == [1.0; 2] {
                    pace.observe(error);
                    if omega > 1.0 && error <= tolerance {
                        // Only a plain iteration meets the columns exactly.
                        pace = Overrelaxation::new();
                        error = f64::INFINITY;
                    }
                }
            }
            let finite = absorb(&mut self.f, &scalings.u) & absorb(&mut self.g, &scalings.v);
            if scalings.safe {
                scalings.apply(&mut self.kernel);
                return error;
            }
            if !finite {
                self.log_update(exponents);
                *done += 1;
            }
            if *done >= limit {
                self.fill_kernel();
                return f64::INFINITY;
            }
        }
    }

    /// One iteration in the log domain, from any potentials.
    pub(super) fn log_update(&mut self, [row_exponent, column_exponent]: [f64; 2]) {
        let n = self.b.len();
        let epsilon = self.epsilon;
        for (row, f) in self.costs.chunks_exact(n).zip(&mut self.f) {
            let terms =
                row.iter().zip(&self.g).zip(&self.b).map(|((c, g), b)| (*b, g - c / epsilon));
            *f = -row_exponent * log_sum_exp(terms);
        }
        let mut largest = vec![f64::NEG_INFINITY; n];
        for (row, f) in self.costs.chunks_exact(n).zip(&self.f) {
            for (largest, c) in largest.iter_mut().zip(row) {
                *largest = largest.max(f - c / epsilon);
            }
        }
        let mut sums = vec![0.0; n];
        for ((row, f), a) in self.costs.chunks_exact(n).zip(&self.f).zip(&self.a) {
            for ((sum, largest), c) in sums.iter_mut().zip(&largest).zip(row) {
                *sum += a * (f - c / epsilon - largest).exp();
            }
        }
        for ((g, sum), largest) in self.g.iter_mut().zip(&sums).zip(&largest) {
            *g = -column_exponent * (largest + sum.ln());
        }
    }

    /// Computes the plan of the current potentials.
    pub(super) fn fill_kernel(&mut self) {
        let n = self.b.len();
        let rows = self.kernel.chunks_exact_mut(n).zip(self.costs.chunks_exact(n));
        for ((kernel, costs), (a, f)) in rows.zip(self.a.iter().zip(&self.f)) {
            for ((k, c), (b, g)) in kernel.iter_mut().zip(costs).zip(self.b.iter().zip(&self.g)) {
                let exponent = f + g - c / self.epsilon;
                *k = if exponent > NEGLIGIBLE { a * b * exponent.exp() } else { 0.0 };
            }
        }
    }
}

/// Adds scalings to potentials. Returns whether all had a finite logarithm. The others are skipped,
/// and an update in the log domain corrects them later.
fn absorb(potentials: &mut [f64], scalings: &[f64]) -> bool {
    let mut finite = true;
    for (potential, scaling) in potentials.iter_mut().zip(scalings) {
        let log = scaling.ln();
        finite &= log.is_finite();
        *potential += if log.is_finite() { log } else { 0.0 };
    }
    finite
}

/// Factors of the rows and columns of the kernel.
struct Scalings {
    u: Vec<f64>,
    v: Vec<f64>,
    exponents: [f64; 2],
    /// The last factor, for rows and columns, of the new scaling. With exponent e the new scaling
    /// of row i is `(a_i / sum_i)^e · exp((e − 1) f_i)`.
    damping: [Vec<f64>; 2],
    column_sums: Vec<f64>,
    /// Whether all scalings are within the safe range.
    safe: bool,
}

impl Scalings {
    fn new(f: &[f64], g: &[f64], exponents: [f64; 2]) -> Self {
        let damping = |potentials: &[f64], exponent: f64| -> Vec<f64> {
            potentials.iter().map(|x| ((exponent - 1.0) * x).exp()).collect()
        };
        Self {
            u: vec![1.0; f.len()],
            v: vec![1.0; g.len()],
            exponents,
            damping: [damping(f, exponents[0]), damping(g, exponents[1])],
            column_sums: vec![0.0; g.len()],
            safe: true,
        }
    }

    /// Multiplies the kernel by the scalings.
    fn apply(&self, kernel: &mut [f64]) {
        for (row, u) in kernel.chunks_exact_mut(self.v.len()).zip(&self.u) {
            for (k, v) in row.iter_mut().zip(&self.v) {
                *k *= u * v;
            }
        }
    }

    /// One iteration: rows, then columns. Returns the error before it.
    fn update(&mut self, kernel: &[f64], a: &[f64], b: &[f64], omega: f64) -> f64 {
        let [row_exponent, column_exponent] = self.exponents;
        let contraction = row_exponent * column_exponent;
        let next = |old: f64, target: f64, sum: f64, exponent: f64, damping: f64| {
            if exponent < 1.0 {
                (target / sum).powf(exponent) * damping
            } else if omega > 1.0 {
                let excess = target / (sum * old) - 1.0;
                // Near the limit the power is nearly linear, and the linear form is quicker.
                if excess.abs() < NEARLY_ONE {
                    old * (1.0 + omega * excess)
                } else {
                    old * (1.0 + excess).powf(omega)
                }
            } else {
                target / sum
            }
        };
        let is_safe = |scaling: f64| scaling > 1.0 / SAFE && scaling < SAFE;
        let mut change = 0.0_f64;
        let mut row_error = 0.0;
        self.column_sums.fill(0.0);
        // One pass over the kernel does both products: a row is still in the cache from its own sum
        // when it is added to the column sums.
        for (i, row) in kernel.chunks_exact(self.v.len()).enumerate() {
            let (old, sum) = (self.u[i], dot(row, &self.v));
            row_error += (old * sum - a[i]).abs();
            let new = next(old, a[i], sum, row_exponent, self.damping[0][i]);
            change = change.max((new / old - 1.0).abs());
            self.safe &= is_safe(new);
            self.u[i] = new;
            for (column_sum, k) in self.column_sums.iter_mut().zip(row) {
                *column_sum += new * k;
            }
        }
        for (j, &sum) in self.column_sums.iter().enumerate() {
            let old = self.v[j];
            let new = next(old, b[j], sum, column_exponent, self.damping[1][j]);
            change = change.max((new / old - 1.0).abs());
            self.safe &= is_safe(new);
            self.v[j] = new;
        }
        if contraction < 1.0 {
            // The update contracts by this factor in the sup norm. So this bounds the distance of
            // the potentials from their limit.
            change * contraction / (1.0 - contraction)
        } else {
            row_error
        }
    }
}

/// A dot product in lanes that become vector code.
fn dot(x: &[f64], y: &[f64]) -> f64 {
    const LANES: usize = 8;
    let (xs, x_rest) = x.as_chunks::<LANES>();
    let (ys, y_rest) = y.as_chunks::<LANES>();
    let mut lanes = [0.0; LANES];
    for (xs, ys) in xs.iter().zip(ys) {
        for ((lane, x), y) in lanes.iter_mut().zip(xs).zip(ys) {
            *lane += x * y;
        }
    }
    lanes.iter().sum::<f64>() + x_rest.iter().zip(y_rest).map(|(x, y)| x * y).sum::<f64>()
}

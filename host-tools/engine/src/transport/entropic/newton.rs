//! Newton's method, for entropic plans on which scaling iterations are very slow.
//!
//! If rows and columns fall into groups that are far apart (in units of epsilon), the plan has
//! hardly any mass between the groups. Scaling then sets the potentials within each group at once,
//! but shifts one group against another by almost nothing per iteration. The error stands still,
//! and overrelaxation has nothing to estimate. Newton's method solves for all potentials together
//! (Brauer et al. 2017). With P the plan and r, c its marginals, the step (x, y) satisfies
//!
//! ```text
//! r∘x + P y = a − r,    Pᵀx + c∘y = b − c,
//! ```
//!
//! Here x is eliminated. Conjugate gradients solve the remaining system. They need few iterations,
//! because nearly all eigenvalues are near one; each small eigenvalue belongs to a pair of groups.
//! The start is the duals of the exact plan, because they are already near the groups' potentials.
//! From another start Newton's steps would have to be cut short a hundred times.

use ndarray::Array2;

use super::scaling::State;
use crate::progress::pulse;
use crate::transport::exact;

/// Largest change of a potential in one step, in units of epsilon. The exponential is nearly linear
/// only up to there.
const LARGEST_STEP: f64 = 4.0;
/// A step is accepted if it gives at least this fraction of the rise that the slope predicts.
const RISE: f64 = 1e-4;
/// Largest number of times that a step is halved.
const HALVINGS: usize = 30;
/// Conjugate gradients stop at this fraction of the right-hand side, or at the marginal error if
/// that is smaller. The last steps then converge quadratically.
const RESIDUAL: f64 = 0.1;
/// Largest number of conjugate gradient iterations.
const MOST_GRADIENTS: usize = 500;

/// Reduces the error to the tolerance and returns the last error. A pass over the plan counts as an
/// iteration, and `done` may reach `limit`. The kernel becomes the plan.
pub(super) fn finish(state: &mut State, tolerance: f64, limit: usize, done: &mut usize) -> f64 {
    start_from_exact(state);
    loop {
        pulse();
        // Meets the columns exactly and the rows nearly.
        state.log_update([1.0; 2]);
        state.fill_kernel();
        *done += 2;
        let rows = row_sums(state);
        let error = state.a.iter().zip(&rows).map(|(a, r)| (a - r).abs()).sum::<f64>();
        // NaN must not count as a small error.
        if error <= tolerance || error.is_nan() || *done >= limit {
            return error;
        }
        let step = Step::solve(state, &rows, error, done);
        step.take(state, done);
    }
}

/// Sets the potentials to those of the exact plan. If there is none, they stay as they are.
fn start_from_exact(state: &mut State) {
    let shape = (state.a.len(), state.b.len());
    let Ok(cost) = Array2::from_shape_vec(shape, state.costs.clone()) else { return };
    let Ok(plan) = exact::solve(&state.a, &state.b, &cost, &exact::Options::default()) else {
        return;
    };
    for (potential, dual) in state.f.iter_mut().zip(&plan.duals.0) {
        *potential = dual / state.epsilon;
    }
    for (potential, dual) in state.g.iter_mut().zip(&plan.duals.1) {
        *potential = dual / state.epsilon;
    }
}

fn row_sums(state: &State) -> Vec<f64> {
    let sum = |row: &[f64]| row.iter().sum::<f64>().max(f64::MIN_POSITIVE);
    state.kernel.chunks_exact(state.b.len()).map(sum).collect()
}

/// Changes of the potentials, and the slope of the dual along them.
struct Step {
    rows: Vec<f64>,
    columns: Vec<f64>,
    slope: f64,
}

impl Step {
    /// Newton's step at the plan in the kernel. The plan has row sums `rows` and meets the columns.
    fn solve(state: &State, rows: &[f64], error: f64, done: &mut usize) -> Self {
        let excess: Vec<f64> = state.a.iter().zip(rows).map(|(a, r)| a - r).collect();
        let roots: Vec<f64> = state.b.iter().map(|b| b.sqrt()).collect();
        let over =
            |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| x / y).collect() };
        let relative = over(&excess, rows);
        // In units of √b the matrix is the identity minus QᵀQ, with Q = P / √(r bᵀ).
        let apply = |x: &[f64]| -> Vec<f64> {
            let moved = over(&times(state, &over(x, &roots)), rows);
            let back = over(&transposed_times(state, &moved), &roots);
            x.iter().zip(&back).map(|(x, y)| x - y).collect()
        };
        let right: Vec<f64> =
            over(&transposed_times(state, &relative), &roots).iter().map(|x| -x).collect();
        let solution = conjugate_gradients(apply, right, RESIDUAL.min(error), done);
        let columns = over(&solution, &roots);
        let carried = times(state, &columns);
        let step = excess.iter().zip(&carried).zip(rows).map(|((e, y), r)| (e - y) / r);
        let step: Vec<f64> = step.collect();
        let slope = excess.iter().zip(&step).map(|(e, x)| e * x).sum();
        *done += 2;
        Self { rows: step, columns, slope }
    }

    /// Takes the step, or the part of it that makes the concave dual rise.
    fn take(&self, state: &mut State, done: &mut usize) {
        let longest =
            self.rows.iter().chain(&self.columns).fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut share = if longest > LARGEST_STEP { LARGEST_STEP / longest } else { 1.0 };
        let before = (state.f.clone(), state.g.clone());
        let dual_before = dual(state);
        // Smaller differences of the dual are rounding.
        let rounding = 8.0 * f64::EPSILON * (1.0 + dual_before.abs());
        for _ in 0..HALVINGS {
            let moved = |potentials: &mut [f64], from: &[f64], step: &[f64]| {
                for ((potential, from), step) in potentials.iter_mut().zip(from).zip(step) {
                    *potential = from + share * step;
                }
            };
            moved(&mut state.f, &before.0, &self.rows);
            moved(&mut state.g, &before.1, &self.columns);
            state.fill_kernel();
            *done += 1;
            if dual(state) >= dual_before + RISE * share * self.slope - rounding {
                return;
            }
            share /= 2.0;
        }
        // This step gains nothing more, but the scaling after it still does.
        (state.f, state.g) = before;
    }
}

/// The dual of the problem at the kernel's potentials.
fn dual(state: &State) -> f64 {
    let linear = |weights: &[f64], potentials: &[f64]| -> f64 {
        weights.iter().zip(potentials).map(|(w, x)| w * x).sum()
    };
    linear(&state.a, &state.f) + linear(&state.b, &state.g) - state.kernel.iter().sum::<f64>()
}

/// `P x`
fn times(state: &State, x: &[f64]) -> Vec<f64> {
    let rows = state.kernel.chunks_exact(state.b.len());
    rows.map(|row| row.iter().zip(x).map(|(p, x)| p * x).sum()).collect()
}

/// `Pᵀ x`
fn transposed_times(state: &State, x: &[f64]) -> Vec<f64> {
    let mut sums = vec![0.0; state.b.len()];
    for (row, x) in state.kernel.chunks_exact(state.b.len()).zip(x) {
        for (sum, p) in sums.iter_mut().zip(row) {
            *sum += p * x;
        }
    }
    sums
}

/// Solves `apply(x) = right` for a symmetric, positive semidefinite `apply`, up to `residual` of
/// the right-hand side. Each application passes over the plan twice.
fn conjugate_gradients(
    apply: impl Fn(&[f64]) -> Vec<f64>,
    right: Vec<f64>,
    residual: f64,
    done: &mut usize,
) -> Vec<f64> {
    let dot = |x: &[f64], y: &[f64]| -> f64 { x.iter().zip(y).map(|(x, y)| x * y).sum() };
    let mut solution = vec![0.0; right.len()];
    let mut direction = right.clone();
    let mut rest = right;
    let mut square = dot(&rest, &rest);
    let enough = residual * residual * square;
    for _ in 0..MOST_GRADIENTS {
        pulse();
        if square <= enough {
            break;
        }
        let applied = apply(&direction);
        *done += 2;
        let curvature = dot(&direction, &applied);
        // Along a constant the plan does not change. Rounding leads there in the end.
        if curvature <= f64::MIN_POSITIVE {
            break;
        }
        let length = square / curvature;
        for (((x, rest), d), ad) in solution.iter_mut().zip(&mut rest).zip(&direction).zip(&applied)
        {
            *x += length * d;
            *rest -= length * ad;
        }
        let next = dot(&rest, &rest);
        for (d, rest) in direction.iter_mut().zip(&rest) {
            *d = rest + next / square * *d;
        }
        square = next;
    }
    solution
}

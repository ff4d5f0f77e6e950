//! Newton's method for entropic plans on which scaling iterations crawl.
//!
//! Where rows and columns fall into groups far apart (in units of epsilon), hardly any mass of the plan
//! lies between the groups. Scaling then sets the potentials within each group at once, but shifts those
//! of one group against another's by next to nothing in an iteration: the error stands still, and
//! overrelaxation has nothing to estimate. Newton's method solves for all potentials together (Brauer et
//! al. 2017): with P the plan and r, c its marginals, the step (x, y) satisfies
//!
//! ```text
//! r∘x + P y = a − r,    Pᵀx + c∘y = b − c,
//! ```
//!
//! of which x is eliminated. What is left is solved by conjugate gradients, which need few iterations:
//! nearly all its eigenvalues are near one, and a small one stands for a pair of groups. The start is from
//! the duals of the exact plan, which the groups' potentials are near already; from elsewhere Newton's
//! steps would have to be cut short a hundred times.

use ndarray::Array2;

use super::scaling::State;
use crate::transport::exact;

/// Largest change of a potential in one step, in units of epsilon: the exponential is a line for no more.
const LARGEST_STEP: f64 = 4.0;
/// Share of the rise that the slope promises with which a step is taken, and halvings of it at most.
const RISE: f64 = 1e-4;
const HALVINGS: usize = 30;
/// Conjugate gradients stop at this share of the right-hand side, or at the marginal error if that is
/// less, so that the last steps are quadratic.
const RESIDUAL: f64 = 0.1;
const MOST_GRADIENTS: usize = 500;

/// Brings the error to the tolerance, counting a pass over the plan as an iteration, of which `done` may
/// reach `limit`; the kernel ends as the plan. Gives the last error.
pub(super) fn finish(state: &mut State, tolerance: f64, limit: usize, done: &mut usize) -> f64 {
    start_from_exact(state);
    loop {
        // Meets the columns exactly, and the rows nearly.
        state.log_update([1.0; 2]);
        state.fill_kernel();
        *done += 2;
        let rows = row_sums(state);
        let error = state.a.iter().zip(&rows).map(|(a, r)| (a - r).abs()).sum::<f64>();
        // An error that is NaN must not pass for one that is small.
        if error <= tolerance || error.is_nan() || *done >= limit {
            return error;
        }
        let step = Step::solve(state, &rows, error, done);
        step.take(state, done);
    }
}

/// Potentials of the exact plan; those at hand stay where there is none.
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
    /// Newton's step at the plan in the kernel, whose row sums are `rows` and whose columns are met.
    fn solve(state: &State, rows: &[f64], error: f64, done: &mut usize) -> Self {
        let excess: Vec<f64> = state.a.iter().zip(rows).map(|(a, r)| a - r).collect();
        let roots: Vec<f64> = state.b.iter().map(|b| b.sqrt()).collect();
        let over =
            |x: &[f64], y: &[f64]| -> Vec<f64> { x.iter().zip(y).map(|(x, y)| x / y).collect() };
        let relative = over(&excess, rows);
        // In units of √b the matrix is the identity less QᵀQ with Q = P / √(r bᵀ).
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

    /// Takes the step, or as much of it as lets the concave dual rise.
    fn take(&self, state: &mut State, done: &mut usize) {
        let longest =
            self.rows.iter().chain(&self.columns).fold(0.0_f64, |most, x| most.max(x.abs()));
        let mut share = if longest > LARGEST_STEP { LARGEST_STEP / longest } else { 1.0 };
        let before = (state.f.clone(), state.g.clone());
        let dual_before = dual(state);
        // Differences of the dual below this are rounding.
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
        // Nothing is left to gain along this step; the scaling that follows still is.
        (state.f, state.g) = before;
    }
}

/// The dual of the problem at the potentials that the kernel was filled from.
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

/// A solution of `apply(x) = right` for a symmetric, positive semidefinite `apply`, to `residual` of the
/// right-hand side. Each application passes over the plan twice.
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
        if square <= enough {
            break;
        }
        let applied = apply(&direction);
        *done += 2;
        let curvature = dot(&direction, &applied);
        // Along a constant the plan does not change; rounding leads there in the end.
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

//! Exact transport by a network simplex: the least-cost plan with both marginals held.
//!
//! We have our own code because no existing crate fits. They take integer costs, build the whole
//! graph in memory, have a copyleft licence, or solve general linear programs some hundred times
//! slower. Three things make this one fast on dense problems:
//! - Arcs are implicit (bipartite and complete). Pricing is a subtraction and a minimum over a
//!   contiguous row of the cost, which the compiler turns into vector code.
//! - The first basis is a greedy plan on reduced costs, not an artificial one. Fewer pivots are
//!   left, and no artificial cost spoils the precision of the potentials.
//! - Flows are integers (see `tree.rs`), so degenerate problems terminate.

use std::borrow::Cow;

use ndarray::{Array1, Array2, ArrayRef2, CowArray, Ix2};

pub mod partial;
mod tree;

use super::{Plan, TransportError, check_cost, finish, normalised};
use crate::progress::pulse;
use tree::Tree;

/// The whole mass in units of flow: 2⁶⁰, so that sums of flows fit into 64 bits.
const WHOLE: f64 = (1_u64 << 60) as f64;
/// Reduced costs within this of zero, relative to the numbers they are differences of, count as
/// zero.
const ROUNDING: f64 = 2e-15;
/// Number of arcs to price before the best of them enters, as a multiple of √(rows · columns).
const BLOCK: f64 = 1.0;

/// Settings of the exact solver.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Options {
    /// Number of pivots after which to give up. By default there is no limit, because the method
    /// always terminates.
    pub max_pivots: Option<usize>,
}

/// The plan of least cost between the weights `a` (rows) and `b` (columns). It normalises the
/// weights.
///
/// Weights below 2⁻⁶¹ of the whole count as zero. Rows and columns with zero weight get an empty
/// row or column of the plan, and duals that keep `duals.0[i] + duals.1[j] ≤ cost[i, j]`
/// everywhere. `Σ a·duals.0 + Σ b·duals.1 = cost` up to rounding, which proves that no plan costs
/// less.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::transport::exact;
///
/// let cost = array![[0.0, 4.0], [1.0, 1.0]];
/// let plan = exact::solve(&[0.5, 0.5], &[0.25, 0.75], &cost, &exact::Options::default())?;
/// assert_eq!(plan.plan, array![[0.25, 0.25], [0.0, 0.5]]);
/// # Ok::<(), rebearing_host::transport::TransportError>(())
/// ```
pub fn solve(
    a: &[f64],
    b: &[f64],
    cost: &ArrayRef2<f64>,
    options: &Options,
) -> Result<Plan, TransportError> {
    let largest = check_cost(cost)?;
    let (a, b) = normalised(a, b, cost.dim())?;
    let (units_a, units_b) = (units(&a), units(&b));
    let support_a = support(&units_a);
    let support_b = support(&units_b);

    // A power of two causes no rounding, and keeps sums along the tree within f64.
    let scale = power_of_two(largest);
    let reduced = restrict(cost, &support_a, &support_b, scale);
    let scale = scale.unwrap_or(1.0);
    let costs = reduced
        .as_slice()
        .map_or_else(|| Cow::Owned(reduced.iter().copied().collect()), Cow::Borrowed);
    let problem = Problem {
        costs: &costs,
        rows: support_a.iter().map(|&i| units_a[i]).collect(),
        columns: support_b.iter().map(|&j| units_b[j]).collect(),
    };
    let (tree, pivots) = problem.solve(options.max_pivots).map_err(|(pivots, violation)| {
        TransportError::NotOptimal { pivots, violation: violation * scale }
    })?;

    let mut plan = Array2::zeros(cost.dim());
    for (row, column, flow) in tree.arcs() {
        plan[[support_a[row], support_b[column]]] = flow as f64 / WHOLE;
    }
    let duals = duals(&tree, &support_a, &support_b, cost, scale);
    Ok(finish(plan, cost, &a, &b, pivots, duals))
}

/// Weights in units of flow with exactly the whole as their sum. The largest takes the rounding
/// remainder.
fn units(weights: &[f64]) -> Vec<u64> {
    let mut units: Vec<u64> = weights.iter().map(|w| (w * WHOLE).round() as u64).collect();
    let sum: u64 = units.iter().sum();
    if let Some(largest) = units.iter_mut().max() {
        *largest = (*largest + (1 << 60)) - sum;
    }
    units
}

fn support(units: &[u64]) -> Vec<usize> {
    (0..units.len()).filter(|&i| units[i] > 0).collect()
}

/// A power of two near the largest cost, if sums of costs could leave the range of f64.
fn power_of_two(largest: f64) -> Option<f64> {
    let far = largest > 0.0 && !(1e-100..1e100).contains(&largest);
    // Dividing by a subnormal power of two would lose bits.
    far.then(|| largest.log2().round().max(-1000.0).exp2())
}

/// The scaled cost between rows and columns with weight. It is borrowed if nothing changes.
fn restrict<'a>(
    cost: &'a ArrayRef2<f64>,
    rows: &[usize],
    columns: &[usize],
    scale: Option<f64>,
) -> CowArray<'a, f64, Ix2> {
    if (rows.len(), columns.len()) == cost.dim() && scale.is_none() {
        return cost.view().into();
    }
    let scale = scale.unwrap_or(1.0);
    Array2::from_shape_fn((rows.len(), columns.len()), |(i, j)| cost[[rows[i], columns[j]]] / scale)
        .into()
}

/// Duals of all rows and columns: from the tree, or tight ones for those without weight.
fn duals(
    tree: &Tree,
    rows: &[usize],
    columns: &[usize],
    cost: &ArrayRef2<f64>,
    scale: f64,
) -> (Array1<f64>, Array1<f64>) {
    let (m, n) = cost.dim();
    let mut u = Array1::from_elem(m, f64::NAN);
    let mut v = Array1::from_elem(n, f64::NAN);
    let (row_potentials, column_potentials) = tree.potential.split_at(rows.len());
    for (&row, potential) in rows.iter().zip(row_potentials) {
        u[row] = -potential * scale;
    }
    for (&column, potential) in columns.iter().zip(column_potentials) {
        v[column] = potential * scale;
    }
    for i in 0..m {
        if u[i].is_nan() {
            u[i] = columns.iter().map(|&j| cost[[i, j]] - v[j]).fold(f64::INFINITY, f64::min);
        }
    }
    for j in 0..n {
        if v[j].is_nan() {
            v[j] = (0..m).map(|i| cost[[i, j]] - u[i]).fold(f64::INFINITY, f64::min);
        }
    }
    (u, v)
}

/// A problem with positive weights that sum to the whole.
struct Problem<'a> {
    /// Row by row.
    costs: &'a [f64],
    rows: Vec<u64>,
    columns: Vec<u64>,
}

impl Problem<'_> {
    /// Returns the optimal tree and the number of pivots. At the limit it returns the number of
    /// pivots and the remaining violation.
    fn solve(&self, max_pivots: Option<usize>) -> Result<(Tree, usize), (usize, f64)> {
        let mut tree = self.greedy();
        tree.set_potentials(|row, column| self.cost(row, column));
        let mut pricing = Pricing::new(self.rows.len(), self.columns.len());
        let mut pivots = 0;
        // Whether the potentials are free of the rounding of pivots.
        let mut fresh = true;
        loop {
            pulse();
            let entering = pricing.entering(self.costs, &tree.potential);
            match entering {
                Some((row, column, reduced)) if !tree.contains(row, column) => {
                    if max_pivots.is_some_and(|limit| pivots >= limit) {
                        return Err((pivots, -reduced));
                    }
                    tree.pivot(row, column, reduced);
                    pivots += 1;
                    fresh = false;
                }
                // Optimal, as far as exact potentials can show.
                _ if fresh => return Ok((tree, pivots)),
                // There is no arc, or only a tree arc with a reduced cost that is pure rounding.
                _ => {
                    tree.set_potentials(|row, column| self.cost(row, column));
                    fresh = true;
                }
            }
        }
    }

    fn cost(&self, row: usize, column: usize) -> f64 {
        self.costs[row * self.columns.len() + column]
    }

    /// A strongly feasible tree near the optimum. Each row in turn fills the open columns that are
    /// cheapest relative to the column's own least cost.
    fn greedy(&self) -> Tree {
        let (m, n) = (self.rows.len(), self.columns.len());
        let mut discount = vec![f64::INFINITY; n];
        for row in self.costs.chunks_exact(n) {
            for (least, &c) in discount.iter_mut().zip(row) {
                *least = if c < *least { c } else { *least };
            }
        }
        let mut open = self.columns.clone();
        let mut arcs = Vec::with_capacity(m + n - 1);
        // Rows and columns joined by positive flow form a group, which is named by one of its
        // columns.
        let mut group_of_row = Vec::with_capacity(m);
        let mut groups = Groups::new(n);
        for (row, costs) in self.costs.chunks_exact(n).enumerate() {
            let mut left = self.rows[row];
            let mut first = None;
            while left > 0 {
                let column = position(costs, &discount, least(costs, &discount));
                let flow = left.min(open[column]);
                arcs.push((row, column, flow));
                left -= flow;
                open[column] -= flow;
                if open[column] == 0 {
                    // The column is full: its reduced cost is infinite from now on.
                    discount[column] = f64::NEG_INFINITY;
                }
                groups.join(*first.get_or_insert(column), column);
            }
            group_of_row.push(first.unwrap_or(0));
        }
        // Each group hangs under column 0 by an arc without flow from one of its rows. The arc
        // leads towards the root, as a strongly feasible tree requires.
        for (row, &group) in group_of_row.iter().enumerate() {
            if groups.join(0, group) {
                arcs.push((row, 0, 0));
            }
        }
        Tree::from_arcs(m, n, m, &arcs)
    }
}

/// Block search: the best arc of a block enters, and the next search continues where this one
/// ended.
struct Pricing {
    columns: usize,
    arcs: usize,
    block: usize,
    next: usize,
}

impl Pricing {
    fn new(rows: usize, columns: usize) -> Self {
        let arcs = rows * columns;
        let block = ((arcs as f64).sqrt() * BLOCK) as usize;
        Self { columns, arcs, block: block.max(64), next: 0 }
    }

    /// An arc of negative reduced cost, or `None` after a full round without one.
    fn entering(&mut self, costs: &[f64], potential: &[f64]) -> Option<(usize, usize, f64)> {
        let rows = self.arcs / self.columns;
        let (row_potential, column_potential) = potential.split_at(rows);
        let mut best = (0, 0, 0.0);
        let mut in_block = 0;
        let mut seen = 0;
        while seen < self.arcs {
            let (row, start) = (self.next / self.columns, self.next % self.columns);
            let end = (start + self.block - in_block).min(self.columns);
            let base = row * self.columns;
            let (costs, potentials) =
                (&costs[base + start..base + end], &column_potential[start..end]);
            let least = least(costs, potentials);
            if least + row_potential[row] < best.2 {
                let column = start + position(costs, potentials, least);
                best = (row, column, least + row_potential[row]);
            }
            seen += end - start;
            in_block += end - start;
            self.next = (base + end) % self.arcs;
            if in_block >= self.block || seen >= self.arcs {
                in_block = 0;
                let (row, column, reduced) = best;
                let magnitude = row_potential[row].abs().max(column_potential[column].abs());
                if reduced < -ROUNDING * magnitude {
                    return Some(best);
                }
                best = (0, 0, 0.0);
            }
        }
        None
    }
}

/// The smallest of `costs − potentials`, in lanes that become vector code.
fn least(costs: &[f64], potentials: &[f64]) -> f64 {
    const LANES: usize = 8;
    let mut lanes = [f64::INFINITY; LANES];
    let (cost_chunks, cost_rest) = costs.as_chunks::<LANES>();
    let (potential_chunks, potential_rest) = potentials.as_chunks::<LANES>();
    let lower = |least: &mut f64, c: &f64, p: &f64| {
        let difference = c - p;
        *least = if difference < *least { difference } else { *least };
    };
    for (cs, ps) in cost_chunks.iter().zip(potential_chunks) {
        for ((least, c), p) in lanes.iter_mut().zip(cs).zip(ps) {
            lower(least, c, p);
        }
    }
    for ((least, c), p) in lanes.iter_mut().zip(cost_rest).zip(potential_rest) {
        lower(least, c, p);
    }
    lanes.into_iter().fold(f64::INFINITY, f64::min)
}

/// The position at which `costs − potentials` has the value that [`least`] found.
fn position(costs: &[f64], potentials: &[f64], value: f64) -> usize {
    costs.iter().zip(potentials).position(|(c, p)| c - p <= value).unwrap_or(0)
}

/// Disjoint sets, with path halving.
struct Groups {
    parent: Vec<usize>,
}

impl Groups {
    fn new(len: usize) -> Self {
        Self { parent: (0..len).collect() }
    }

    fn find(&mut self, mut x: usize) -> usize {
        while self.parent[x] != x {
            self.parent[x] = self.parent[self.parent[x]];
            x = self.parent[x];
        }
        x
    }

    /// Joins two sets. Returns whether they were separate.
    fn join(&mut self, x: usize, y: usize) -> bool {
        let (x, y) = (self.find(x), self.find(y));
        self.parent[y] = x;
        x != y
    }
}

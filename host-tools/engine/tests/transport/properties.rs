//! Properties of every plan, and a solver for general linear programs as oracle.

use crate::problems::{Draws, problem};
use microlp::{ComparisonOp, OptimizationDirection, Problem, SolveOutcome};
use ndarray::{Array2, Axis, array};
use proptest::prelude::*;
use rebearing_host::transport::cost::squared_distances;
use rebearing_host::transport::{Plan, TransportError, exact, partial, relaxed, sinkhorn};

const KINDS: [&str; 9] =
    ["points", "random", "uniform", "integer", "ties", "zero-weights", "huge", "tiny", "negative"];

fn solve(a: &[f64], b: &[f64], cost: &Array2<f64>) -> Plan {
    exact::solve(a, b, cost, &exact::Options::default()).expect("solves")
}

fn largest(cost: &Array2<f64>) -> f64 {
    cost.iter().fold(0.0, |m, c| c.abs().max(m))
}

/// Returns the least cost, by a simplex for general linear programs.
fn oracle(a: &[f64], b: &[f64], cost: &Array2<f64>) -> f64 {
    // A cost that is zero everywhere has no scale.
    let scale = Some(largest(cost)).filter(|largest| *largest > 0.0).unwrap_or(1.0);
    let mut program = Problem::new(OptimizationDirection::Minimize);
    let flows = cost.mapv(|c| program.add_var(c / scale, (0.0, f64::INFINITY)));
    for (row, &a) in flows.outer_iter().zip(a) {
        program.add_constraint(row.iter().map(|&v| (v, 1.0)), ComparisonOp::Eq, a);
    }
    // One constraint follows from the others; rounding would make it contradict them.
    for (column, &b) in flows.columns().into_iter().zip(b).skip(1) {
        program.add_constraint(column.iter().map(|&v| (v, 1.0)), ComparisonOp::Eq, b);
    }
    match program.solve().expect("feasible and bounded") {
        SolveOutcome::Solution(solution) => solution.objective() * scale,
        SolveOutcome::Interrupted(_) => panic!("the oracle was interrupted"),
    }
}

prop_compose! {
    fn problems(most: usize)(
        seed in any::<u64>(), rows in 1..=most, columns in 1..=most, kind in 0..KINDS.len(),
    ) -> (Vec<f64>, Vec<f64>, Array2<f64>) {
        problem(seed, rows, columns, KINDS[kind])
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn exact_plans_are_feasible_and_proved_optimal((a, b, cost) in problems(40)) {
        let plan = solve(&a, &b, &cost);
        let unit = largest(&cost);
        prop_assert!(plan.plan.iter().all(|p| *p >= 0.0));
        prop_assert!(plan.row_error < 1e-15 && plan.col_error < 1e-15);
        // A basis has at most rows + columns − 1 arcs.
        prop_assert!(plan.plan.iter().filter(|p| **p > 0.0).count() < a.len() + b.len());
        let (u, v) = &plan.duals;
        for ((i, j), c) in cost.indexed_iter() {
            prop_assert!(c - u[i] - v[j] >= -1e-13 * unit, "dual feasible");
        }
        let dual = a.iter().zip(u).map(|(a, u)| a * u).sum::<f64>()
            + b.iter().zip(v).map(|(b, v)| b * v).sum::<f64>();
        prop_assert!((plan.cost - dual).abs() <= 1e-13 * unit, "no duality gap");
    }

    #[test]
    fn exact_cost_is_the_linear_programs((a, b, cost) in problems(9)) {
        let plan = solve(&a, &b, &cost);
        prop_assert!((plan.cost - oracle(&a, &b, &cost)).abs() <= 1e-8 * largest(&cost));
    }

    #[test]
    fn order_does_not_change_the_cost((a, b, cost) in problems(25)) {
        let reversed = |w: &[f64]| w.iter().rev().copied().collect::<Vec<_>>();
        let mut turned = cost.clone();
        turned.invert_axis(Axis(0));
        turned.invert_axis(Axis(1));
        let plan = solve(&a, &b, &cost);
        let other = solve(&reversed(&a), &reversed(&b), &turned);
        prop_assert!((plan.cost - other.cost).abs() <= 1e-14 * largest(&cost));
        let transposed = solve(&b, &a, &cost.t().to_owned());
        prop_assert!((plan.cost - transposed.cost).abs() <= 1e-14 * largest(&cost));
    }

    #[test]
    fn sinkhorn_meets_both_marginals((a, b, cost) in problems(20), epsilon in 0.02..1.0) {
        let options = sinkhorn::Options { epsilon, ..Default::default() };
        let plan = sinkhorn::solve(&a, &b, &cost, &options).expect("converges");
        prop_assert!(plan.plan.iter().all(|p| *p >= 0.0));
        prop_assert!(plan.row_error <= 1e-9 && plan.col_error <= 1e-12);
        prop_assert!(plan.duals.0.iter().chain(&plan.duals.1).all(|d| d.is_finite()));
        let least = solve(&a, &b, &cost).cost;
        prop_assert!(plan.cost >= least - 1e-9 * largest(&cost), "no plan is cheaper than the exact");
        // The entropy costs at most epsilon times its range.
        let range = ((a.len() * b.len()) as f64).ln();
        prop_assert!(plan.cost <= least + largest(&cost) * (epsilon * range + 1e-9));
    }

    /// The semi-relaxed plan is optimal: f = −τ ln(row sum / a), both in units of the largest cost.
    #[test]
    fn semi_relaxed_plans_are_stationary((a, b, cost) in problems(12), tau in 0.02..2.0) {
        let options = relaxed::Options {
            rows: relaxed::Marginal::Relaxed(tau), epsilon: 0.05, ..Default::default()
        };
        let plan = relaxed::solve(&a, &b, &cost, &options).expect("converges");
        prop_assert!(plan.col_error < 1e-12);
        let unit = if largest(&cost) > 0.0 { largest(&cost) } else { 1.0 };
        for (i, row) in plan.plan.outer_iter().enumerate().filter(|(i, _)| a[*i] > 0.0) {
            let expected = -tau * (row.sum() / a[i]).ln();
            prop_assert!((plan.duals.0[i] / unit - expected).abs() < 1e-8);
        }
    }
}

#[test]
fn a_large_tau_is_the_balanced_plan() {
    let (a, b, cost) = problem(5, 6, 8, "points");
    let balanced =
        sinkhorn::solve(&a, &b, &cost, &sinkhorn::Options { epsilon: 0.1, ..Default::default() });
    let options = relaxed::Options {
        rows: relaxed::Marginal::Relaxed(1e4),
        epsilon: 0.1,
        max_iterations: 10_000_000,
        ..Default::default()
    };
    let nearly = relaxed::solve(&a, &b, &cost, &options).expect("converges");
    let difference = &balanced.expect("converges").plan - &nearly.plan;
    assert!(difference.iter().all(|d| d.abs() < 1e-5));
}

#[test]
fn all_mass_moved_partially_is_balanced_transport() {
    let (a, b, cost) = problem(6, 9, 7, "points");
    let whole = partial::solve(&a, &b, &cost, 1.0, &exact::Options::default()).expect("solves");
    assert!((whole.cost - solve(&a, &b, &cost).cost).abs() < 1e-15);
}

#[test]
fn equal_points_cost_nothing_and_extreme_costs_scale() {
    let (a, b, cost) = problem(7, 12, 12, "points");
    assert_eq!(solve(&a, &b, &Array2::zeros(cost.dim())).cost, 0.0);
    let plain = solve(&a, &b, &cost).cost;
    for factor in [1e-300, 1e-30, 1e30, 1e300] {
        let scaled = solve(&a, &b, &(&cost * factor)).cost / factor;
        assert!((scaled - plain).abs() < 1e-14, "{factor:e}: {scaled} against {plain}");
        let sharp = sinkhorn::solve(&a, &b, &(&cost * factor), &sinkhorn::Options::default());
        assert!(sharp.expect("converges").row_error <= 1e-9);
    }
}

#[test]
fn a_constant_added_to_the_cost_changes_nothing_else() {
    let (a, b, cost) = problem(8, 15, 10, "points");
    let (plain, shifted) = (solve(&a, &b, &cost), solve(&a, &b, &(&cost - 10.0)));
    assert_eq!(plain.plan, shifted.plan);
    assert!((plain.cost - 10.0 - shifted.cost).abs() < 1e-14);
}

#[test]
fn weights_that_do_not_sum_to_one_are_normalised() {
    let (a, b, cost) = problem(9, 8, 5, "points");
    let times = |w: &[f64], by: f64| w.iter().map(|x| x * by).collect::<Vec<_>>();
    let plain = solve(&a, &b, &cost);
    let heavier = solve(&times(&a, 8.0), &times(&b, 8.0), &cost);
    assert!((plain.cost - heavier.cost).abs() < 1e-15);
    assert!((heavier.plan.sum() - 1.0).abs() < 1e-15);
    assert!(matches!(
        exact::solve(&a, &times(&b, 2.0), &cost, &exact::Options::default()),
        Err(TransportError::Unequal { .. })
    ));
}

#[test]
fn parameters_out_of_range_are_refused() {
    let (a, b, cost) = problem(10, 3, 3, "points");
    for epsilon in [0.0, -0.1, f64::NAN, f64::INFINITY, 1e-300] {
        let options = sinkhorn::Options { epsilon, ..Default::default() };
        let error = sinkhorn::solve(&a, &b, &cost, &options).expect_err("refused");
        assert!(matches!(error, TransportError::Parameter { name: "epsilon", .. }), "{error}");
    }
    for tau in [0.0, -1.0, f64::NAN] {
        let options =
            relaxed::Options { rows: relaxed::Marginal::Relaxed(tau), ..Default::default() };
        let error = relaxed::solve(&a, &b, &cost, &options).expect_err("refused");
        assert!(matches!(error, TransportError::Parameter { name: "tau", .. }), "{error}");
    }
    for mass in [0.0, -1.0, 1.1, f64::NAN] {
        let error =
            partial::solve(&a, &b, &cost, mass, &exact::Options::default()).expect_err("refused");
        assert!(matches!(error, TransportError::Parameter { name: "mass", .. }), "{error}");
    }
}

/// The groups are far apart, and their shares differ between the two sides. The mass that must
/// change groups is a small part of the plan, and scaling alone does not move it.
#[test]
fn groups_far_apart_converge_too() {
    let group_of = |i: usize, shares: [usize; 4]| {
        let mut group = 0;
        let mut end = shares[0];
        while i % 100 >= end {
            group += 1;
            end += shares[group];
        }
        group
    };
    let mut draws = Draws(5);
    let mut points = |count: usize, shares: [usize; 4]| {
        Array2::from_shape_fn((count, 3), |(i, j)| {
            let centre = if j == 0 { 10.0 * (group_of(i, shares) as f64).powi(2) } else { 0.0 };
            centre + draws.draw()
        })
    };
    let (x, y) = (points(200, [25, 25, 25, 25]), points(100, [25, 26, 23, 26]));
    let cost = squared_distances(&x, &y);
    let (a, b) = (vec![1.0; 200], vec![2.0; 100]);
    for epsilon in [1e-2, 1e-3, 1e-4] {
        let options = sinkhorn::Options { epsilon, ..Default::default() };
        let plan = sinkhorn::solve(&a, &b, &cost, &options).expect("converges");
        assert!(plan.row_error <= 1e-9 && plan.col_error < 1e-12, "{epsilon}: {plan:?}");
        // The plan follows from its potentials, and only one such plan meets both marginals.
        let unit = epsilon * largest(&cost);
        let (f, g) = &plan.duals;
        for ((i, j), mass) in plan.plan.indexed_iter() {
            let expected = ((f[i] + g[j] - cost[[i, j]]) / unit).exp() / 200.0 / 100.0;
            assert!((mass - expected).abs() <= 1e-9 * expected + 1e-15, "{epsilon}: {i}, {j}");
        }
    }
}

#[test]
fn what_does_not_converge_says_how_far_it_came() {
    let (a, b, cost) = problem(11, 20, 20, "points");
    let options = sinkhorn::Options { epsilon: 1e-3, max_iterations: 5, ..Default::default() };
    let Err(TransportError::NotConverged { iterations, marginal_error, .. }) =
        sinkhorn::solve(&a, &b, &cost, &options)
    else {
        panic!("five iterations are too few");
    };
    assert_eq!(iterations, 5);
    assert!(marginal_error > 1e-9);
    let one = exact::Options { max_pivots: Some(1) };
    let Err(TransportError::NotOptimal { pivots: 1, violation }) =
        exact::solve(&a, &b, &cost, &one)
    else {
        panic!("one pivot is too few");
    };
    assert!(violation > 0.0);
}

#[test]
fn a_plan_of_a_million_entries_is_optimal() {
    let (a, b, cost) = problem(12, 1000, 1000, "points");
    let plan = solve(&a, &b, &cost);
    let (u, v) = &plan.duals;
    assert!(cost.indexed_iter().all(|((i, j), c)| c - u[i] - v[j] >= -1e-13));
    let dual = a.iter().zip(u).map(|(a, u)| a * u).sum::<f64>()
        + b.iter().zip(v).map(|(b, v)| b * v).sum::<f64>();
    assert!((plan.cost - dual).abs() < 1e-14);
}

#[test]
fn one_row_or_one_column_takes_all() {
    let plan = solve(&[3.0], &[1.0, 2.0], &array![[5.0, 7.0]]);
    assert!((plan.cost - (5.0 + 14.0) / 3.0).abs() < 1e-15);
    let plan = solve(&[1.0, 2.0], &[3.0], &array![[5.0], [7.0]]);
    assert!((plan.cost - (5.0 + 14.0) / 3.0).abs() < 1e-15);
    let empty = exact::solve(&[], &[], &Array2::zeros((0, 0)), &exact::Options::default());
    assert!(matches!(empty, Err(TransportError::Empty { .. })));
}

//! Transport against POT and scipy; the numbers come from `golden/transport.py`.

use crate::problems::{Draws, diagonal, mixture, problem};
use ndarray::{Array2, ArrayRef2};
use rebearing_host::adapt::maps::ComponentMaps;
use rebearing_host::transport::{cost::component_costs, exact, partial, relaxed, sinkhorn};
use serde::Deserialize;

#[derive(Deserialize)]
struct Golden {
    exact: Vec<Exact>,
    sinkhorn: Vec<Sinkhorn>,
    relaxed: Vec<Relaxed>,
    partial: Vec<Partial>,
    mixtures: Vec<Mixtures>,
}

#[derive(Deserialize)]
struct Exact {
    seed: u64,
    rows: usize,
    columns: usize,
    kind: String,
    cost: f64,
}

#[derive(Deserialize)]
struct Sinkhorn {
    seed: u64,
    rows: usize,
    columns: usize,
    kind: String,
    epsilon: f64,
    plan: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Relaxed {
    seed: u64,
    rows: usize,
    columns: usize,
    kind: String,
    epsilon: f64,
    row_tau: Option<f64>,
    column_tau: Option<f64>,
    plan: Vec<Vec<f64>>,
}

#[derive(Deserialize)]
struct Partial {
    seed: u64,
    rows: usize,
    columns: usize,
    kind: String,
    mass: f64,
    cost: f64,
}

#[derive(Deserialize)]
struct Mixtures {
    seed: u64,
    source: usize,
    target: usize,
    dims: usize,
    full_costs: Vec<Vec<f64>>,
    full_mw2: f64,
    full_map: Vec<Vec<f64>>,
    diagonal_costs: Vec<Vec<f64>>,
    diagonal_mw2: f64,
    diagonal_map: Vec<Vec<f64>>,
}

fn golden() -> Golden {
    serde_json::from_str(include_str!("golden/transport.json")).expect("the golden file is JSON")
}

fn matrix(rows: &[Vec<f64>]) -> Array2<f64> {
    Array2::from_shape_fn((rows.len(), rows[0].len()), |(i, j)| rows[i][j])
}

fn largest(x: &ArrayRef2<f64>) -> f64 {
    x.iter().fold(0.0, |m, v| v.abs().max(m))
}

fn difference(x: &Array2<f64>, y: &Array2<f64>) -> f64 {
    assert_eq!(x.dim(), y.dim());
    largest(&(x - y))
}

#[test]
fn exact_cost_is_pots_to_1e_12() {
    let problems = golden().exact;
    assert!(problems.len() >= 200);
    for p in problems {
        let (a, b, cost) = problem(p.seed, p.rows, p.columns, &p.kind);
        let plan = exact::solve(&a, &b, &cost, &exact::Options::default())
            .unwrap_or_else(|e| panic!("seed {}: {e}", p.seed));
        // If the least cost is zero, or a difference of larger numbers, only rounding errors are
        // left.
        let error = (plan.cost - p.cost).abs();
        assert!(
            error <= 1e-12 * p.cost.abs() + 1e-15 * largest(&cost),
            "seed {}, {} {}×{}: {} against {}",
            p.seed,
            p.kind,
            p.rows,
            p.columns,
            plan.cost,
            p.cost
        );
        assert!(plan.row_error < 1e-14 && plan.col_error < 1e-14, "seed {}", p.seed);
        let dual: f64 = a.iter().zip(&plan.duals.0).map(|(a, u)| a * u).sum::<f64>()
            + b.iter().zip(&plan.duals.1).map(|(b, v)| b * v).sum::<f64>();
        assert!((plan.cost - dual).abs() <= 1e-14 * largest(&cost), "seed {}", p.seed);
    }
}

#[test]
fn sinkhorn_plan_is_pots_to_1e_9() {
    for p in golden().sinkhorn {
        let (a, b, cost) = problem(p.seed, p.rows, p.columns, &p.kind);
        let options =
            sinkhorn::Options { epsilon: p.epsilon, tolerance: 1e-12, ..Default::default() };
        let plan = sinkhorn::solve(&a, &b, &cost, &options).expect("converges");
        let error = difference(&plan.plan, &matrix(&p.plan));
        assert!(error < 1e-11, "seed {}: {error:e}", p.seed);
        assert!(plan.row_error < 1e-12 && plan.col_error < 1e-12);
        // The plan follows from its duals.
        let unit = p.epsilon * largest(&cost);
        let (f, g) = &plan.duals;
        let again = Array2::from_shape_fn(cost.dim(), |(i, j)| {
            a[i] * b[j] * ((f[i] + g[j] - cost[[i, j]]) / unit).exp()
        });
        assert!(difference(&plan.plan, &again) < 1e-13);
    }
}

#[test]
fn relaxed_plan_is_pots_to_1e_9() {
    for p in golden().relaxed {
        let (a, mut b, cost) = problem(p.seed, p.rows, p.columns, &p.kind);
        if p.row_tau.is_some() && p.column_tau.is_some() {
            for b in &mut b {
                *b *= 1.5;
            }
        }
        let marginal =
            |tau: Option<f64>| tau.map_or(relaxed::Marginal::Held, relaxed::Marginal::Relaxed);
        let options = relaxed::Options {
            rows: marginal(p.row_tau),
            columns: marginal(p.column_tau),
            epsilon: p.epsilon,
            tolerance: 1e-11,
            ..Default::default()
        };
        let plan = relaxed::solve(&a, &b, &cost, &options).expect("converges");
        let error = difference(&plan.plan, &matrix(&p.plan));
        assert!(error < 1e-10, "seed {}: {error:e}", p.seed);
        assert_eq!(p.row_tau.is_some(), plan.row_error > 1e-6);
        assert_eq!(p.column_tau.is_some(), plan.col_error > 1e-6);
    }
}

#[test]
fn partial_cost_is_pots_to_1e_12() {
    for p in golden().partial {
        let (a, b, cost) = problem(p.seed, p.rows, p.columns, &p.kind);
        let plan =
            partial::solve(&a, &b, &cost, p.mass, &exact::Options::default()).expect("solves");
        let error = (plan.cost - p.cost).abs();
        assert!(error <= 1e-12 * p.cost + 1e-15 * largest(&cost), "seed {}: {error:e}", p.seed);
        assert!((plan.plan.sum() - p.mass).abs() < 1e-14, "seed {}", p.seed);
        for (row, a) in plan.plan.outer_iter().zip(&a) {
            assert!(row.sum() <= a + 1e-15);
        }
        for (column, b) in plan.plan.columns().into_iter().zip(&b) {
            assert!(column.sum() <= b + 1e-15);
        }
    }
}

#[test]
fn component_costs_distance_and_map_are_those_of_ot_gmm() {
    for g in golden().mixtures {
        let mut draws = Draws(g.seed);
        let source = mixture(&mut draws, g.source, g.dims);
        let target = mixture(&mut draws, g.target, g.dims);
        let points = draws.matrix(6, g.dims);
        for (source, target, costs, mw2, map) in [
            (source.clone(), target.clone(), &g.full_costs, g.full_mw2, &g.full_map),
            (
                diagonal(&source),
                diagonal(&target),
                &g.diagonal_costs,
                g.diagonal_mw2,
                &g.diagonal_map,
            ),
        ] {
            let cost = component_costs(&source, &target).expect("costs");
            assert!(difference(&cost, &matrix(costs)) < 1e-12, "seed {}", g.seed);
            let plan = exact::solve(
                &source.weights.to_vec(),
                &target.weights.to_vec(),
                &cost,
                &exact::Options::default(),
            )
            .expect("plan");
            assert!((plan.cost - mw2).abs() < 1e-12, "seed {}", g.seed);
            let maps = ComponentMaps::new(&source, &target, &plan.plan).expect("maps");
            let mapped = maps.mean(points.view()).expect("mapped");
            assert!(difference(&mapped, &matrix(map)) < 1e-10, "seed {}", g.seed);
        }
    }
}

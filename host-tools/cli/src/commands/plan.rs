//! `rebearing plan`: computes a transport plan from weights and a cost matrix.

use std::path::{Path, PathBuf};
use std::time::Instant;

use anyhow::{Context as _, Result, bail};
use clap::{Args, ValueEnum};
use serde_json::json;

use super::{Outcome, shown};
use crate::progress::Step;
use rebearing_host::files::matrix;
use rebearing_host::files::npy;
use rebearing_host::files::output;
use rebearing_host::transport::{Plan, Side, TransportError, exact, relaxed, sinkhorn};
use rebearing_host::words::plural;

/// Compute a transport plan from a cost matrix and two vectors of weights.
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  rebearing plan --cost C.npy --a A.npy --b B.npy --solver sinkhorn --epsilon 0.01 --out P.npy"
)]
pub(super) struct PlanArgs {
    /// Cost of moving a unit from each row to each column; any finite numbers. The inputs may be
    /// .npy, .csv or .parquet.
    #[arg(long, value_name = "C.npy|.csv|.parquet")]
    cost: PathBuf,
    /// Weights of the rows; not negative, normalised unless the solver is relaxed.
    #[arg(long, value_name = "A.npy")]
    a: PathBuf,
    /// Weights of the columns, with the same sum as those of the rows unless the solver is relaxed.
    #[arg(long, value_name = "B.npy")]
    b: PathBuf,
    /// Solver of the transport problem.
    #[arg(long, value_enum, default_value_t = Solver::Exact)]
    solver: Solver,
    /// Weight of the entropy, relative to the largest cost (sinkhorn, relaxed) [default: 0.01].
    #[arg(long, value_name = "E", allow_negative_numbers = true)]
    epsilon: Option<f64>,
    /// Weight of the penalty on the row sums, relative to the largest cost (relaxed) [default: 0.1].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    tau: Option<f64>,
    /// Error at which to stop (sinkhorn: of the row sums; relaxed: relative, of the plan) [default: 1e-9].
    #[arg(long, value_name = "T", allow_negative_numbers = true)]
    tolerance: Option<f64>,
    /// Iterations (exact: pivots) after which to give up [default: 100000; exact: none].
    #[arg(long, value_name = "N")]
    max_iterations: Option<usize>,
    /// Where to write the plan.
    #[arg(long, value_name = "P.npy")]
    out: PathBuf,
}

/// How a plan is computed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Solver {
    /// Least cost; both marginals are kept.
    Exact,
    /// Entropic; both marginals are kept.
    Sinkhorn,
    /// Entropic; columns are kept, a penalty pulls the rows towards their weights.
    Relaxed,
}

pub(super) fn run(args: &PlanArgs) -> Result<Outcome> {
    args.check()?;
    output::check_writable(&args.out)?;
    let cost = matrix::read(&args.cost)?.into_f64();
    let a = matrix::read_vector(&args.a)?;
    let b = matrix::read_vector(&args.b)?;
    let start = Instant::now();
    let plan = {
        let _step = Step::start(format!("transporting {} × {}", a.len(), b.len()));
        args.solve(&a, &b, &cost)
    }
    .map_err(|error| {
        let file = args.file_of(&error).map(|file| file.display().to_string());
        match file {
            Some(file) => anyhow::Error::new(error).context(file),
            None => error.into(),
        }
    })?;
    let seconds = start.elapsed().as_secs_f64();
    npy::write_matrix(&args.out, &plan.plan.view()).context("the plan")?;

    let (rows, columns) = plan.plan.dim();
    let solver = args.solver.to_possible_value().map_or_else(String::new, |v| v.get_name().into());
    let text = format!(
        "{rows} × {columns}, {solver}: cost {}, marginal errors {:.1e} and {:.1e}, {} -> {}\n",
        plan.cost,
        plan.row_error,
        plan.col_error,
        plural(plan.iterations, "iteration", "iterations"),
        args.out.display()
    );
    let json = json!({
        "out": shown(&args.out),
        "solver": solver,
        "rows": rows,
        "columns": columns,
        "cost": plan.cost,
        "row_error": plan.row_error,
        "col_error": plan.col_error,
        "iterations": plan.iterations,
        "seconds": seconds,
    });
    Ok(Outcome::new(text, json))
}

impl PlanArgs {
    /// Refuses options that the solver does not use.
    fn check(&self) -> Result<()> {
        let exact = self.solver == Solver::Exact;
        if exact && self.epsilon.is_some() {
            bail!("exact transport does not use --epsilon; leave it out, or add --solver sinkhorn");
        }
        if exact && self.tolerance.is_some() {
            bail!(
                "exact transport does not use --tolerance; leave it out, or add --solver sinkhorn"
            );
        }
        if self.solver != Solver::Relaxed && self.tau.is_some() {
            bail!(
                "--tau is the penalty of the relaxed solver; leave it out, or add --solver relaxed"
            );
        }
        Ok(())
    }

    fn solve(
        &self,
        a: &[f64],
        b: &[f64],
        cost: &ndarray::Array2<f64>,
    ) -> Result<Plan, TransportError> {
        match self.solver {
            Solver::Exact => {
                exact::solve(a, b, cost, &exact::Options { max_pivots: self.max_iterations })
            }
            Solver::Sinkhorn => {
                let default = sinkhorn::Options::default();
                let options = sinkhorn::Options {
                    epsilon: self.epsilon.unwrap_or(default.epsilon),
                    tolerance: self.tolerance.unwrap_or(default.tolerance),
                    max_iterations: self.max_iterations.unwrap_or(default.max_iterations),
                };
                sinkhorn::solve(a, b, cost, &options)
            }
            Solver::Relaxed => {
                let default = relaxed::Options::default();
                let options = relaxed::Options {
                    rows: self.tau.map_or(default.rows, relaxed::Marginal::Relaxed),
                    columns: default.columns,
                    epsilon: self.epsilon.unwrap_or(default.epsilon),
                    tolerance: self.tolerance.unwrap_or(default.tolerance),
                    max_iterations: self.max_iterations.unwrap_or(default.max_iterations),
                };
                relaxed::solve(a, b, cost, &options)
            }
        }
    }

    /// Returns the file that an error is about.
    fn file_of(&self, error: &TransportError) -> Option<&Path> {
        match error {
            TransportError::Shape { side, .. }
            | TransportError::Weight { side, .. }
            | TransportError::Mass { side, .. } => Some(match side {
                Side::Rows => &self.a,
                Side::Columns => &self.b,
            }),
            TransportError::Cost { .. } | TransportError::Empty { .. } => Some(&self.cost),
            TransportError::Unequal { .. }
            | TransportError::Parameter { .. }
            | TransportError::NotConverged { .. }
            | TransportError::NotOptimal { .. } => None,
        }
    }
}

//! Exact and entropic plans from a cost matrix.

use ndarray::Array2;
use rebearing_host::files::npy;
use rebearing_host::transport::{Plan, TransportError, exact, sinkhorn};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::task::Task;

pub(crate) fn exact(task: &Task) -> anyhow::Result<Value> {
    timed(task, |a, b, cost| exact::solve(a, b, cost, &exact::Options::default()))
}

/// An entropic plan. The word `method` is for POT, which has several methods. Here there is one.
pub(crate) fn sinkhorn(task: &Task) -> anyhow::Result<Value> {
    let options = sinkhorn::Options {
        epsilon: task.number("epsilon")?,
        tolerance: task.number("tolerance")?,
        ..sinkhorn::Options::default()
    };
    timed(task, |a, b, cost| sinkhorn::solve(a, b, cost, &options))
}

fn timed(
    task: &Task,
    solve: impl Fn(&[f64], &[f64], &Array2<f64>) -> Result<Plan, TransportError>,
) -> anyhow::Result<Value> {
    let weights = |side| task.vector(task.text(side)?);
    let (a, b) = (weights("a")?.to_vec(), weights("b")?.to_vec());
    let cost = npy::read_matrix(&task.file(task.text("cost")?)?)?.into_f64();
    let clock = Clock::start()?;
    let plan = solve(&a, &b, &cost)?;
    let mut answer = clock.stop()?;
    task.write("plan", &plan.plan)?;
    answer["iterations"] = json!(plan.iterations);
    answer["cost"] = json!(plan.cost);
    answer["marginal_error"] = json!(plan.row_error + plan.col_error);
    Ok(answer)
}

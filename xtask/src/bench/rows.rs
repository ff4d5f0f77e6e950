//! The rows of the table: a task for both sides, how their results must agree, and how much faster
//! we aim to be.

use super::agreement::Check;

/// scikit-learn's defaults, and the variance floor of the data.
const EM: &str = "tolerance=1e-3 iterations=100 floor=1e-2";

/// A line of the table.
#[derive(Clone)]
pub(super) struct Row {
    /// Name of the measurement.
    pub(super) name: String,
    /// The library that it is measured against.
    pub(super) against: &'static str,
    /// The task, without the words for folders and output files.
    pub(super) task: String,
    /// How the results must agree.
    pub(super) check: Check,
    /// How many times faster we aim to be.
    pub(super) bar: Option<f64>,
    /// Whether a new process is started for the task and measured from start to end.
    pub(super) shell: bool,
}

/// Returns all rows, in the order of the table.
pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    for (dims, components) in [(64, 20), (64, 100), (1024, 20)] {
        rows.extend(["f32", "f64"].map(|precision| em(dims, components, precision)));
    }
    rows.extend((1..=7).map(run_time_table));
    for size in [200, 1000] {
        rows.extend(["distances", "random"].map(|kind| exact(size, kind)));
    }
    rows.extend(["sinkhorn_log", "sinkhorn_stabilized", "sinkhorn"].map(sinkhorn));
    for (dims, components) in [(64, 20), (64, 100), (1024, 20)] {
        rows.push(adapt(dims, components, "given", false));
    }
    for shell in [false, true] {
        rows.extend([64, 1024].map(|dims| adapt(dims, 20, "own", shell)));
    }
    rows
}

fn em(dims: usize, components: usize, precision: &str) -> Row {
    let start = format!("bands{dims}-target-{components}");
    Row {
        name: format!("EM n=8000 d={dims} K={components} {precision}"),
        against: "scikit-learn",
        task: format!("em data=bands{dims}-target start={start} precision={precision} {EM}"),
        check: Check::Mixture { limit: if precision == "f32" { 1e-3 } else { 1e-7 } },
        bar: Some(if dims < 512 { 5.0 } else { 3.0 }),
        shell: false,
    }
}

/// A line of the paper's run-time table: everything from features to target labels.
fn run_time_table(per_class: usize) -> Row {
    let components = 31 * per_class;
    Row {
        name: format!("paper's table: n=2817+624 d=2048 K=31×{per_class} f64"),
        against: "scikit-learn, POT",
        task: format!("adapt data=office components={components} start=given precision=f64 {EM}"),
        check: Check::Labels { limit: 1e-7 },
        bar: Some(3.0),
        shell: false,
    }
}

fn exact(size: usize, kind: &str) -> Row {
    Row {
        name: format!("exact plan {size}×{size}, {kind}"),
        against: "POT emd",
        task: format!("exact a=plan{size}-a b=plan{size}-b cost=plan{size}-{kind}"),
        check: Check::Cost { limit: 1e-12 },
        bar: Some(1.0),
        shell: false,
    }
}

/// A Sinkhorn row. Both sides divide the cost by its maximum and get the same epsilon and
/// tolerance.
///
/// POT checks the 2-norm of one marginal's error every tenth (stabilized: twentieth) iteration. We
/// check the 1-norm, which is larger, after each iteration. So our criterion is the stricter one.
fn sinkhorn(method: &'static str) -> Row {
    let problem = "a=plan200-a b=plan200-b cost=plan200-distances";
    Row {
        name: "Sinkhorn 200×200, epsilon 1e-2, to 1e-9".into(),
        against: match method {
            "sinkhorn_log" => "POT sinkhorn_log",
            "sinkhorn_stabilized" => "POT sinkhorn_stabilized",
            _ => "POT sinkhorn (no logs)",
        },
        task: format!("sinkhorn {problem} epsilon=1e-2 tolerance=1e-9 method={method}"),
        check: Check::Plan { limit: 1e-7 },
        bar: None,
        shell: false,
    }
}

fn adapt(dims: usize, components: usize, start: &str, shell: bool) -> Row {
    let how = if shell { "from the shell" } else { "in process" };
    let given = start == "given";
    let k_means = if given { "" } else { ", own k-means" };
    Row {
        name: format!("adaptation {how}, n=8000+8000 d={dims} K={components} f32{k_means}"),
        against: "scikit-learn, POT",
        task: format!(
            "adapt data=bands{dims} components={components} start={start} precision=f32 {EM}"
        ),
        check: if given { Check::Labels { limit: 1e-3 } } else { Check::Accuracy { margin: 0.02 } },
        bar: Some(if shell { 10.0 } else { 5.0 }),
        shell,
    }
}

//! The Rust side of `cargo xtask bench host`: calls the library as its users do.
//!
//! Without arguments, it reads one task per line on stdin and answers each with one JSON object on
//! stdout. With arguments, it does that one task. A task is a name and `key=value` words. The
//! Python side (`xtask/bench/worker.py`) takes the same tasks. The `seconds` in an answer do not
//! include reading the files and writing the results.

mod adapt;
mod clock;
mod em;
mod machine;
mod task;
mod transport;

use std::io::{self, BufRead, Write};

use anyhow::{Context, bail};
use serde_json::{Value, json};
use task::Task;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut out = io::stdout().lock();
    if !words.is_empty() {
        writeln!(out, "{}", answer(&words.join(" "))?)?;
        return Ok(());
    }
    for line in io::stdin().lock().lines() {
        writeln!(out, "{}", answer(&line?)?)?;
        out.flush()?;
    }
    Ok(())
}

fn answer(line: &str) -> anyhow::Result<Value> {
    let task = Task::parse(line)?;
    let mut answer = match task.name {
        "em" => em::fit(&task),
        "density" => em::density(&task),
        "exact" => transport::exact(&task),
        "sinkhorn" => transport::sinkhorn(&task),
        "adapt" => adapt::adapt(&task),
        "machine" => machine::measure(),
        other => bail!("there is no task `{other}`"),
    }
    .with_context(|| line.to_owned())?;
    answer["process_cpu_seconds"] = json!(clock::cpu_seconds()?);
    answer["peak_bytes"] = json!(peak_bytes()?);
    Ok(answer)
}

/// Returns the peak memory of this process.
fn peak_bytes() -> anyhow::Result<u64> {
    let status = std::fs::read_to_string("/proc/self/status")?;
    let peak =
        status.lines().find_map(|line| line.strip_prefix("VmHWM:")?.trim().split(' ').next());
    Ok(1024 * peak.context("/proc/self/status has no VmHWM")?.parse::<u64>()?)
}

//! Measures wall time and CPU time. CPU time says more on a shared machine.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

/// A running measurement.
pub(crate) struct Clock {
    cpu: f64,
    wall: Instant,
}

impl Clock {
    pub(crate) fn start() -> anyhow::Result<Self> {
        Ok(Self { cpu: cpu_seconds()?, wall: Instant::now() })
    }

    /// Returns the wall seconds so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// Returns the first fields of an answer: `seconds` and `cpu_seconds`.
    pub(crate) fn stop(self) -> anyhow::Result<Value> {
        let seconds = self.seconds();
        Ok(json!({ "seconds": seconds, "cpu_seconds": cpu_seconds()? - self.cpu }))
    }
}

/// Returns the seconds that all threads of this process have run, as Linux counts them.
pub(crate) fn cpu_seconds() -> anyhow::Result<f64> {
    // Linux updates a thread's count when the thread leaves the processor.
    thread::sleep(Duration::from_micros(1));
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let text = fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().context("schedstat is empty")?.parse::<u64>()?;
    }
    Ok(nanoseconds as f64 * 1e-9)
}

//! Time on the wall, and time on the processor, which tells more where the machine is shared.

use std::fs;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context;
use serde_json::{Value, json};

/// A measurement under way.
pub(crate) struct Clock {
    cpu: f64,
    wall: Instant,
}

impl Clock {
    pub(crate) fn start() -> anyhow::Result<Self> {
        Ok(Self { cpu: cpu_seconds()?, wall: Instant::now() })
    }

    /// Seconds on the wall so far.
    pub(crate) fn seconds(&self) -> f64 {
        self.wall.elapsed().as_secs_f64()
    }

    /// The first fields of an answer: `seconds` and `cpu_seconds`.
    pub(crate) fn stop(self) -> anyhow::Result<Value> {
        let seconds = self.seconds();
        Ok(json!({ "seconds": seconds, "cpu_seconds": cpu_seconds()? - self.cpu }))
    }
}

/// Seconds that all threads of this process have run, as Linux tells them.
pub(crate) fn cpu_seconds() -> anyhow::Result<f64> {
    // A thread's account is brought up to date when it leaves the processor.
    thread::sleep(Duration::from_micros(1));
    let mut nanoseconds = 0;
    for thread in fs::read_dir("/proc/self/task")? {
        let text = fs::read_to_string(thread?.path().join("schedstat"))?;
        nanoseconds += text.split(' ').next().context("schedstat is empty")?.parse::<u64>()?;
    }
    Ok(nanoseconds as f64 * 1e-9)
}

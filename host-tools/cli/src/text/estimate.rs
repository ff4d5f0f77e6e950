//! Estimates for `rebearing inspect`: the work of a model on each core.

use std::fmt::Write as _;

use serde_json::{Value, json};

use rebearing::Encoding;
use rebearing_host::device::instructions::{Core, Shape};

/// The work for one window on one core in the worst case, estimated from instruction counts.
pub(crate) struct Estimate {
    core: &'static str,
    instructions: f64,
    clock_mhz: f64,
}

impl Estimate {
    /// Returns the windows per second at one instruction per cycle.
    fn per_second(&self) -> f64 {
        self.clock_mhz * 1e6 / self.instructions
    }

    pub(crate) fn json(&self) -> Value {
        json!({
            "core": self.core,
            "instructions": self.instructions.round(),
            "clock_mhz": self.clock_mhz,
            "decisions_per_second": self.per_second(),
        })
    }
}

/// Returns an estimate for each core at a clock of `clock_mhz`.
pub(crate) fn estimates(encoding: Encoding, shape: &Shape, clock_mhz: f64) -> Vec<Estimate> {
    let estimate = |core: Core| {
        let instructions = core.window(shape);
        Estimate { core: core.name, instructions, clock_mhz }
    };
    Core::of(encoding).map(estimate).collect()
}

/// Writes a line for each core.
pub(crate) fn write_estimates(text: &mut String, estimates: &[Estimate], clock_mhz: f64) {
    for (index, estimate) in estimates.iter().enumerate() {
        let name = if index == 0 { "estimate" } else { "" };
        let (core, millions) = (estimate.core, estimate.instructions / 1e6);
        let per_second = estimate.per_second();
        let _ = writeln!(
            text,
            "{name:<12} {core}: {millions:.3} million instructions a window at worst, \
             {per_second:.1} windows a second at {clock_mhz} MHz and one instruction a cycle"
        );
    }
}

//! Measures the machine's limits: f32 multiply-adds per second, and bytes from memory per second.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::hint::black_box;

use rayon::prelude::*;
use serde_json::{Value, json};

use crate::clock;

/// Rounds of each measurement; the best counts.
const ROUNDS: usize = 5;
/// Multiply-adds of each lane in a round.
const STEPS: usize = 2_000_000;
/// Values read in a round of the memory measurement: 128 MiB, more than most caches.
const VALUES: usize = 1 << 24;

/// Returns the peak rates per CPU second, with all threads of the pool at work.
pub(crate) fn measure() -> anyhow::Result<Value> {
    let threads = rayon::current_num_threads();
    let operations = (2 * STEPS * LANES * threads) as f64;
    let arithmetic = best(|| {
        rayon::broadcast(|_| {
            let (scale, shift) = (black_box(0.999), black_box(0.001));
            pulp::Arch::new().dispatch(MultiplyAdd { scale, shift })
        });
    })?;
    let values = vec![1.0_f64; VALUES];
    let read = best(|| {
        let sum: f64 = values.par_chunks(1 << 16).map(sum).sum();
        black_box(sum);
    })?;
    Ok(json!({
        "flops": operations / arithmetic,
        "bytes": (VALUES * size_of::<f64>()) as f64 / read,
    }))
}

/// Returns the fewest CPU seconds of all rounds, all threads together.
fn best(mut work: impl FnMut()) -> anyhow::Result<f64> {
    let mut best = f64::INFINITY;
    for _ in 0..ROUNDS {
        let before = clock::cpu_seconds()?;
        work();
        best = best.min(clock::cpu_seconds()? - before);
    }
    Ok(best)
}

// Twelve registers of 256 bits. They are enough chains to hide the latency of two units, and few
// enough to stay in the sixteen registers that every processor with AVX2 has.
const LANES: usize = 96;

/// Multiply-adds in a loop, compiled for the instructions found at run time.
struct MultiplyAdd {
    scale: f32,
    shift: f32,
}

impl pulp::WithSimd for MultiplyAdd {
    type Output = f32;

    #[inline(always)]
    fn with_simd<Instructions: pulp::Simd>(self, _: Instructions) -> f32 {
        let mut lanes = [1.0; LANES];
        for _ in 0..STEPS {
            for lane in &mut lanes {
                *lane = self.scale.mul_add(*lane, self.shift);
            }
        }
        lanes.iter().sum()
    }
}

/// Sums in lanes, so that reading takes most of the time.
fn sum(values: &[f64]) -> f64 {
    let mut lanes = [0.0; 16];
    for values in values.as_chunks::<16>().0 {
        for (lane, value) in lanes.iter_mut().zip(values) {
            *lane += value;
        }
    }
    lanes.iter().sum()
}

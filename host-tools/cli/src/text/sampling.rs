//! How a firmware samples, for people and for scripts.

use rebearing::monitor::Sampling;
use serde_json::{Value, json};

/// Describes a firmware's sampling as the rest of a sentence; nothing if it is not known or any
/// model will do.
pub(crate) fn sampling_text(sampling: Option<Sampling>) -> String {
    let Some(Sampling { rate_hz, longest_window_ms, full_scale_g }) = sampling else {
        return String::new();
    };
    let mut parts = Vec::new();
    if rate_hz > 0.0 {
        parts.push(format!("samples at {rate_hz} Hz"));
    }
    if full_scale_g > 0.0 {
        parts.push(format!("counts up to {full_scale_g} g"));
    }
    if longest_window_ms > 0 {
        parts.push(format!("windows up to {longest_window_ms} ms"));
    }
    if parts.is_empty() { String::new() } else { format!(": {}", parts.join(", ")) }
}

/// A firmware's sampling for scripts: null if it is not known, and null for a number that does not
/// matter to it.
pub(crate) fn sampling_json(sampling: Option<Sampling>) -> Value {
    let some = |number: f32| (number > 0.0).then_some(number);
    sampling.map_or(Value::Null, |sampling| {
        json!({
            "rate_hz": some(sampling.rate_hz),
            "longest_window_ms": (sampling.longest_window_ms > 0).then_some(sampling.longest_window_ms),
            "full_scale_g": some(sampling.full_scale_g),
        })
    })
}

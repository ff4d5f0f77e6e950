//! What `rebearing inspect` says of a model in i16 encoding.

use std::fmt::Write as _;
use std::path::Path;

use rebearing::model::format;
use serde_json::json;

use super::{Outcome, shown};
use crate::text::alarm::{decision_json, decision_lines, decision_ram};
use crate::text::drift;
use crate::text::estimate::{Estimate, estimates, write_estimates};
use rebearing::monitor::Samples;
use rebearing_host::data::counts::FULL_SCALE_COUNTS;
use rebearing_host::device::instructions::{Encoding, Shape};
use rebearing_host::device::{smallest, type_name};
use rebearing_host::files::hex;
use rebearing_host::model::encoded::IntegerModelBytes;
use rebearing_host::words::plural;

/// Describes a model for people and for scripts; `clock` is in megahertz.
pub(super) fn inspect(path: &Path, bytes: &IntegerModelBytes, clock: f64) -> Outcome {
    let model = bytes.model();
    let front_end = model.front_end();
    let monitor = smallest(&model, Samples::Counts);
    let provenance = model.provenance();
    let classes: Vec<&str> = (0..model.classes()).filter_map(|c| model.class_name(c)).collect();
    let healthy = model.healthy().and_then(|class| model.class_name(class));
    let nats = |q8: i32| f64::from(q8) / 256.0;
    let threshold =
        Some(model.log_likelihood_min()).filter(|t| *t > format::NEVER_UNKNOWN).map(nats);
    let full_scale = FULL_SCALE_COUNTS / f64::from(model.counts_per_unit());
    let gate = model.gate();
    let types = model.classes_part().map_or(0, |part| part.len());
    let fraction_bits = model.classes_part().map(|part| part.fraction_bits);

    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("model", format!("{}, format version {}, i16", path.display(), format::VERSION));
    line("made by", provenance.tool.into());
    line("carried", format!("from {} to {}", provenance.source, provenance.target));
    line("fitted from", hex(provenance.hash));
    line("classes", classes.join(", "));
    line("healthy", healthy.unwrap_or("none named").into());
    line(
        "front end",
        format!(
            "{} Hz, {}, {}-point FFT every {}, {} bands, {} a decision",
            front_end.rate_hz,
            plural(front_end.axes, "axis", "axes"),
            front_end.fft_len,
            plural(front_end.hop, "sample", "samples"),
            front_end.bands(),
            plural(front_end.segments, "segment", "segments")
        ),
    );
    let unit = model.unit().map(|unit| unit.name);
    let of = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
    line("samples", format!("16-bit counts, full scale ±{full_scale}{of}"));
    if let Some(gate) = gate {
        let (components, min) = (gate.part.len(), nats(gate.log_likelihood_min));
        let components = plural(components, "component", "components");
        let text = format!("{components}, healthy from a log-likelihood of {min:.2}");
        line("gate", text);
    }
    let components = plural(types, "component", "components");
    line("mixture", format!("{components} of {} features", monitor.dims));
    line("unknown", threshold.map_or("never".into(), |t| format!("below {t:.2} nats")));
    line("drift watch", drift::reference_text(model.drift()));
    let (decision, counts) = (model.alarm(), Some(model.counts_per_unit()));
    for (name, value) in decision_lines(&decision, front_end, counts) {
        line(name, value);
    }
    line("flash", format!("{} bytes (model file)", model.bytes().len()));
    line("RAM", format!("{} bytes as {}", monitor.device_ram(), type_name(&monitor)));
    line("", format!("and {}", decision_ram(&decision, model.classes())));
    let estimates = estimates(Encoding::I16, &Shape::of_integer(&model), clock);
    write_estimates(&mut text, &estimates, clock);

    let json = json!({
        "model": shown(path),
        "version": format::VERSION,
        "encoding": "i16",
        "tool": provenance.tool,
        "source": provenance.source,
        "target": provenance.target,
        "hash": hex(provenance.hash),
        "classes": classes,
        "healthy": healthy,
        "rate_hz": front_end.rate_hz,
        "axes": front_end.axes,
        "fft": front_end.fft_len,
        "hop": front_end.hop,
        "segments": front_end.segments,
        "bands": front_end.bands(),
        "band_edges": front_end.band_edges,
        "blocks": ["bands"],
        "needs_rpm": false,
        "window_samples": front_end.window_len(),
        "unit": unit,
        "full_scale": full_scale,
        "components": monitor.components,
        "dims": monitor.dims,
        "fraction_bits": fraction_bits,
        "log_likelihood_min": threshold,
        "gate": gate.map(|gate| json!({
            "components": gate.part.len(),
            "log_likelihood_min": nats(gate.log_likelihood_min),
            "direction": gate.direction,
            "fraction_bits": gate.part.fraction_bits,
        })),
        "drift": drift::reference_json(model.drift(), &classes),
        "decision": decision_json(&decision, model.classes(), counts),
        "severity": null,
        "estimates": estimates.iter().map(Estimate::json).collect::<Vec<_>>(),
        "flash": model.bytes().len(),
        "ram": monitor.device_ram(),
        "monitor": type_name(&monitor),
    });
    Outcome::new(text, json)
}

//! `rebearing inspect`: what is in a model file, and what it costs on the device.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use rebearing::FrontEnd;
use rebearing::Model;
use rebearing::model::format;
use serde_json::json;

use super::{Outcome, inspect_integer, shown};
use crate::text::alarm::{
    decision_json, decision_lines, decision_ram, severity_json, severity_line,
};
use crate::text::drift;
use crate::text::estimate::{Estimate, estimates, write_estimates};
use crate::text::model::unit_text;
use rebearing::monitor::{Capacities, Samples};
use rebearing_host::device::instructions::{Encoding, Shape};
use rebearing_host::device::{smallest, type_name};
use rebearing_host::features::front_end::Blocks;
use rebearing_host::files::hex;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::words::plural;

/// Show what is in a model file: flash, RAM, and the exact `Monitor` type that it needs.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing inspect motor-b.rbm")]
pub(super) struct InspectArgs {
    /// Model file that `rebearing adapt` wrote.
    #[arg(value_name = "MODEL.rbm")]
    model: PathBuf,

    /// Clock of the core, for the rate of decisions that it sustains.
    #[arg(long, value_name = "MHZ", default_value_t = 64.0, value_parser = clock)]
    clock: f64,
}

fn clock(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(megahertz) if megahertz > 0.0 && f64::is_finite(megahertz) => Ok(megahertz),
        _ => Err("a clock is a number of megahertz above zero".into()),
    }
}

fn blocks(front_end: &FrontEnd<'_>) -> Blocks {
    front_end.orders.map_or(Blocks::default(), |orders| Blocks {
        orders: orders.spectrum,
        envelope: orders.envelope,
    })
}

/// The blocks of order features in words.
fn order_bands(front_end: &FrontEnd<'_>) -> String {
    let Some(orders) = front_end.orders else { return String::new() };
    format!(
        ", {} bands of {} to {} shaft orders of {}; needs the shaft's speed",
        orders.bands,
        orders.first,
        orders.top(),
        match (orders.spectrum, orders.envelope) {
            (true, true) => "spectrum and envelope",
            (true, false) => "the spectrum",
            _ => "the envelope",
        }
    )
}

pub(super) fn run(args: &InspectArgs) -> Result<Outcome> {
    match DeployedModel::read(&args.model)? {
        DeployedModel::F32(bytes) => Ok(inspect(args, &bytes)),
        DeployedModel::I16(bytes) => Ok(inspect_integer::inspect(&args.model, &bytes, args.clock)),
    }
}

/// The log-likelihood below which windows are unknown; the format writes "never" as the smallest
/// f32.
fn threshold(model: &Model<'_>) -> Option<f32> {
    Some(model.log_likelihood_min()).filter(|t| *t > f32::MIN)
}

/// Gate, mixture and what is unknown to them, a name and a line each.
fn mixture_lines(model: &Model<'_>, monitor: &Capacities) -> Vec<(&'static str, String)> {
    let mut lines = Vec::new();
    let gate = model.gate();
    if let Some(gate) = gate {
        let (components, min) = (gate.components, gate.log_likelihood_min);
        let components = plural(components, "component", "components");
        let text = format!("{components}, healthy from a log-likelihood of {min:.2}");
        lines.push(("gate", text));
    }
    let types = monitor.components - gate.map_or(0, |gate| gate.components);
    let of =
        if gate.is_some_and(|gate| gate.direction) { "features' direction" } else { "features" };
    let components = plural(types, "component", "components");
    lines.push(("mixture", format!("{components} of {} {of}", monitor.dims)));
    let unknown = match (types, threshold(model)) {
        (0, _) => "every fault: the model has no fault types".into(),
        (_, None) => "never".into(),
        (_, Some(min)) => format!("below a log-likelihood of {min:.2}"),
    };
    lines.push(("unknown", unknown));
    lines
}

/// What a window is, in words.
fn window_text(front_end: &FrontEnd<'_>) -> String {
    let window_s = front_end.window_len() as f32 / front_end.rate_hz;
    let report_s = (front_end.hop * front_end.segments) as f32 / front_end.rate_hz;
    let segments = plural(front_end.segments, "segment", "segments");
    format!("{segments}, {window_s:.3} s of signal, every {report_s:.3} s")
}

fn inspect(args: &InspectArgs, bytes: &ModelBytes) -> Outcome {
    let model = bytes.model();
    let front_end = model.front_end();
    let monitor = smallest(&model, Samples::Floats);
    let counted = smallest(&model, Samples::Counts);
    let provenance = model.provenance();
    let classes: Vec<&str> = (0..model.classes()).filter_map(|c| model.class_name(c)).collect();
    let healthy = model.healthy().and_then(|class| model.class_name(class));

    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    line("model", format!("{}, format version {}", args.model.display(), format::VERSION));
    line("made by", provenance.tool.into());
    line("carried", format!("from {} to {}", provenance.source, provenance.target));
    line("fitted from", hex(provenance.hash));
    line("classes", classes.join(", "));
    line("healthy", healthy.unwrap_or("none named").into());
    line(
        "front end",
        format!(
            "{} Hz, {}, {}-point FFT every {}, {} bands{}",
            front_end.rate_hz,
            plural(front_end.axes, "axis", "axes"),
            front_end.fft_len,
            plural(front_end.hop, "sample", "samples"),
            front_end.bands(),
            order_bands(front_end)
        ),
    );
    line("decision", window_text(front_end));
    if let Some(unit) = model.unit() {
        line("samples", unit_text(unit.name, unit.full_scale.map(f64::from)));
    }
    for (name, value) in mixture_lines(&model, &monitor) {
        line(name, value);
    }
    let decision = model.alarm();
    for (name, value) in decision_lines(&decision, front_end, None) {
        line(name, value);
    }
    if let Some(severity) = model.severity() {
        line("severity", severity_line(&severity, front_end));
    }
    line("drift watch", drift::reference_text(model.drift()));
    line("flash", format!("{} bytes (model file)", model.bytes().len()));
    line("RAM", format!("{} bytes as {}", monitor.device_ram(), type_name(&monitor)));
    line("", format!("{} bytes as {}", counted.device_ram(), type_name(&counted)));
    line("", format!("and {}", decision_ram(&decision, model.classes())));

    let estimates = Shape::of(&model).map(|shape| estimates(Encoding::F32, &shape, args.clock));
    match &estimates {
        Some(estimates) => write_estimates(&mut text, estimates, args.clock),
        None => line("estimate", "none: the blocks of shaft orders are not in the bench".into()),
    }

    let json = json!({
        "model": shown(&args.model),
        "version": format::VERSION,
        "encoding": "f32",
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
        "blocks": blocks(front_end).names(),
        "needs_rpm": front_end.orders.is_some(),
        "window_samples": front_end.window_len(),
        "unit": model.unit().map(|unit| unit.name),
        "full_scale": model.unit().and_then(|unit| unit.full_scale),
        "components": monitor.components,
        "dims": monitor.dims,
        "log_likelihood_min": threshold(&model),
        "gate": model.gate().map(|gate| json!({
            "components": gate.components,
            "log_likelihood_min": gate.log_likelihood_min,
            "direction": gate.direction,
        })),
        "drift": drift::reference_json(model.drift(), &classes),
        "decision": decision_json(&decision, model.classes(), None),
        "severity": severity_json(model.severity()),
        "lead": model.early_drop().map(|lead| lead.features),
        "estimates": estimates.iter().flatten().map(Estimate::json).collect::<Vec<_>>(),
        "flash": model.bytes().len(),
        "ram": monitor.device_ram(),
        "monitor": type_name(&monitor),
        "ram_i16": counted.device_ram(),
        "monitor_i16": type_name(&counted),
    });
    Outcome::new(text, json)
}

//! `rebearing inspect`: shows a model file of either encoding and its cost on the device, or a
//! library.

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use rebearing::Encoding;
use rebearing::classify;
use rebearing::model::{Provenance, format};
use rebearing::monitor::{Capacities, Samples};
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::text::alarm::{alarm_json, alarm_lines, alarm_ram, severity_json, severity_line};
use crate::text::drift;
use crate::text::estimate::{Estimate, estimates, write_estimates};
use crate::text::library::{library_json, library_text};
use crate::text::model::{alias, front_end_text, not_in_counts, samples, window_text};
use crate::text::sampling::{sampling_json, sampling_text};
use crate::text::verdict::verdict_json;
use rebearing_host::device::firmware::Firmware;
use rebearing_host::device::flash::{check, sampling_warning};
use rebearing_host::device::instructions::Shape;
use rebearing_host::device::{smallest, type_name};
use rebearing_host::features::front_end::Blocks;
use rebearing_host::files::hex;
use rebearing_host::model::deployed::{ClassNames as _, DeployedModel};
use rebearing_host::model::verdict::verdict_text;
use rebearing_host::source::library::Library;
use rebearing_host::words::plural;

/// Show what is in a model file or a library
///
/// A model file: flash, RAM, verdict, and the exact type of the monitor that it needs. A library:
/// its machines, how well labels carry among them, and which of them is an odd one out.
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  rebearing inspect motor-b.rbm\n  rebearing inspect motor-b.rbm \
                  --firmware sensor.elf\n  rebearing inspect library.json"
)]
pub(super) struct InspectArgs {
    /// Model file that `rebearing adapt` wrote, or a library that `rebearing fit` wrote.
    #[arg(value_name = "MODEL.rbm|LIBRARY.json")]
    model: PathBuf,

    /// Clock of the core, to estimate how many windows a second it can label.
    #[arg(long, value_name = "MHZ", default_value_t = 64.0, value_parser = clock)]
    clock: f64,

    /// ELF file of a firmware. A model that this firmware would refuse is refused, with the reason.
    #[arg(long, value_name = "ELF")]
    firmware: Option<PathBuf>,
}

fn clock(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(megahertz) if megahertz > 0.0 && f64::is_finite(megahertz) => Ok(megahertz),
        _ => Err("a clock is a number of megahertz above zero".into()),
    }
}

/// The parts that differ between the two encodings, in common words and numbers.
struct Described<'m> {
    provenance: Provenance<'m>,
    /// The smallest monitor for the model.
    monitor: Capacities,
    gate: Option<Gate>,
    /// Components that distinguish the classes.
    types: usize,
    /// The log-likelihood in nats below which windows are unknown.
    threshold: Option<f64>,
    /// The threshold for scripts, in the digits of its encoding.
    threshold_json: Value,
    /// The work on each core; `None` if the bench has not measured the model's features.
    estimates: Option<Vec<Estimate>>,
    /// JSON fields that only this encoding has.
    own: Value,
}

/// The mixture that distinguishes healthy from faulty.
struct Gate {
    components: usize,
    /// Lowest healthy log-likelihood, in nats.
    min: f64,
    direction: bool,
    /// The gate for scripts.
    json: Value,
}

impl<'m> Described<'m> {
    fn new(model: &'m DeployedModel, clock: f64) -> Self {
        match model {
            DeployedModel::F32(bytes) => {
                let model = bytes.model();
                let monitor = smallest(&model, Samples::Floats);
                let gate = model.gate().map(|gate| {
                    let classify::Gate { components, log_likelihood_min, direction } = gate;
                    let own = json!({ "log_likelihood_min": log_likelihood_min });
                    Gate::new(components, f64::from(log_likelihood_min), direction, &own)
                });
                // The format writes "never" as the smallest f32.
                let threshold = Some(model.log_likelihood_min()).filter(|t| *t > f32::MIN);
                let estimates = Shape::of(&model).map(|s| estimates(Encoding::F32, &s, clock));
                let early_drop = model.early_drop().map(|early_drop| early_drop.features);
                Self {
                    provenance: model.provenance(),
                    types: monitor.components - gate.as_ref().map_or(0, |gate| gate.components),
                    monitor,
                    gate,
                    threshold: threshold.map(f64::from),
                    threshold_json: json!(threshold),
                    estimates,
                    own: json!({ "lead": early_drop }),
                }
            }
            DeployedModel::I16(bytes) => {
                let model = bytes.model();
                let nats = |q8: i32| f64::from(q8) / 256.0;
                let gate = model.gate().map(|gate| {
                    let own = json!({ "fraction_bits": gate.part.fraction_bits });
                    let (components, min) = (gate.part.len(), nats(gate.log_likelihood_min));
                    Gate::new(components, min, gate.direction, &own)
                });
                let threshold =
                    Some(model.log_likelihood_min()).filter(|t| *t > format::NEVER_UNKNOWN);
                let part = model.classes_part();
                let bits = part.map(|part| part.fraction_bits);
                Self {
                    provenance: model.provenance(),
                    monitor: smallest(&model, Samples::Counts),
                    gate,
                    types: part.map_or(0, |part| part.len()),
                    threshold: threshold.map(nats),
                    threshold_json: json!(threshold.map(nats)),
                    estimates: Some(estimates(Encoding::I16, &Shape::of_integer(&model), clock)),
                    own: json!({ "fraction_bits": bits }),
                }
            }
        }
    }

    /// A name and a line each for the gate, the mixture, and what counts as unknown.
    fn mixture_lines(&self) -> Vec<(&'static str, String)> {
        let components = |count: usize| plural(count, "component", "components");
        let mut lines = Vec::new();
        if let Some(Gate { components: own, min, .. }) = &self.gate {
            let own = components(*own);
            lines.push(("gate", format!("{own}, healthy from a log-likelihood of {min:.2}")));
        }
        let direction = self.gate.as_ref().is_some_and(|gate| gate.direction);
        let of = if direction { "features' direction" } else { "features" };
        let types = components(self.types);
        lines.push(("mixture", format!("{types} of {} {of}", self.monitor.dims)));
        let unknown = match (self.types, self.threshold) {
            (0, _) => "every fault: the model has no fault types".into(),
            (_, None) => "never".into(),
            (_, Some(min)) => format!("below a log-likelihood of {min:.2}"),
        };
        lines.push(("unknown", unknown));
        lines
    }
}

impl Gate {
    /// `own` holds the fields that only one encoding has.
    fn new(components: usize, min: f64, direction: bool, own: &Value) -> Self {
        let common = json!({
            "components": components,
            "log_likelihood_min": min,
            "direction": direction,
        });
        Self { components, min, direction, json: joined(common, own) }
    }
}

/// Adds the fields of `other` to an object.
fn joined(mut object: Value, other: &Value) -> Value {
    if let (Some(object), Some(other)) = (object.as_object_mut(), other.as_object()) {
        object.extend(other.clone());
    }
    object
}

pub(super) fn run(args: &InspectArgs) -> Result<Outcome> {
    if is_library(&args.model) {
        let library = Library::read(&args.model)?;
        let name = args.model.display();
        let text = format!(
            "{name}: {} with {}\n{}",
            plural(library.sources.len(), "machine", "machines"),
            library.first().classes.join(", "),
            library_text(&library)
        );
        return Ok(Outcome::new(text, library_json(&library)));
    }
    let model = DeployedModel::read(&args.model)?;
    let described = Described::new(&model, args.clock);
    let (mut text, mut json) = (text(args, &model, &described), json(args, &model, &described));
    if let Some(path) = &args.firmware {
        let firmware = Firmware::read(path)?;
        check(&model, &firmware)?;
        let sampling = firmware.descriptor.sampling;
        let runs = sampling_warning(&model, &firmware).map_or_else(
            || format!("{} runs this model{}", path.display(), sampling_text(sampling)),
            |warning| format!("warning: {warning}"),
        );
        let _ = writeln!(text, "{:<12} {runs}", "firmware");
        let firmware = json!({ "file": shown(path), "sampling": sampling_json(sampling) });
        json = joined(json, &json!({ "firmware": firmware }));
    }
    Ok(Outcome::new(text, json))
}

/// Whether a file is JSON. A model file begins with its magic bytes.
fn is_library(path: &Path) -> bool {
    let mut first = [0];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut first));
    read.is_ok() && (first[0] == b'{' || first[0].is_ascii_whitespace())
}

fn classes(model: &DeployedModel) -> Vec<&str> {
    (0..model.classes()).filter_map(|class| model.class_name(class)).collect()
}

fn text(args: &InspectArgs, model: &DeployedModel, described: &Described<'_>) -> String {
    let Described { provenance, monitor, .. } = described;
    let (front_end, alarm) = (model.front_end(), model.alarm());
    let healthy = model.healthy().and_then(|class| model.class_name(class));
    let mut text = String::new();
    let mut line = |name: &str, value: String| {
        let _ = writeln!(text, "{name:<12} {value}");
    };
    let encoding = model.encoding().name();
    let version = format::VERSION;
    line("model", format!("{}, format version {version}, {encoding}", args.model.display()));
    line("made by", provenance.tool.into());
    line("carried", format!("from {} to {}", provenance.source, provenance.target));
    line("fitted from", hex(provenance.hash));
    if let Some(verdict) = model.verdict() {
        line("verdict", verdict_text(&verdict));
    }
    line("classes", classes(model).join(", "));
    line("healthy", healthy.unwrap_or("none named").into());
    line("front end", front_end_text(&front_end));
    line("window", window_text(&front_end));
    if let Some(samples) = samples(model).0 {
        line("samples", samples);
    }
    for (name, value) in described.mixture_lines() {
        line(name, value);
    }
    for (name, value) in alarm_lines(&alarm, &front_end, model.counts_per_unit()) {
        line(name, value);
    }
    if let Some(severity) = model.severity() {
        line("severity", severity_line(&severity, &front_end));
    }
    line("drift watch", drift::reference_text(model.drift()));
    line("flash", format!("{} bytes (model file)", model.bytes().len()));
    let (name, ram) = model.monitor();
    line("RAM", format!("{ram} bytes as {name}"));
    if let DeployedModel::F32(_) = model {
        let counted = Capacities { samples: Samples::Counts, ..*monitor };
        let in_counts = || format!("{} bytes as {}", counted.device_ram(), type_name(&counted));
        line("", not_in_counts(model).unwrap_or_else(in_counts));
    }
    line("", format!("and {}", alarm_ram(&alarm, model.classes())));
    line("type", alias(provenance.target, monitor));
    match &described.estimates {
        Some(estimates) => write_estimates(&mut text, estimates, args.clock),
        None => line("estimate", "none: the blocks of shaft orders are not in the bench".into()),
    }
    text
}

fn json(args: &InspectArgs, model: &DeployedModel, described: &Described<'_>) -> Value {
    let Described { provenance, monitor, gate, threshold_json, estimates, own, .. } = described;
    let front_end = model.front_end();
    let orders = front_end.orders;
    let blocks = orders.map_or(Blocks::default(), |orders| Blocks {
        orders: orders.spectrum,
        envelope: orders.envelope,
    });
    let (name, ram) = model.monitor();
    let common = json!({
        "model": shown(&args.model),
        "version": format::VERSION,
        "encoding": model.encoding().name(),
        "tool": provenance.tool,
        "source": provenance.source,
        "target": provenance.target,
        "hash": hex(provenance.hash),
        "verdict": verdict_json(model.verdict()),
        "classes": classes(model),
        "healthy": model.healthy().and_then(|class| model.class_name(class)),
        "rate_hz": front_end.rate_hz,
        "axes": front_end.axes,
        "fft": front_end.fft_len,
        "hop": front_end.hop,
        "segments": front_end.segments,
        "bands": front_end.bands(),
        "band_edges": front_end.band_edges,
        "blocks": blocks.names(),
        "needs_rpm": orders.is_some(),
        "window_samples": front_end.window_len(),
        "unit": model.unit().map(|unit| unit.name),
        "full_scale": samples(model).1,
        "components": monitor.components,
        "dims": monitor.dims,
        "log_likelihood_min": threshold_json,
        "gate": gate.as_ref().map(|gate| &gate.json),
        "drift": drift::reference_json(model.drift(), &classes(model)),
        "decision": alarm_json(&model.alarm(), model.classes(), model.counts_per_unit()),
        "severity": severity_json(model.severity()),
        "estimates": estimates.iter().flatten().map(Estimate::json).collect::<Vec<_>>(),
        "flash": model.bytes().len(),
        "ram": ram,
        "monitor": name,
    });
    let common = joined(common, own);
    match model {
        DeployedModel::I16(_) => common,
        DeployedModel::F32(_) => {
            let offered = not_in_counts(model).is_none();
            let counted = Capacities { samples: Samples::Counts, ..*monitor };
            let in_counts = json!({
                "ram_i16": offered.then(|| counted.device_ram()),
                "monitor_i16": offered.then(|| type_name(&counted)),
            });
            joined(common, &in_counts)
        }
    }
}

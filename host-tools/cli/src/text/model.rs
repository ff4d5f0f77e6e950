//! Describes a model and its cost in words.

use std::fmt::Write as _;

use rebearing::monitor::{Capacities, Samples};
use rebearing::{Encoding, FrontEnd, ModelError};
use rebearing_host::data::counts::FULL_SCALE_COUNTS;
use rebearing_host::device::smallest;
use rebearing_host::features::bands;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::words::plural;

/// Returns flash, RAM and type in one line.
pub(crate) fn cost_line(model: &DeployedModel) -> String {
    let (monitor, ram) = model.monitor();
    format!("device: {} bytes of flash, {ram} bytes of RAM as {monitor}", model.bytes().len())
}

/// Describes a unit, and the full scale in it.
pub(crate) fn unit_text(unit: &str, full_scale: Option<f64>) -> String {
    full_scale.map_or(unit.to_owned(), |value| format!("{unit}, full scale ±{value} {unit}"))
}

/// Describes how samples become features.
pub(crate) fn front_end_text(front_end: &FrontEnd<'_>) -> String {
    let mut text = format!(
        "{} Hz, {}, {}-point FFT every {}, {}",
        front_end.rate_hz,
        plural(front_end.axes, "axis", "axes"),
        front_end.fft_len,
        plural(front_end.hop, "sample", "samples"),
        bands::in_words(front_end),
    );
    if let Some(orders) = front_end.orders {
        let of = match (orders.spectrum, orders.envelope) {
            (true, true) => "spectrum and envelope",
            (true, false) => "the spectrum",
            _ => "the envelope",
        };
        let (bands, first, top) = (orders.bands, orders.first, orders.top());
        let _ = write!(
            text,
            ", {bands} bands of {first} to {top} shaft orders of {of}; needs the shaft's speed"
        );
    }
    text
}

/// Describes a window: its segments, length and spacing.
pub(crate) fn window_text(front_end: &FrontEnd<'_>) -> String {
    let window_s = front_end.window_len() as f32 / front_end.rate_hz;
    let report_s = (front_end.hop * front_end.segments) as f32 / front_end.rate_hz;
    let segments = plural(front_end.segments, "segment", "segments");
    format!("{segments}, {window_s:.3} s of signal, every {report_s:.3} s")
}

/// Returns the unit of the device's samples, and their full scale in it.
pub(crate) fn samples(model: &DeployedModel) -> (Option<String>, Option<f64>) {
    let unit = model.unit();
    let of_counts = model.counts_per_unit().map(|counts| FULL_SCALE_COUNTS / f64::from(counts));
    let full_scale = of_counts.or(unit.and_then(|unit| unit.full_scale).map(f64::from));
    let text = match (unit.map(|unit| unit.name), of_counts) {
        (Some(unit), None) => Some(unit_text(unit, full_scale)),
        (None, None) => None,
        (unit, Some(scale)) => {
            let of = unit.map(|unit| format!(" {unit}")).unwrap_or_default();
            Some(format!("16-bit counts, full scale ±{scale}{of}"))
        }
    };
    (text, full_scale)
}

/// Returns the reason why an f32 model does not work with samples in counts; `None` if it does.
/// Severity and the idle threshold are in the model's unit. With counts, they would be wrong by the
/// number of counts per unit.
pub(crate) fn not_in_counts(model: &DeployedModel) -> Option<String> {
    let DeployedModel::F32(bytes) = model else { return None };
    // The device's own check, so that both always agree.
    let refused = smallest(&bytes.model(), Samples::Counts).check(&bytes.model());
    if refused != Err(ModelError::NotInCounts) {
        return None;
    }
    let measures = match (model.severity().is_some(), model.alarm().idle.is_some()) {
        (true, false) => "severity is",
        (false, _) => "the idle threshold is",
        (true, true) => "severity and the idle threshold are",
    };
    let of = model.unit().map_or("the unit of the recordings", |unit| unit.name);
    Some(format!("not for i16 samples: {measures} in {of}, not in counts"))
}

/// Returns the type alias of a model's monitor, ready to paste into a firmware, with a name for
/// every number.
pub(crate) fn alias(target: &str, monitor: &Capacities) -> String {
    let Capacities { encoding, samples, fft, axes, dims, components, classes } = monitor;
    let model = match (encoding, samples) {
        (Encoding::F32, Samples::Floats) => "f32, samples: f32",
        (Encoding::F32, Samples::Counts) => "f32, samples: i16",
        (Encoding::I16, _) => "i16",
    };
    format!(
        "type {}<'m> = rebearing::monitor!('m, model: {model}, fft: {fft}, axes: {axes}, \
         features: {dims}, components: {components}, classes: {classes});",
        type_name(target)
    )
}

/// Converts a machine's name to the name of a type: `motor-b` is `MotorB`.
fn type_name(machine: &str) -> String {
    let words = machine.split(|c: char| !c.is_ascii_alphanumeric());
    let name: String = words
        .flat_map(|word| {
            let (first, rest) = word.split_at(word.len().min(1));
            [first.to_ascii_uppercase(), rest.to_owned()]
        })
        .collect();
    let usable = name.starts_with(|c: char| c.is_ascii_alphabetic()) && name != "Self";
    if usable { name } else { format!("Machine{}", name.trim_start_matches("Self")) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_type_has_the_machines_name_and_names_its_numbers() {
        for (machine, name) in [
            ("motor-b", "MotorB"),
            ("pump 7 (east)", "Pump7East"),
            ("3", "Machine3"),
            ("", "Machine"),
            ("self", "Machine"),
            ("ポンプ", "Machine"),
        ] {
            assert_eq!(type_name(machine), name, "{machine:?}");
        }
        let monitor = |encoding, samples| Capacities {
            encoding,
            samples,
            fft: 2048,
            axes: 1,
            dims: 32,
            components: 14,
            classes: 7,
        };
        assert_eq!(
            alias("pump", &monitor(Encoding::F32, Samples::Floats)),
            "type Pump<'m> = rebearing::monitor!('m, model: f32, samples: f32, fft: 2048, axes: 1, \
             features: 32, components: 14, classes: 7);"
        );
        assert_eq!(
            alias("pump", &monitor(Encoding::I16, Samples::Counts)),
            "type Pump<'m> = rebearing::monitor!('m, model: i16, fft: 2048, axes: 1, features: 32, \
             components: 14, classes: 7);"
        );
    }
}

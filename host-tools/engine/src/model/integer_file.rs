//! The writer of i16 model files.

use rebearing::Model;
use rebearing::model::{Section, format};

use crate::model::bytes::{file, put_floats, put_words};
use crate::model::encoded::IntegerModelBytes;
use crate::model::file::ModelFileError;
use crate::model::quantise::{IntegerContents, PartContents};
use crate::model::shared::{Shared, gate_flags};

/// Returns the bytes of the i16 form of `model`, which the device's own reader has accepted.
pub fn encode_integer(
    model: &Model<'_>,
    contents: &IntegerContents,
) -> Result<IntegerModelBytes, ModelFileError> {
    let (front_end, provenance) = (model.front_end(), model.provenance());
    let parts = || contents.gate.iter().chain([&contents.classes]);
    let shared = Shared {
        rate_hz: f64::from(front_end.rate_hz),
        axes: front_end.axes,
        fft_len: front_end.fft_len,
        hop: front_end.hop,
        segments: front_end.segments,
        band_edges: front_end.band_edges,
        components: parts().map(|part| part.energies.len()).sum(),
        class_names: (0..model.classes()).filter_map(|class| model.class_name(class)).collect(),
        healthy: model.healthy(),
        tool: provenance.tool,
        source: provenance.source,
        target: provenance.target,
        hash: provenance.hash,
    };
    let bytes = file(|section| {
        let mut out = Vec::new();
        match section {
            Section::Integer => {
                put_floats(&mut out, [f64::from(contents.counts_per_unit)]);
                put_words(&mut out, [contents.early_drop as u32]);
                let min = Some(model.log_likelihood_min()).filter(|min| *min > f32::MIN);
                put_integers(&mut out, [min.map_or(format::NEVER_UNKNOWN, threshold)]);
                put_part(&mut out, &contents.classes);
            }
            Section::IntegerScaling => {
                put_words(&mut out, contents.order.iter().copied());
                put_integers(&mut out, contents.shift.iter().chain(&contents.scale).copied());
            }
            Section::IntegerMixture => {
                put_words(&mut out, parts().flat_map(|part| part.energies.iter().copied()));
                for part in parts() {
                    for row in part.means.iter().zip(&part.scales).flat_map(|(m, s)| [m, s]) {
                        out.extend(row.iter().flat_map(|x| x.to_le_bytes()));
                        // A row with an odd number of features is padded to whole words.
                        out.resize(out.len().next_multiple_of(4), 0);
                    }
                }
            }
            Section::IntegerLabels => {
                out.extend(contents.labels.iter().flat_map(|x| x.to_le_bytes()));
            }
            Section::IntegerGate => {
                let (part, gate) = (contents.gate.as_ref()?, model.gate()?);
                put_words(&mut out, [part.energies.len() as u32]);
                put_part(&mut out, part);
                put_integers(&mut out, [threshold(gate.log_likelihood_min)]);
                put_words(&mut out, [gate_flags(gate.direction)]);
            }
            section => return shared.payload(section),
        }
        Some(out)
    });
    Ok(IntegerModelBytes::from_bytes(&bytes)?)
}

/// Converts nats to Q8. The smallest number is reserved for "never".
fn threshold(nats: f32) -> i32 {
    ((f64::from(nats) * 256.0).round() as i32).max(format::NEVER_UNKNOWN + 1)
}

fn put_part(out: &mut Vec<u8>, part: &PartContents) {
    put_words(out, [part.fraction_bits]);
    put_integers(out, [part.top]);
}

fn put_integers(out: &mut Vec<u8>, integers: impl IntoIterator<Item = i32>) {
    put_words(out, integers.into_iter().map(i32::cast_unsigned));
}

//! The writer of model files in i16 encoding, beside that of the f32 ones.

use std::path::Path;

use rebearing::integer::IntegerModel;
use rebearing::model::format;
use rebearing::{Model, ModelError};
use zerocopy::IntoBytes;

use crate::model::bytes::{
    aligned, appended, put_floats, put_texts, put_words, seal, section, start,
};
use crate::model::file::ModelFileError;
use crate::model::quantise::{IntegerContents, PartContents};
use crate::model::sections::Section;

/// The bytes of a valid i16 model file, aligned as the device's reader wants them.
#[derive(Debug, Clone)]
pub struct IntegerModelBytes {
    words: Vec<u32>,
}

impl IntegerModelBytes {
    /// Reads and checks an i16 model file.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|reason| ModelFileError::Unreadable { path: name(), reason })?;
        Self::from_bytes(&bytes).map_err(|reason| ModelFileError::Invalid { path: name(), reason })
    }

    /// Copies `bytes` to an aligned buffer and checks them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let words = aligned(bytes);
        IntegerModel::parse(words.as_bytes().get(..bytes.len()).unwrap_or(&[]))?;
        Ok(Self { words })
    }

    /// The same model with `sections` behind its own.
    pub fn with_sections(&self, sections: &[Section]) -> Result<Self, ModelError> {
        Self::from_bytes(&appended(self.bytes(), sections))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    /// The checked view of the bytes.
    ///
    /// # Panics
    /// Never: the bytes were checked when they came in and cannot change.
    pub fn model(&self) -> IntegerModel<'_> {
        IntegerModel::parse(self.bytes()).expect("checked when the buffer was made")
    }
}

/// Writes the i16 form of `model`; the device's own reader has accepted what is returned.
pub fn encode_integer(
    model: &Model<'_>,
    contents: &IntegerContents,
) -> Result<IntegerModelBytes, ModelFileError> {
    let mut file = start();
    let front_end = model.front_end();
    let parts = || contents.gate.iter().chain([&contents.classes]);
    section(&mut file, format::COUNTS, |out| {
        let healthy = model.healthy().map_or(format::NO_CLASS, |class| class as u32);
        let components = parts().map(|part| part.energies.len()).sum();
        let counts = [front_end.axes, front_end.bands(), components, model.classes()];
        put_words(out, counts.map(|count| count as u32));
        put_words(out, [healthy]);
    });
    section(&mut file, format::FRONT_END, |out| {
        put_floats(out, [f64::from(front_end.rate_hz)]);
        let shape = [front_end.fft_len, front_end.hop, front_end.segments];
        put_words(out, shape.map(|count| count as u32));
        put_words(out, front_end.band_edges.iter().copied());
    });
    section(&mut file, format::INTEGER, |out| {
        put_floats(out, [f64::from(contents.counts_per_unit)]);
        put_words(out, [contents.first_dims as u32]);
        let min = Some(model.log_likelihood_min()).filter(|min| *min > f32::MIN);
        put_integers(out, [min.map_or(format::NEVER_UNKNOWN, threshold)]);
        put_part(out, &contents.classes);
    });
    section(&mut file, format::INTEGER_SCALING, |out| {
        put_words(out, contents.order.iter().copied());
        put_integers(out, contents.shift.iter().chain(&contents.scale).copied());
    });
    section(&mut file, format::INTEGER_MIXTURE, |out| {
        put_words(out, parts().flat_map(|part| part.energies.iter().copied()));
        for part in parts() {
            for row in part.means.iter().zip(&part.scales).flat_map(|(m, s)| [m, s]) {
                out.extend(row.iter().flat_map(|x| x.to_le_bytes()));
                // A row of an odd number of features is padded to whole words.
                out.resize(out.len().next_multiple_of(4), 0);
            }
        }
    });
    section(&mut file, format::INTEGER_LABELS, |out| {
        out.extend(contents.labels.iter().flat_map(|x| x.to_le_bytes()));
    });
    section(&mut file, format::NAMES, |out| {
        let names: Vec<&str> = (0..model.classes()).filter_map(|c| model.class_name(c)).collect();
        put_texts(out, &names);
    });
    if let (Some(part), Some(gate)) = (&contents.gate, model.gate()) {
        section(&mut file, format::INTEGER_GATE, |out| {
            put_words(out, [part.energies.len() as u32]);
            put_part(out, part);
            put_integers(out, [threshold(gate.log_likelihood_min)]);
            put_words(out, [if gate.direction { format::GATE_DIRECTION } else { 0 }]);
        });
    }
    section(&mut file, format::PROVENANCE, |out| {
        let provenance = model.provenance();
        out.extend(provenance.hash);
        put_texts(out, &[provenance.tool, provenance.source, provenance.target]);
    });
    seal(&mut file);
    Ok(IntegerModelBytes::from_bytes(&file)?)
}

/// Nats in Q8; the smallest number is kept for "never".
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

//! The sections that model files of both encodings have.

use rebearing::model::{Section, format};

use crate::model::bytes::{put_floats, put_texts, put_words};

/// The contents of the shared sections.
pub(super) struct Shared<'a> {
    pub(super) rate_hz: f64,
    pub(super) axes: usize,
    pub(super) fft_len: usize,
    pub(super) hop: usize,
    pub(super) segments: usize,
    pub(super) band_edges: &'a [u32],
    pub(super) components: usize,
    pub(super) class_names: Vec<&'a str>,
    pub(super) healthy: Option<usize>,
    pub(super) tool: &'a str,
    pub(super) source: &'a str,
    pub(super) target: &'a str,
    pub(super) hash: &'a [u8; format::HASH_LEN],
}

impl Shared<'_> {
    /// The payload of a section that both encodings have; `None` for any other.
    pub(super) fn payload(&self, section: Section) -> Option<Vec<u8>> {
        let mut out = Vec::new();
        match section {
            Section::Counts => {
                let bands = self.band_edges.len().saturating_sub(1);
                let counts = [self.axes, bands, self.components, self.class_names.len()];
                put_words(&mut out, counts.map(|count| count as u32));
                let healthy = self.healthy.map_or(format::NO_CLASS, |class| class as u32);
                put_words(&mut out, [healthy]);
            }
            Section::FrontEnd => {
                put_floats(&mut out, [self.rate_hz]);
                let shape = [self.fft_len, self.hop, self.segments];
                put_words(&mut out, shape.map(|count| count as u32));
                put_words(&mut out, self.band_edges.iter().copied());
            }
            Section::Names => put_texts(&mut out, &self.class_names),
            Section::Provenance => {
                out.extend(self.hash);
                put_texts(&mut out, &[self.tool, self.source, self.target]);
            }
            _ => return None,
        }
        Some(out)
    }
}

/// Flags of a gate.
pub(super) fn gate_flags(direction: bool) -> u32 {
    if direction { format::GATE_DIRECTION } else { 0 }
}

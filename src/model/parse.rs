//! The one reader of the model file.

use zerocopy::FromBytes;

pub(crate) use super::parse_integer::parse_integer;

use super::drift::drift;
use super::format::{self, HEADER_LEN, SECTION_HEADER_LEN};
use super::unit::unit;
use super::{Encoding, FrontEnd, Gate, Lead, Model, ModelError, Texts, decision, severity};
use crate::orders::Orders;
use crate::spectrum::FFT_LENGTHS;

#[cfg(target_endian = "big")]
compile_error!(
    "model files are little-endian and read in place; big-endian targets are not supported"
);

/// Length that the header declares, once magic and version are right.
pub(super) fn declared_len(bytes: &[u8]) -> Result<usize, ModelError> {
    let header: &[u8; HEADER_LEN] =
        bytes.first_chunk().ok_or(ModelError::TooShort { needs: HEADER_LEN, has: bytes.len() })?;
    let [m0, m1, m2, m3, v0, v1, r0, r1, l0, l1, l2, l3, ..] = *header;
    if [m0, m1, m2, m3] != format::MAGIC {
        return Err(ModelError::WrongMagic);
    }
    let version = u16::from_le_bytes([v0, v1]);
    if version != format::VERSION {
        return Err(ModelError::UnsupportedVersion { found: version });
    }
    if [r0, r1] != [0, 0] {
        return Err(ModelError::ReservedBits);
    }
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if length < HEADER_LEN || !length.is_multiple_of(4) {
        return Err(ModelError::OutOfRange { field: "total length", index: 0 });
    }
    Ok(length)
}

/// The model file at the start of a region that may be larger than it.
pub(crate) fn file_of(region: &[u8]) -> Result<&[u8], ModelError> {
    let length = declared_len(region)?;
    region.get(..length).ok_or(ModelError::TooShort { needs: length, has: region.len() })
}

/// Checks length, alignment and checksum of a file that fills `bytes` exactly, and finds its
/// sections.
pub(super) fn sections(bytes: &[u8]) -> Result<Sections<'_>, ModelError> {
    let length = declared_len(bytes)?;
    if bytes.len() < length {
        return Err(ModelError::TooShort { needs: length, has: bytes.len() });
    }
    if bytes.len() > length {
        return Err(ModelError::TooLong { needs: length, has: bytes.len() });
    }
    if !bytes.as_ptr().addr().is_multiple_of(4) {
        return Err(ModelError::Misaligned);
    }
    let stored = match bytes.get(format::CRC_OFFSET..).and_then(<[u8]>::first_chunk) {
        Some(stored) => u32::from_le_bytes(*stored),
        None => return Err(ModelError::TooShort { needs: HEADER_LEN, has: bytes.len() }),
    };
    let computed = format::crc32(bytes);
    if stored != computed {
        return Err(ModelError::BadCrc { stored, computed });
    }
    Sections::walk(bytes)
}

pub(super) fn parse(bytes: &[u8]) -> Result<Model<'_>, ModelError> {
    let sections = sections(bytes)?;
    if sections.integer.is_some() {
        return Err(ModelError::WrongEncoding { found: Encoding::I16 });
    }
    for (section, tag) in [
        (sections.integer_scaling, format::INTEGER_SCALING),
        (sections.integer_mixture, format::INTEGER_MIXTURE),
        (sections.integer_labels, format::INTEGER_LABELS),
        (sections.integer_gate, format::INTEGER_GATE),
    ] {
        no_section(section, tag)?;
    }
    let (counts, healthy) = Counts::read(sections.counts)?;
    let orders = match sections.orders {
        Some(payload) => Some(orders(payload, &counts)?),
        None => None,
    };
    let front_end = FrontEnd { orders, ..front_end(sections.front_end, &counts)? };
    let dims = front_end.dims();

    let scaling = floats(format::SCALING, need(sections.scaling, format::SCALING)?, 2 * dims)?;
    let (shift, scale) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
    check("shift", shift, |x| x.abs() <= format::MAX_SHIFT)?;
    check("scale", scale, |x| x > 0.0 && x <= format::MAX_SCALE)?;

    let mixture = need(sections.mixture, format::MIXTURE)?;
    let mixture = floats(format::MIXTURE, mixture, counts.components * (1 + 2 * dims))?;
    let (constants, whitening) = mixture.split_at_checked(counts.components).unwrap_or((&[], &[]));
    check("component constant", constants, |x| x.abs() <= format::MAX_OFFSET)?;
    for (k, component) in whitening.chunks_exact((2 * dims).max(1)).enumerate() {
        let (scale, offset) = component.split_at_checked(dims).unwrap_or((&[], &[]));
        let at = |index| k * dims + index;
        if let Some(i) = scale.iter().position(|x| !(*x > 0.0 && *x <= format::MAX_WHITENING)) {
            return Err(ModelError::OutOfRange { field: "component precision", index: at(i) });
        }
        let bounded = |x: &f32| x.is_finite() && x.abs() <= format::MAX_OFFSET;
        if let Some(i) = offset.iter().position(|x| !bounded(x)) {
            return Err(ModelError::OutOfRange { field: "component mean", index: at(i) });
        }
    }

    let labels = need(sections.labels, format::LABELS)?;
    let labels = floats(format::LABELS, labels, counts.components * counts.classes)?;
    check("label", labels, |x| (0.0..=1.0).contains(&x))?;
    for (k, row) in labels.chunks_exact(counts.classes.max(1)).enumerate() {
        let mut sum = 0.0;
        for label in row {
            sum += label;
        }
        if (sum - 1.0).abs() > format::LABEL_SUM_TOLERANCE {
            return Err(ModelError::OutOfRange { field: "sum of a label row", index: k });
        }
    }

    let names = texts(format::NAMES, sections.names, counts.classes)?;
    let thresholds = need(sections.thresholds, format::THRESHOLDS)?;
    let thresholds = floats(format::THRESHOLDS, thresholds, format::THRESHOLDS_WORDS)?;
    check("threshold", thresholds, |_| true)?;
    let gate = match sections.gate {
        Some(payload) => Some(gate(payload, &counts, labels, healthy)?),
        None => None,
    };
    let lead = match sections.lead {
        Some(payload) => Some(lead(payload, dims)?),
        None => None,
    };
    let (hash, provenance) = provenance(sections.provenance)?;
    drift(bytes, counts.classes)?;
    unit(bytes)?;

    Ok(Model {
        bytes,
        front_end,
        shift,
        scale,
        constants,
        whitening,
        labels,
        names,
        provenance,
        hash,
        healthy,
        log_likelihood_min: thresholds.first().copied().unwrap_or(f32::MIN),
        gate,
        lead,
        decision: decision::check(sections.decision, false)?,
        severity: severity::check(sections.severity, &front_end)?,
    })
}

/// The payload of each section that version 1 knows. Which must be there depends on the encoding.
pub(super) struct Sections<'a> {
    pub(super) counts: &'a [u8],
    pub(super) front_end: &'a [u8],
    pub(super) names: &'a [u8],
    pub(super) provenance: &'a [u8],
    pub(super) orders: Option<&'a [u8]>,
    pub(super) scaling: Option<&'a [u8]>,
    pub(super) mixture: Option<&'a [u8]>,
    pub(super) labels: Option<&'a [u8]>,
    pub(super) thresholds: Option<&'a [u8]>,
    pub(super) gate: Option<&'a [u8]>,
    pub(super) lead: Option<&'a [u8]>,
    pub(super) integer: Option<&'a [u8]>,
    pub(super) integer_scaling: Option<&'a [u8]>,
    pub(super) integer_mixture: Option<&'a [u8]>,
    pub(super) integer_labels: Option<&'a [u8]>,
    pub(super) integer_gate: Option<&'a [u8]>,
    pub(super) decision: Option<&'a [u8]>,
    pub(super) severity: Option<&'a [u8]>,
}

impl<'a> Sections<'a> {
    fn walk(bytes: &'a [u8]) -> Result<Self, ModelError> {
        const TAGS: [[u8; 4]; 18] = [
            format::COUNTS,
            format::FRONT_END,
            format::NAMES,
            format::PROVENANCE,
            format::ORDERS,
            format::SCALING,
            format::MIXTURE,
            format::LABELS,
            format::THRESHOLDS,
            format::GATE,
            format::LEAD,
            format::INTEGER,
            format::INTEGER_SCALING,
            format::INTEGER_MIXTURE,
            format::INTEGER_LABELS,
            format::INTEGER_GATE,
            format::DECISION,
            format::SEVERITY,
        ];
        let mut found: [Option<&[u8]>; 18] = [None; 18];
        let mut rest = bytes.get(HEADER_LEN..).unwrap_or(&[]);
        while !rest.is_empty() {
            let Some((header, after)) = rest.split_first_chunk::<SECTION_HEADER_LEN>() else {
                return Err(ModelError::TooShort { needs: SECTION_HEADER_LEN, has: rest.len() });
            };
            let [t0, t1, t2, t3, l0, l1, l2, l3] = *header;
            let tag = [t0, t1, t2, t3];
            let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
            if !length.is_multiple_of(4) {
                return Err(ModelError::SectionLength {
                    tag,
                    needs: length.next_multiple_of(4),
                    has: length,
                });
            }
            let Some((payload, after)) = after.split_at_checked(length) else {
                return Err(ModelError::SectionLength { tag, needs: length, has: after.len() });
            };
            rest = after;
            let slot = TAGS.iter().zip(found.iter_mut()).find(|(known, _)| **known == tag);
            match slot {
                Some((_, Some(_))) => return Err(ModelError::RepeatedSection { tag }),
                Some((_, slot)) => *slot = Some(payload),
                // A lower-case first letter marks what a reader may pass over.
                None if t0.is_ascii_lowercase() => {}
                None => return Err(ModelError::UnknownSection { tag }),
            }
        }
        let [
            counts,
            front_end,
            names,
            provenance,
            orders,
            scaling,
            mixture,
            labels,
            thresholds,
            gate,
            lead,
            integer,
            integer_scaling,
            integer_mixture,
            integer_labels,
            integer_gate,
            decision,
            severity,
        ] = found;
        Ok(Self {
            counts: need(counts, format::COUNTS)?,
            front_end: need(front_end, format::FRONT_END)?,
            names: need(names, format::NAMES)?,
            provenance: need(provenance, format::PROVENANCE)?,
            orders,
            scaling,
            mixture,
            labels,
            thresholds,
            gate,
            lead,
            integer,
            integer_scaling,
            integer_mixture,
            integer_labels,
            integer_gate,
            decision,
            severity,
        })
    }
}

pub(super) fn need(section: Option<&[u8]>, tag: [u8; 4]) -> Result<&[u8], ModelError> {
    section.ok_or(ModelError::MissingSection { tag })
}

/// Refuses a section of the other encoding.
pub(super) fn no_section(section: Option<&[u8]>, tag: [u8; 4]) -> Result<(), ModelError> {
    if section.is_some() { Err(ModelError::MixedEncodings { tag }) } else { Ok(()) }
}

/// The hash and the texts of the provenance section.
pub(super) fn provenance(
    payload: &[u8],
) -> Result<(&[u8; format::HASH_LEN], Texts<'_>), ModelError> {
    let (hash, rest) = payload.split_first_chunk().ok_or(length_error(
        format::PROVENANCE,
        format::HASH_LEN,
        payload,
    ))?;
    Ok((hash, texts(format::PROVENANCE, rest, format::PROVENANCE_TEXTS)?))
}

/// The counts that every other section's length follows from.
pub(super) struct Counts {
    axes: usize,
    bands: usize,
    pub(super) components: usize,
    pub(super) classes: usize,
}

impl Counts {
    /// Reads the counts, and the index of the healthy class that stands behind them.
    pub(super) fn read(payload: &[u8]) -> Result<(Self, u32), ModelError> {
        let words = words(format::COUNTS, payload, format::COUNTS_WORDS)?;
        let &[axes, bands, components, classes, healthy] = words else {
            return Err(length_error(format::COUNTS, 4 * format::COUNTS_WORDS, payload));
        };
        let within = |field, value: u32, most: usize| {
            let value = value as usize;
            if (1..=most).contains(&value) {
                Ok(value)
            } else {
                Err(ModelError::OutOfRange { field, index: 0 })
            }
        };
        let axes = within("number of axes", axes, format::MAX_AXES)?;
        let bands = within("number of bands", bands, format::MAX_BANDS)?;
        let components = within("number of components", components, format::MAX_COMPONENTS)?;
        let classes = within("number of classes", classes, format::MAX_CLASSES)?;
        if healthy != format::NO_CLASS && healthy as usize >= classes {
            return Err(ModelError::OutOfRange { field: "healthy class", index: 0 });
        }
        Ok((Self { axes, bands, components, classes }, healthy))
    }
}

pub(super) fn front_end<'a>(
    payload: &'a [u8],
    counts: &Counts,
) -> Result<FrontEnd<'a>, ModelError> {
    let words = words(format::FRONT_END, payload, format::FRONT_END_WORDS + counts.bands + 1)?;
    let &[rate, fft_len, hop, segments, ref band_edges @ ..] = words else {
        return Err(length_error(format::FRONT_END, 4 * format::FRONT_END_WORDS, payload));
    };
    let out_of_range = |field| Err(ModelError::OutOfRange { field, index: 0 });
    // Positive floats are in the order of their bits, and a chip without floats reads this too.
    if !(1..=format::MAX_RATE.to_bits()).contains(&rate) {
        return out_of_range("sample rate");
    }
    let rate_hz = f32::from_bits(rate);
    let fft_len = fft_len as usize;
    if !FFT_LENGTHS.contains(&fft_len) {
        return out_of_range("FFT length");
    }
    let hop = hop as usize;
    if !(1..=fft_len).contains(&hop) {
        return out_of_range("hop");
    }
    let segments = segments as usize;
    if !(1..=format::MAX_SEGMENTS).contains(&segments) {
        return out_of_range("number of segments");
    }
    let increasing = band_edges.windows(2).all(|pair| matches!(*pair, [a, b] if a < b));
    let last = band_edges.last().map_or(0, |edge| *edge as usize);
    if !increasing || last > fft_len / 2 + 1 {
        return out_of_range("band edges");
    }
    Ok(FrontEnd { rate_hz, axes: counts.axes, fft_len, hop, segments, band_edges, orders: None })
}

fn orders(payload: &[u8], counts: &Counts) -> Result<Orders, ModelError> {
    let &[flags, bands, first, width] = words(format::ORDERS, payload, format::ORDERS_WORDS)?
    else {
        return Err(length_error(format::ORDERS, 4 * format::ORDERS_WORDS, payload));
    };
    let out_of_range = |field| Err(ModelError::OutOfRange { field, index: 0 });
    let known = format::ORDERS_SPECTRUM | format::ORDERS_ENVELOPE;
    if flags == 0 || flags & !known != 0 {
        return out_of_range("order blocks");
    }
    if !(1..=format::MAX_BANDS as u32).contains(&bands) {
        return out_of_range("number of order bands");
    }
    let orders = Orders {
        spectrum: flags & format::ORDERS_SPECTRUM != 0,
        envelope: flags & format::ORDERS_ENVELOPE != 0,
        bands: bands as usize,
        first: f32::from_bits(first),
        width: f32::from_bits(width),
    };
    if counts.bands + orders.features() > format::MAX_BANDS {
        return out_of_range("number of order bands");
    }
    let order = |x: f32| x > 0.0 && x <= format::MAX_ORDER;
    if !order(orders.first) {
        return out_of_range("first order");
    }
    if !order(orders.width) {
        return out_of_range("width of an order band");
    }
    Ok(orders)
}

fn gate(payload: &[u8], counts: &Counts, labels: &[f32], healthy: u32) -> Result<Gate, ModelError> {
    let &[components, threshold, flags] = words(format::GATE, payload, format::GATE_WORDS)? else {
        return Err(length_error(format::GATE, 4 * format::GATE_WORDS, payload));
    };
    let out_of_range = |field, index| Err(ModelError::OutOfRange { field, index });
    let components = components as usize;
    if !(1..=counts.components).contains(&components) {
        return out_of_range("number of gate components", 0);
    }
    let log_likelihood_min = f32::from_bits(threshold);
    if !log_likelihood_min.is_finite() {
        return out_of_range("gate threshold", 0);
    }
    if flags & !format::GATE_DIRECTION != 0 {
        return out_of_range("gate flags", 0);
    }
    if healthy == format::NO_CLASS {
        return out_of_range("healthy class of a gate", 0);
    }
    let rows = labels.chunks_exact(counts.classes.max(1)).take(components);
    for (k, row) in rows.enumerate() {
        // The row sums to one, so that nothing is left for the other classes.
        if row.get(healthy as usize) != Some(&1.0) {
            return out_of_range("label of a gate component", k);
        }
    }
    Ok(Gate { components, log_likelihood_min, direction: flags & format::GATE_DIRECTION != 0 })
}

fn lead(payload: &[u8], dims: usize) -> Result<Lead<'_>, ModelError> {
    let words = words(format::LEAD, payload, format::LEAD_WORDS + dims)?;
    let &[features, ref order @ ..] = words else {
        return Err(length_error(format::LEAD, 4 * format::LEAD_WORDS, payload));
    };
    let features = features as usize;
    if !(1..=dims).contains(&features) {
        return Err(ModelError::OutOfRange { field: "leading features", index: 0 });
    }
    // Each feature once: every feature is named, and there are as many names as features.
    for feature in 0..dims {
        if !order.contains(&(feature as u32)) {
            return Err(ModelError::OutOfRange { field: "order of the features", index: feature });
        }
    }
    Ok(Lead { features, order })
}

pub(super) fn length_error(tag: [u8; 4], needs: usize, payload: &[u8]) -> ModelError {
    ModelError::SectionLength { tag, needs, has: payload.len() }
}

pub(super) fn words(tag: [u8; 4], payload: &[u8], count: usize) -> Result<&[u32], ModelError> {
    match <[u32]>::ref_from_bytes(payload) {
        Ok(words) if words.len() == count => Ok(words),
        _ => Err(length_error(tag, 4 * count, payload)),
    }
}

fn floats(tag: [u8; 4], payload: &[u8], count: usize) -> Result<&[f32], ModelError> {
    match <[f32]>::ref_from_bytes(payload) {
        Ok(floats) if floats.len() == count => Ok(floats),
        _ => Err(length_error(tag, 4 * count, payload)),
    }
}

fn check(
    field: &'static str,
    values: &[f32],
    valid: impl Fn(f32) -> bool,
) -> Result<(), ModelError> {
    match values.iter().position(|x| !(x.is_finite() && valid(*x))) {
        Some(index) => Err(ModelError::OutOfRange { field, index }),
        None => Ok(()),
    }
}

/// `count` ends, then the text, then zeros up to a multiple of four bytes.
pub(super) fn texts(tag: [u8; 4], payload: &[u8], count: usize) -> Result<Texts<'_>, ModelError> {
    let (ends, text) =
        payload.split_at_checked(4 * count).ok_or(length_error(tag, 4 * count, payload))?;
    let ends = words(tag, ends, count)?;
    let length = ends.last().map_or(0, |end| *end as usize);
    let needs = 4 * count + length.next_multiple_of(4);
    if payload.len() != needs {
        return Err(length_error(tag, needs, payload));
    }
    let (text, padding) = text.split_at_checked(length).unwrap_or((&[], &[]));
    let text = core::str::from_utf8(text).map_err(|_| ModelError::BadText { tag })?;
    let mut start = 0;
    for end in ends {
        // Also refuses ends that go back or fall inside a character.
        if text.get(start..*end as usize).is_none() {
            return Err(ModelError::BadText { tag });
        }
        start = *end as usize;
    }
    if padding.iter().any(|byte| *byte != 0) {
        return Err(ModelError::BadText { tag });
    }
    Ok(Texts { ends, text })
}

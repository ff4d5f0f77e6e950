//! The parts of a model file that both encodings share.
//!
//! Nothing here is a floating-point operation, so that a chip without floats links none.

use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::sections::Sections;
use super::{ModelError, Section, format};
use crate::signal::{FFT_LENGTHS, FrontEnd};

#[cfg(target_endian = "big")]
compile_error!(
    "model files are little-endian and read in place; big-endian targets are not supported"
);

/// The hash and the texts of the provenance section.
pub(super) fn provenance<'a>(
    sections: &Sections<'a>,
) -> Result<(&'a [u8; format::HASH_LEN], Texts<'a>), ModelError> {
    let payload = sections.need(Section::Provenance)?;
    let (hash, rest) = payload.split_first_chunk().ok_or(length_error(
        Section::Provenance,
        format::HASH_LEN,
        payload,
    ))?;
    Ok((hash, texts(Section::Provenance, rest, format::PROVENANCE_TEXTS)?))
}

/// The counts that determine the length of every other section.
pub struct Counts {
    axes: usize,
    pub(super) bands: usize,
    pub(super) components: usize,
    pub(super) classes: usize,
    /// Index of the healthy class, or [`format::NO_CLASS`].
    pub(super) healthy: u32,
}

impl Counts {
    /// Reads and checks the counts.
    pub(super) fn read(sections: &Sections<'_>) -> Result<Self, ModelError> {
        let payload = sections.need(Section::Counts)?;
        let words = words(Section::Counts, payload, format::COUNTS_WORDS)?;
        let &[axes, bands, components, classes, healthy] = words else {
            return Err(length_error(Section::Counts, 4 * format::COUNTS_WORDS, payload));
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
        Ok(Self { axes, bands, components, classes, healthy })
    }
}

/// Reads the front end, without its orders.
pub(super) fn front_end<'a>(
    sections: &Sections<'a>,
    counts: &Counts,
) -> Result<FrontEnd<'a>, ModelError> {
    let payload = sections.need(Section::FrontEnd)?;
    let words = words(Section::FrontEnd, payload, format::FRONT_END_WORDS + counts.bands + 1)?;
    let &[rate, fft_len, hop, segments, ref band_edges @ ..] = words else {
        return Err(length_error(Section::FrontEnd, 4 * format::FRONT_END_WORDS, payload));
    };
    let out_of_range = |field| Err(ModelError::OutOfRange { field, index: 0 });
    // The bits of positive floats have the order of the floats, and comparing bits needs no floats.
    if !(format::MIN_RATE.to_bits()..=format::MAX_RATE.to_bits()).contains(&rate) {
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

pub(super) fn length_error(section: Section, needs: usize, payload: &[u8]) -> ModelError {
    ModelError::SectionLength { tag: section.tag(), needs, has: payload.len() }
}

pub(super) fn words(section: Section, payload: &[u8], count: usize) -> Result<&[u32], ModelError> {
    numbers(section, payload, count)
}

/// Reads `count` ends, then the text, then zeros up to a multiple of four bytes.
pub(super) fn texts(
    section: Section,
    payload: &[u8],
    count: usize,
) -> Result<Texts<'_>, ModelError> {
    let (ends, text) =
        payload.split_at_checked(4 * count).ok_or(length_error(section, 4 * count, payload))?;
    let ends = words(section, ends, count)?;
    let length = ends.last().map_or(0, |end| *end as usize);
    // The end of the last text may be any number. On a 32-bit chip the largest would overflow here.
    let padded = length.checked_next_multiple_of(4);
    let needs = padded.and_then(|padded| padded.checked_add(4 * count)).unwrap_or(usize::MAX);
    if payload.len() != needs {
        return Err(length_error(section, needs, payload));
    }
    let (text, padding) = text.split_at_checked(length).unwrap_or((&[], &[]));
    let text =
        core::str::from_utf8(text).map_err(|_| ModelError::BadText { tag: section.tag() })?;
    let mut start = 0;
    for end in ends {
        // This also refuses ends that go back or fall inside a character.
        if text.get(start..*end as usize).is_none() {
            return Err(ModelError::BadText { tag: section.tag() });
        }
        start = *end as usize;
    }
    if padding.iter().any(|byte| *byte != 0) {
        return Err(ModelError::BadText { tag: section.tag() });
    }
    Ok(Texts { ends, text })
}

/// Several texts behind one another, with the byte where each ends.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Texts<'a> {
    ends: &'a [u32],
    text: &'a str,
}

impl<'a> Texts<'a> {
    pub(super) const EMPTY: Self = Self { ends: &[], text: "" };

    pub(super) fn len(&self) -> usize {
        self.ends.len()
    }

    pub(super) fn get(&self, index: usize) -> Option<&'a str> {
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.text.get(start..end)
    }
}

/// The numbers of a payload, if there are `count` of them.
pub(super) fn numbers<T>(section: Section, payload: &[u8], count: usize) -> Result<&[T], ModelError>
where
    T: FromBytes + Immutable,
    [T]: FromBytes + Immutable + KnownLayout<PointerMetadata = usize>,
{
    match <[T]>::ref_from_bytes(payload) {
        Ok(numbers) if numbers.len() == count => Ok(numbers),
        _ => Err(length_error(section, size_of::<T>() * count, payload)),
    }
}

/// Refuses the first number that is not valid.
pub(super) fn check<T>(
    field: &'static str,
    values: &[T],
    valid: impl Fn(&T) -> bool,
) -> Result<(), ModelError> {
    match values.iter().position(|x| !valid(x)) {
        Some(index) => Err(ModelError::OutOfRange { field, index }),
        None => Ok(()),
    }
}

/// Refuses an order that does not name each of the features exactly once.
pub(super) fn check_order(order: &[u32]) -> Result<(), ModelError> {
    for (index, place) in order.iter().enumerate() {
        let before = order.get(..index).unwrap_or(&[]);
        if *place as usize >= order.len() || before.contains(place) {
            return Err(ModelError::OutOfRange { field: "order of features", index });
        }
    }
    Ok(())
}

/// Checks the numbers that gates of both encodings have: components, flags, healthy class, and
/// that their label rows name the healthy class alone.
pub(super) fn check_gate<T: PartialEq>(
    (components, flags): (usize, u32),
    counts: &Counts,
    labels: &[T],
    certain: &T,
) -> Result<(), ModelError> {
    let out_of_range = |field, index| Err(ModelError::OutOfRange { field, index });
    if !(1..=counts.components).contains(&components) {
        return out_of_range("number of gate components", 0);
    }
    if flags & !format::GATE_DIRECTION != 0 {
        return out_of_range("gate flags", 0);
    }
    if counts.healthy == format::NO_CLASS {
        return out_of_range("healthy class of a gate", 0);
    }
    let rows = labels.chunks_exact(counts.classes.max(1)).take(components);
    for (k, row) in rows.enumerate() {
        // The row sums to one, so nothing is left for the other classes.
        if row.get(counts.healthy as usize) != Some(certain) {
            return out_of_range("label of a gate component", k);
        }
    }
    Ok(())
}

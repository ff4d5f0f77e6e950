//! The reader of models in i16 encoding; what both encodings share is in `parse`.
//!
//! Nothing here is a floating-point operation, so that a chip without floats links none.

use zerocopy::{FromBytes, Immutable, IntoBytes, KnownLayout};

use super::drift::drift;
use super::format;
use super::parse::{
    Counts, front_end, length_error, need, no_section, provenance, sections, texts, words,
};
use super::unit::unit;
use super::{Encoding, ModelError, decision};
use crate::integer::IntegerModel;
use crate::integer::model::{GateSettings, padded};

pub(crate) fn parse_integer(bytes: &[u8]) -> Result<IntegerModel<'_>, ModelError> {
    let sections = sections(bytes)?;
    let Some(integer) = sections.integer else {
        return Err(ModelError::WrongEncoding { found: Encoding::F32 });
    };
    if sections.orders.is_some() {
        return Err(ModelError::OrdersInIntegers);
    }
    for (section, tag) in [
        (sections.scaling, format::SCALING),
        (sections.mixture, format::MIXTURE),
        (sections.labels, format::LABELS),
        (sections.thresholds, format::THRESHOLDS),
        (sections.gate, format::GATE),
        (sections.lead, format::LEAD),
        (sections.severity, format::SEVERITY),
    ] {
        no_section(section, tag)?;
    }
    let (counts, healthy) = Counts::read(sections.counts)?;
    let front_end = front_end(sections.front_end, &counts)?;
    let dims = front_end.dims();
    let out_of_range = |field, index| ModelError::OutOfRange { field, index };

    let &[counts_per_unit, first_dims, threshold, fraction_bits, top] =
        words(format::INTEGER, integer, format::INTEGER_WORDS)?
    else {
        return Err(length_error(format::INTEGER, 4 * format::INTEGER_WORDS, integer));
    };
    // Positive and finite: floats in the order of their bits.
    if !(1..f32::INFINITY.to_bits()).contains(&counts_per_unit) {
        return Err(out_of_range("counts per unit", 0));
    }
    let first_dims = first_dims as usize;
    if first_dims > dims {
        return Err(out_of_range("number of first dimensions", 0));
    }
    let fraction_bits = checked_fraction_bits(fraction_bits)?;

    let payload = need(sections.integer_scaling, format::INTEGER_SCALING)?;
    let scaling = words(format::INTEGER_SCALING, payload, 3 * dims)?;
    let (order, scaling) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
    for (i, place) in order.iter().enumerate() {
        let before = order.get(..i).unwrap_or(&[]);
        if *place as usize >= dims || before.contains(place) {
            return Err(out_of_range("order of features", i));
        }
    }
    let scaling = numbers::<i32>(format::INTEGER_SCALING, scaling.as_bytes(), 2 * dims)?;
    let (shift, scale) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
    let limit = format::MAX_INTEGER_SHIFT;
    check("shift", shift, |x| (-limit..=limit).contains(x))?;
    check("scale", scale, |x| *x > 0)?;

    let payload = need(sections.integer_mixture, format::INTEGER_MIXTURE)?;
    let row = 2 * padded(dims);
    let needs = counts.components * (4 + 2 * row);
    let (energies, parameters) = payload
        .split_at_checked(4 * counts.components)
        .ok_or(length_error(format::INTEGER_MIXTURE, needs, payload))?;
    let energies = words(format::INTEGER_MIXTURE, energies, counts.components)?;
    let parameters = numbers::<i16>(format::INTEGER_MIXTURE, parameters, counts.components * row)
        .map_err(|_| length_error(format::INTEGER_MIXTURE, needs, payload))?;
    check_components(parameters, dims)?;

    let labels = labels(need(sections.integer_labels, format::INTEGER_LABELS)?, &counts)?;
    let gate = match sections.integer_gate {
        Some(payload) => Some(gate(payload, &counts, labels, healthy)?),
        None => None,
    };
    let (hash, provenance) = provenance(sections.provenance)?;
    drift(bytes, counts.classes)?;
    unit(bytes)?;
    Ok(IntegerModel {
        bytes,
        front_end,
        counts_per_unit,
        order,
        shift,
        scale,
        energies,
        parameters,
        labels,
        names: texts(format::NAMES, sections.names, counts.classes)?,
        provenance,
        hash,
        healthy,
        log_likelihood_min: threshold.cast_signed(),
        first_dims,
        fraction_bits,
        top: top.cast_signed(),
        gate,
        decision: decision::check(sections.decision, true)?,
    })
}

fn checked_fraction_bits(bits: u32) -> Result<u32, ModelError> {
    if bits > format::MAX_FRACTION_BITS {
        return Err(ModelError::OutOfRange { field: "fraction bits", index: 0 });
    }
    Ok(bits)
}

fn check_components(parameters: &[i16], dims: usize) -> Result<(), ModelError> {
    let padded = padded(dims);
    for (k, row) in parameters.chunks_exact((2 * padded).max(1)).enumerate() {
        let (means, scales) = row.split_at_checked(padded).unwrap_or((&[], &[]));
        for i in 0..padded {
            let (mean, scale) = means.get(i).zip(scales.get(i)).map_or((0, 0), |(m, s)| (*m, *s));
            let index = k * dims + i;
            let limit = format::MAX_INTEGER_MEAN;
            // What pads a row is zero, so that a file of given contents has one form.
            if i >= dims && (mean, scale) != (0, 0) {
                return Err(ModelError::OutOfRange { field: "padding", index });
            }
            if !(-limit..=limit).contains(&mean) {
                return Err(ModelError::OutOfRange { field: "component mean", index });
            }
            if i < dims && scale <= 0 {
                return Err(ModelError::OutOfRange { field: "component precision", index });
            }
        }
    }
    Ok(())
}

fn labels<'a>(payload: &'a [u8], counts: &Counts) -> Result<&'a [u16], ModelError> {
    let count = counts.components * counts.classes;
    let padded = padded(count);
    let all = numbers::<u16>(format::INTEGER_LABELS, payload, padded)?;
    let (labels, padding) = all.split_at_checked(count).unwrap_or((&[], &[]));
    check("padding", padding, |x| *x == 0)?;
    for (k, row) in labels.chunks_exact(counts.classes.max(1)).enumerate() {
        let mut sum = 0_u32;
        for label in row {
            sum += u32::from(*label);
        }
        if sum != format::INTEGER_LABEL_SUM {
            return Err(ModelError::OutOfRange { field: "sum of a label row", index: k });
        }
    }
    Ok(labels)
}

fn gate(
    payload: &[u8],
    counts: &Counts,
    labels: &[u16],
    healthy: u32,
) -> Result<GateSettings, ModelError> {
    let &[components, fraction_bits, top, threshold, flags] =
        words(format::INTEGER_GATE, payload, format::INTEGER_GATE_WORDS)?
    else {
        return Err(length_error(format::INTEGER_GATE, 4 * format::INTEGER_GATE_WORDS, payload));
    };
    let out_of_range = |field, index| Err(ModelError::OutOfRange { field, index });
    let components = components as usize;
    if !(1..=counts.components).contains(&components) {
        return out_of_range("number of gate components", 0);
    }
    if flags & !format::GATE_DIRECTION != 0 {
        return out_of_range("gate flags", 0);
    }
    if healthy == format::NO_CLASS {
        return out_of_range("healthy class of a gate", 0);
    }
    for (k, row) in labels.chunks_exact(counts.classes.max(1)).take(components).enumerate() {
        if row.get(healthy as usize).map(|x| u32::from(*x)) != Some(format::INTEGER_LABEL_SUM) {
            return out_of_range("label of a gate component", k);
        }
    }
    Ok(GateSettings {
        components,
        fraction_bits: checked_fraction_bits(fraction_bits)?,
        top: top.cast_signed(),
        log_likelihood_min: threshold.cast_signed(),
        direction: flags & format::GATE_DIRECTION != 0,
    })
}

fn numbers<T>(tag: [u8; 4], payload: &[u8], count: usize) -> Result<&[T], ModelError>
where
    T: FromBytes + Immutable,
    [T]: FromBytes + Immutable + KnownLayout<PointerMetadata = usize>,
{
    match <[T]>::ref_from_bytes(payload) {
        Ok(numbers) if numbers.len() == count => Ok(numbers),
        _ => Err(length_error(tag, size_of::<T>() * count, payload)),
    }
}

fn check<T>(
    field: &'static str,
    values: &[T],
    valid: impl Fn(&T) -> bool,
) -> Result<(), ModelError> {
    match values.iter().position(|x| !valid(x)) {
        Some(index) => Err(ModelError::OutOfRange { field, index }),
        None => Ok(()),
    }
}

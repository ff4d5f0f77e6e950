//! The reader of the sections that only i16 models have.
//!
//! Nothing here is a floating-point operation, so that a chip without floats links none.

use zerocopy::IntoBytes;

use super::read::{Counts, check, check_gate, check_order, length_error, numbers, words};
use super::sealed::Read;
use super::sections::Sections;
use super::{IntegerBody, ModelError, Section, format};
use crate::integer::part::padded;
use crate::integer::{GateSettings, IntegerClassifier, IntegerScaling};
use crate::signal::FrontEnd;

impl<'a> Read<'a> for IntegerBody<'a> {
    fn read(
        sections: &Sections<'a>,
        counts: &Counts,
        front_end: &FrontEnd<'a>,
    ) -> Result<Self, ModelError> {
        let dims = front_end.dims();
        let out_of_range = |field| ModelError::OutOfRange { field, index: 0 };
        let integer = sections.need(Section::Integer)?;
        let &[counts_per_unit, early_drop, threshold, fraction_bits, top] =
            words(Section::Integer, integer, format::INTEGER_WORDS)?
        else {
            return Err(length_error(Section::Integer, 4 * format::INTEGER_WORDS, integer));
        };
        // Positive and finite: floats in the order of their bits.
        if !(1..f32::INFINITY.to_bits()).contains(&counts_per_unit) {
            return Err(out_of_range("counts per unit"));
        }
        let early_drop = early_drop as usize;
        if early_drop > dims {
            return Err(out_of_range("features of the early drop"));
        }
        let fraction_bits = checked_fraction_bits(fraction_bits)?;
        let scaling = scaling(sections.need(Section::IntegerScaling)?, dims)?;
        let (energies, parameters) =
            mixture(sections.need(Section::IntegerMixture)?, counts.components, dims)?;
        let labels = labels(sections.need(Section::IntegerLabels)?, counts)?;
        let gate = sections.get(Section::IntegerGate);
        let classifier = IntegerClassifier {
            energies,
            parameters,
            labels,
            log_likelihood_min: threshold.cast_signed(),
            early_drop,
            fraction_bits,
            top: top.cast_signed(),
            gate: gate.map(|payload| self::gate(payload, counts, labels)).transpose()?,
        };
        Ok(Self { counts_per_unit, scaling, classifier })
    }
}

fn scaling(payload: &[u8], dims: usize) -> Result<IntegerScaling<'_>, ModelError> {
    let scaling = words(Section::IntegerScaling, payload, 3 * dims)?;
    let (order, scaling) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
    check_order(order)?;
    let scaling = numbers::<i32>(Section::IntegerScaling, scaling.as_bytes(), 2 * dims)?;
    let (shift, scale) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
    let limit = format::MAX_INTEGER_SHIFT;
    check("shift", shift, |x| (-limit..=limit).contains(x))?;
    check("scale", scale, |x| *x > 0)?;
    Ok(IntegerScaling { order, shift, scale })
}

/// Energies of the components, then their means and scales.
fn mixture(payload: &[u8], components: usize, dims: usize) -> Result<(&[u32], &[i16]), ModelError> {
    let row = 2 * padded(dims);
    let needs = components * (4 + 2 * row);
    let wrong_length = || length_error(Section::IntegerMixture, needs, payload);
    let (energies, parameters) =
        payload.split_at_checked(4 * components).ok_or_else(wrong_length)?;
    let energies = words(Section::IntegerMixture, energies, components)?;
    let parameters = numbers::<i16>(Section::IntegerMixture, parameters, components * row)
        .map_err(|_| wrong_length())?;
    check_components(parameters, dims)?;
    Ok((energies, parameters))
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
    let all = numbers::<u16>(Section::IntegerLabels, payload, padded)?;
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

fn gate(payload: &[u8], counts: &Counts, labels: &[u16]) -> Result<GateSettings, ModelError> {
    let &[components, fraction_bits, top, threshold, flags] =
        words(Section::IntegerGate, payload, format::INTEGER_GATE_WORDS)?
    else {
        return Err(length_error(Section::IntegerGate, 4 * format::INTEGER_GATE_WORDS, payload));
    };
    let components = components as usize;
    check_gate((components, flags), counts, labels, &(format::INTEGER_LABEL_SUM as u16))?;
    Ok(GateSettings {
        components,
        // At most 12.
        fraction_bits: checked_fraction_bits(fraction_bits)? as u8,
        top: top.cast_signed(),
        log_likelihood_min: threshold.cast_signed(),
        direction: flags & format::GATE_DIRECTION != 0,
    })
}

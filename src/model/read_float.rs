//! The reader of the sections that only f32 models have.

use super::read::{Counts, check, check_gate, check_order, length_error, numbers, words};
use super::sealed::Read;
use super::sections::Sections;
use super::{FloatBody, ModelError, Section, format, read_severity};
use crate::classify::{Classifier, EarlyDrop, Gate};
use crate::signal::{FrontEnd, Orders};

impl<'a> Read<'a> for FloatBody<'a> {
    fn orders(sections: &Sections<'a>, counts: &Counts) -> Result<Option<Orders>, ModelError> {
        sections.get(Section::Orders).map(|payload| orders(payload, counts)).transpose()
    }

    fn read(
        sections: &Sections<'a>,
        counts: &Counts,
        front_end: &FrontEnd<'a>,
    ) -> Result<Self, ModelError> {
        let dims = front_end.dims();
        let scaling = floats(sections, Section::Scaling, 2 * dims)?;
        let (shift, scale) = scaling.split_at_checked(dims).unwrap_or((&[], &[]));
        check("shift", shift, |x| finite(*x) && x.abs() <= format::MAX_SHIFT)?;
        check("scale", scale, |x| finite(*x) && *x > 0.0 && *x <= format::MAX_SCALE)?;

        let mixture = floats(sections, Section::Mixture, counts.components * (1 + 2 * dims))?;
        let (constants, whitening) =
            mixture.split_at_checked(counts.components).unwrap_or((&[], &[]));
        let bounded = |x: &f32| finite(*x) && x.abs() <= format::MAX_OFFSET;
        check("component constant", constants, bounded)?;
        check_components(whitening, dims, bounded)?;

        let labels = labels(sections, counts)?;
        let thresholds = floats(sections, Section::Thresholds, format::THRESHOLDS_WORDS)?;
        check("threshold", thresholds, |x| finite(*x))?;
        let gate = sections.get(Section::Gate);
        let early_drop = sections.get(Section::EarlyDrop);
        let classifier = Classifier {
            constants,
            whitening,
            labels,
            log_likelihood_min: thresholds.first().copied().unwrap_or(f32::MIN),
            gate: gate.map(|payload| self::gate(payload, counts, labels)).transpose()?,
            early_drop: early_drop.map(|payload| self::early_drop(payload, dims)).transpose()?,
        };
        let severity = read_severity::check(sections.get(Section::Severity), front_end)?;
        Ok(Self { shift, scale, classifier, severity })
    }
}

fn finite(x: f32) -> bool {
    x.is_finite()
}

fn floats<'a>(
    sections: &Sections<'a>,
    section: Section,
    count: usize,
) -> Result<&'a [f32], ModelError> {
    numbers(section, sections.need(section)?, count)
}

fn check_components(
    whitening: &[f32],
    dims: usize,
    bounded: impl Fn(&f32) -> bool,
) -> Result<(), ModelError> {
    for (k, component) in whitening.chunks_exact((2 * dims).max(1)).enumerate() {
        let (scale, offset) = component.split_at_checked(dims).unwrap_or((&[], &[]));
        let at = |index| k * dims + index;
        if let Some(i) = scale.iter().position(|x| !(*x > 0.0 && *x <= format::MAX_WHITENING)) {
            return Err(ModelError::OutOfRange { field: "component precision", index: at(i) });
        }
        if let Some(i) = offset.iter().position(|x| !bounded(x)) {
            return Err(ModelError::OutOfRange { field: "component mean", index: at(i) });
        }
    }
    Ok(())
}

fn labels<'a>(sections: &Sections<'a>, counts: &Counts) -> Result<&'a [f32], ModelError> {
    let labels = floats(sections, Section::Labels, counts.components * counts.classes)?;
    check("label", labels, |x| (0.0..=1.0).contains(x))?;
    for (k, row) in labels.chunks_exact(counts.classes.max(1)).enumerate() {
        let mut sum = 0.0;
        for label in row {
            sum += label;
        }
        if (sum - 1.0).abs() > format::LABEL_SUM_TOLERANCE {
            return Err(ModelError::OutOfRange { field: "sum of a label row", index: k });
        }
    }
    Ok(labels)
}

fn orders(payload: &[u8], counts: &Counts) -> Result<Orders, ModelError> {
    let &[flags, bands, first, width] = words(Section::Orders, payload, format::ORDERS_WORDS)?
    else {
        return Err(length_error(Section::Orders, 4 * format::ORDERS_WORDS, payload));
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
    let order = |x: f32| (format::MIN_ORDER..=format::MAX_ORDER).contains(&x);
    if !order(orders.first) {
        return out_of_range("first order");
    }
    if !order(orders.width) {
        return out_of_range("width of an order band");
    }
    Ok(orders)
}

fn gate(payload: &[u8], counts: &Counts, labels: &[f32]) -> Result<Gate, ModelError> {
    let &[components, threshold, flags] = words(Section::Gate, payload, format::GATE_WORDS)? else {
        return Err(length_error(Section::Gate, 4 * format::GATE_WORDS, payload));
    };
    let components = components as usize;
    check_gate((components, flags), counts, labels, &1.0)?;
    let log_likelihood_min = f32::from_bits(threshold);
    if !log_likelihood_min.is_finite() {
        return Err(ModelError::OutOfRange { field: "gate threshold", index: 0 });
    }
    Ok(Gate { components, log_likelihood_min, direction: flags & format::GATE_DIRECTION != 0 })
}

fn early_drop(payload: &[u8], dims: usize) -> Result<EarlyDrop<'_>, ModelError> {
    let words = words(Section::EarlyDrop, payload, format::EARLY_DROP_WORDS + dims)?;
    let &[features, ref order @ ..] = words else {
        return Err(length_error(Section::EarlyDrop, 4 * format::EARLY_DROP_WORDS, payload));
    };
    let features = features as usize;
    if !(1..=dims).contains(&features) {
        return Err(ModelError::OutOfRange { field: "features of the early drop", index: 0 });
    }
    check_order(order)?;
    Ok(EarlyDrop { features, order })
}

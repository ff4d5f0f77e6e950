//! Converts an f32 model to an i16 model: chooses the units, the fraction bits and the order.
//!
//! The unit of the features is as fine as possible without changing a label. Let ½T² be the
//! difference between the largest possible log-likelihood and the model's threshold. A feature that
//! is more than T standard deviations from every component puts the window below the threshold by
//! itself. So the largest 14-bit number stands for the farthest feature that can still be above the
//! threshold. Larger features are cut off; their windows were below the threshold and stay below
//! it. The direction of the features needs no such limit, because none of its numbers exceeds √d.

use rebearing::Model;
use rebearing::classify::{Component, Gate};
use rebearing::integer::features::SCALE_FRACTION;
use rebearing::integer::mixture::MAX_FEATURE;
use rebearing::model::format;
use thiserror::Error;

use crate::model::early_drop::integer::early_drop;

/// T of a model without a threshold: features beyond 12 σ of every component are cut off.
const FREE_SPARE: f64 = 12.0;

/// An i16 model, ready to be written.
#[derive(Debug, Clone)]
pub struct IntegerContents {
    /// Number of counts in one unit of the recordings.
    pub counts_per_unit: f32,
    /// Index of the feature at each place.
    pub order: Vec<u32>,
    /// Number subtracted from each feature, in this order; log2 in Q16.
    pub shift: Vec<i32>,
    /// Factor for each feature, in this order; Q8.
    pub scale: Vec<i32>,
    /// Number of features on which all components are scored before any is dropped; zero for no
    /// early drop.
    pub early_drop: usize,
    /// The gate's mixture, if the model has a gate.
    pub gate: Option<PartContents>,
    /// The mixture that separates the classes; it has no components if the model has no such
    /// mixture.
    pub classes: PartContents,
    /// Label table in Q15, the rows of the gate first.
    pub labels: Vec<u16>,
}

/// A mixture in integers.
#[derive(Debug, Clone, Default)]
pub struct PartContents {
    /// Fraction bits of energies.
    pub fraction_bits: u32,
    /// Largest log density at a mean, in units of energies.
    pub top: i32,
    /// Energy of each component at its mean.
    pub energies: Vec<u32>,
    /// Means of each component, in the order of the model.
    pub means: Vec<Vec<i16>>,
    /// 1/σ of each component, in the order of the model.
    pub scales: Vec<Vec<i16>>,
}

/// Why a model has no i16 form.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum QuantiseError {
    /// The model has features of shaft orders.
    #[error(
        "an i16 model has features of bands alone, and this one has shaft orders: fit with `blocks` bands"
    )]
    Orders,
    /// The ratio between the farthest feature and the narrowest component does not fit in 16 bits.
    #[error(
        "the narrowest component is {narrowest:.2e} wide where features reach {farthest:.2e}, too much for 16 \
         bits: fit with a larger `variance_floor`, or keep `encoding` f32"
    )]
    Range {
        /// Smallest σ.
        narrowest: f64,
        /// Largest feature.
        farthest: f64,
    },
}

/// Converts `model` to integers.
///
/// `counts_per_unit` is the number of counts in one unit of the recordings. The model stores it for
/// the owner of the device.
pub fn quantise(model: &Model<'_>, counts_per_unit: f32) -> Result<IntegerContents, QuantiseError> {
    if model.front_end().orders.is_some() {
        return Err(QuantiseError::Orders);
    }
    let dims = model.dims();
    let components: Vec<Component<'_>> = model.components().collect();
    let (of_gate, of_classes) = components.split_at(model.gate().map_or(0, |gate| gate.components));
    let telling = if of_classes.is_empty() { of_gate } else { of_classes };
    let places = order(telling, dims);
    // The f32 components may have their own order of features.
    let feature =
        |place: &u32| model.early_drop().map_or(*place, |lead| lead.order[*place as usize]);
    let order: Vec<u32> = places.iter().map(feature).collect();

    let class_min = Some(model.log_likelihood_min()).filter(|min| *min > f32::MIN);
    let direction = model.gate().is_some_and(|gate| gate.direction);
    let mut farthest = 0.0_f64;
    if let Some(Gate { log_likelihood_min, .. }) = model.gate() {
        farthest = farthest.max(reach(of_gate, Some(log_likelihood_min)));
    }
    if !direction && !of_classes.is_empty() {
        farthest = farthest.max(reach(of_classes, class_min));
    }
    let unit = f64::from(MAX_FEATURE) / farthest;
    let class_unit = if direction { f64::from(MAX_FEATURE) / (dims as f64).sqrt() } else { unit };
    let ln_2 = std::f64::consts::LN_2;
    let scaled = |scale: f32| {
        let scale = (f64::from(scale) * ln_2 * unit * f64::from(1 << SCALE_FRACTION)).round();
        if (1.0..=f64::from(i32::MAX)).contains(&scale) {
            Ok(scale as i32)
        } else {
            Err(QuantiseError::Range { narrowest: 1.0 / unit, farthest })
        }
    };
    Ok(IntegerContents {
        counts_per_unit,
        shift: order
            .iter()
            .map(|i| {
                // The format allows twice the largest possible feature.
                let limit = f64::from(format::MAX_INTEGER_SHIFT);
                let shift = f64::from(model.shift()[*i as usize]) / ln_2 * 65536.0;
                shift.round().clamp(-limit, limit) as i32
            })
            .collect(),
        scale: order
            .iter()
            .map(|i| scaled(model.scale()[*i as usize]))
            .collect::<Result<_, _>>()?,
        // The gate has few components and shares this number with the classes.
        early_drop: early_drop(telling, &places),
        gate: model.gate().map(|_| part(of_gate, &places, unit, farthest)).transpose()?,
        classes: part(of_classes, &places, class_unit, (dims as f64).sqrt())?,
        labels: model.labels().chunks_exact(model.classes()).flat_map(labels).collect(),
        order,
    })
}

/// Returns the largest distance from zero that a feature can have in a window that is not below the
/// threshold.
pub fn reach(components: &[Component<'_>], log_likelihood_min: Option<f32>) -> f64 {
    let spare = log_likelihood_min.map_or(FREE_SPARE, |min| {
        let largest = components.iter().map(|c| c.constant).fold(f32::NEG_INFINITY, f32::max);
        let sum: f64 = components.iter().map(|c| f64::from(c.constant - largest).exp()).sum();
        let best = f64::from(largest) + sum.ln();
        // A little more, so that rounding of μ, σ and threshold does not matter.
        (2.0 * (best - f64::from(min)).max(0.5)).sqrt() + 0.5
    });
    let reaches = components.iter().flat_map(|component| {
        component
            .scale
            .iter()
            .zip(component.offset)
            .map(move |(scale, offset)| (f64::from(offset.abs()) + spare) / f64::from(*scale))
    });
    reaches.fold(0.0, f64::max)
}

/// Returns the places of the features. Features along which the components differ most, relative to
/// their width, come first.
pub fn order(components: &[Component<'_>], dims: usize) -> Vec<u32> {
    let count = components.len() as f64;
    let separation = |dim: usize| {
        let mean_of =
            |f: &dyn Fn(&Component<'_>) -> f64| components.iter().map(f).sum::<f64>() / count;
        let position = |c: &Component<'_>| -f64::from(c.offset[dim]) / f64::from(c.scale[dim]);
        let mean = mean_of(&position);
        let between = mean_of(&|c| (position(c) - mean).powi(2));
        between / mean_of(&|c| f64::from(c.scale[dim]).powi(-2))
    };
    let separations: Vec<f64> = (0..dims).map(separation).collect();
    let mut order: Vec<u32> = (0..dims as u32).collect();
    order.sort_by(|a, b| separations[*b as usize].total_cmp(&separations[*a as usize]));
    order
}

/// Converts a mixture to integers. Its features are in units of 1/`unit` and reach `farthest`.
pub fn part(
    components: &[Component<'_>],
    order: &[u32],
    unit: f64,
    farthest: f64,
) -> Result<PartContents, QuantiseError> {
    let log2_e = std::f64::consts::LOG2_E;
    let steepest = components.iter().flat_map(|c| c.scale).fold(0.0_f32, |a, b| a.max(*b));
    if components.is_empty() {
        return Ok(PartContents::default());
    }
    // ½t²·log2 e is the square of t in its unit, times 2^−bits.
    let unit_of_t = |bits: u32| (f64::from(1 << bits) * log2_e / 2.0).sqrt();
    let factor = |bits| 65536.0 * unit_of_t(bits) / unit;
    let fits = |bits: &u32| factor(*bits) * f64::from(steepest) <= f64::from(i16::MAX);
    let narrowest = f64::from(steepest).recip();
    let bits = (0..=format::MAX_FRACTION_BITS)
        .rev()
        .find(fits)
        .ok_or(QuantiseError::Range { narrowest, farthest })?;

    let constants: Vec<f64> =
        components.iter().map(|c| f64::from(c.constant) * log2_e * f64::from(1 << bits)).collect();
    let top = constants.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let rows = |value: &dyn Fn(&Component<'_>, usize) -> f64| {
        let row = |c: &Component<'_>| {
            order.iter().map(|i| value(c, *i as usize).round() as i16).collect::<Vec<_>>()
        };
        components.iter().map(row).collect()
    };
    Ok(PartContents {
        fraction_bits: bits,
        top: top.round() as i32,
        // A component without weight has the smallest possible constant, so its energy saturates.
        energies: constants.iter().map(|constant| (top - constant).round() as u32).collect(),
        means: rows(&|c, i| {
            let limit = f64::from(MAX_FEATURE);
            (-f64::from(c.offset[i]) / f64::from(c.scale[i]) * unit).clamp(-limit, limit)
        }),
        scales: rows(&|c, i| (factor(bits) * f64::from(c.scale[i])).max(1.0)),
    })
}

/// Converts a row of labels to Q15 so that it sums to exactly one. Labels are rounded down, and the
/// rest goes to those with the largest remainders.
fn labels(row: &[f32]) -> Vec<u16> {
    let one = f64::from(format::INTEGER_LABEL_SUM);
    let sum: f64 = row.iter().map(|x| f64::from(*x)).sum();
    let exact: Vec<f64> = row.iter().map(|x| f64::from(*x) / sum * one).collect();
    let mut labels: Vec<u16> = exact.iter().map(|x| x.floor() as u16).collect();
    let mut by_remainder: Vec<usize> = (0..row.len()).collect();
    by_remainder.sort_by(|a, b| (exact[*b].fract()).total_cmp(&exact[*a].fract()));
    let missing = format::INTEGER_LABEL_SUM - labels.iter().map(|x| u32::from(*x)).sum::<u32>();
    for class in by_remainder.into_iter().take(missing as usize) {
        labels[class] += 1;
    }
    labels
}

#[cfg(test)]
mod tests {
    use super::labels;

    #[test]
    fn label_rows_sum_to_one_exactly() {
        for row in [vec![1.0], vec![1.0, 0.0], vec![0.3333; 3], vec![0.1, 0.2, 0.3, 0.39995]] {
            let labels = labels(&row);
            assert_eq!(labels.iter().map(|x| u32::from(*x)).sum::<u32>(), 32768, "{row:?}");
            for (label, exact) in labels.iter().zip(&row) {
                assert!((f32::from(*label) / 32768.0 - exact).abs() < 1e-4, "{row:?}");
            }
        }
    }
}

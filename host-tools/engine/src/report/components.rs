//! The components of a model or source in nats, so that all of them fit into one picture.

use std::f64::consts::{LN_2, LOG2_E};

use ndarray::{Array1, ArrayRef1};
use rebearing::integer::IntegerPart;
use rebearing::integer::features::SCALE_FRACTION;
use rebearing::{IntegerModel, Model};

use crate::adapt::reference::Reference;
use crate::model::deployed::DeployedModel;

/// One Gaussian over features that are not standardised.
#[derive(Debug, Clone)]
pub(super) struct Drawn {
    /// Mean.
    pub(super) mean: Array1<f64>,
    /// Variances.
    pub(super) variances: Array1<f64>,
    /// The likeliest class.
    pub(super) class: usize,
}

/// Index of the largest value, the first of equals.
pub(super) fn largest(values: &ArrayRef1<f64>) -> usize {
    let better = |best: usize, (i, p): (usize, &f64)| if *p > values[best] { i } else { best };
    values.iter().enumerate().fold(0, better)
}

/// The components of a source.
pub(super) fn of_source(reference: &Reference) -> Vec<Drawn> {
    let rows = reference.mixture.means.rows().into_iter().zip(reference.variances.rows());
    rows.zip(reference.labels.rows())
        .map(|((mean, variances), labels)| Drawn {
            mean: mean.to_owned(),
            variances: variances.to_owned(),
            class: largest(&labels),
        })
        .collect()
}

/// Returns the components of a model. With a gate, only the gate's components: the others are over
/// directions, which have no place among features.
pub(super) fn of_model(model: &DeployedModel) -> Vec<Drawn> {
    match model {
        DeployedModel::F32(bytes) => of_floats(&bytes.model()),
        DeployedModel::I16(bytes) => of_integers(&bytes.model()),
    }
}

fn of_floats(model: &Model<'_>) -> Vec<Drawn> {
    let dims = model.dims();
    let places = |place: usize| {
        model.early_drop().map_or(place, |early_drop| early_drop.order[place] as usize)
    };
    let shown = model.gate().map_or(usize::MAX, |gate| gate.components);
    let labels = model.labels().chunks_exact(model.classes().max(1));
    let components = model.components().zip(labels).take(shown);
    components
        .map(|(component, labels)| {
            let (mut mean, mut variances) = (Array1::zeros(dims), Array1::zeros(dims));
            for place in 0..dims {
                let at = places(place);
                let (unit, shift) = (f64::from(model.scale()[at]), f64::from(model.shift()[at]));
                let scale = f64::from(component.scale[place]);
                mean[at] = -f64::from(component.offset[place]) / scale / unit + shift;
                variances[at] = (scale * unit).powi(-2);
            }
            let labels: Array1<f64> = labels.iter().map(|label| f64::from(*label)).collect();
            Drawn { mean, variances, class: class(&labels, model.gate().and(model.healthy())) }
        })
        .collect()
}

fn of_integers(model: &IntegerModel<'_>) -> Vec<Drawn> {
    let gate = model.gate();
    let Some(part) = gate.map(|gate| gate.part).or(model.classes_part()) else {
        return Vec::new();
    };
    let labels = model.labels().chunks_exact(model.classes().max(1));
    let healthy = gate.and(model.healthy());
    part.components()
        .zip(labels)
        .map(|(component, labels)| {
            let dims = model.dims();
            let (mut mean, mut variances) = (Array1::zeros(dims), Array1::zeros(dims));
            for (place, at) in model.scaling().order.iter().enumerate() {
                let at = *at as usize;
                // Number of model units in one nat.
                let unit =
                    f64::from(model.scaling().scale[place]) / f64::from(1 << SCALE_FRACTION) / LN_2;
                let shift = f64::from(model.scaling().shift[place]) / 65536.0 * LN_2;
                mean[at] = f64::from(component.means[place]) / unit + shift;
                variances[at] = (deviation(&part, component.scales[place]) / unit).powi(2);
            }
            let labels: Array1<f64> = labels.iter().map(|label| f64::from(*label)).collect();
            Drawn { mean, variances, class: class(&labels, healthy) }
        })
        .collect()
}

/// Returns σ of a feature in units of the model. The host chose the scale of t = (x − μ)·r/2¹⁶ so
/// that its square is ½(x − μ)²/σ² in base 2, with the fraction bits of the part.
fn deviation(part: &IntegerPart<'_>, scale: i16) -> f64 {
    let unit_of_t = (f64::from(1 << part.fraction_bits) * LOG2_E / 2.0).sqrt();
    65536.0 * unit_of_t / f64::from(scale.max(1))
}

/// Returns the class of a component. A gate's component is healthy, whatever its labels are.
fn class(labels: &Array1<f64>, healthy: Option<usize>) -> usize {
    healthy.unwrap_or_else(|| largest(labels))
}

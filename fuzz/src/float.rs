//! f32 models.

use rebearing::acquisition::Sample;
use rebearing::model::format::{MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::{IntegerModel, Model, ModelError, Monitor};

use crate::run::{Parts, run};
use crate::{parse, ramp, samples_of, samples_of_golden};

pub(crate) fn model(region: &[u8]) -> Result<(), ModelError> {
    assert!(IntegerModel::parse(region).is_err(), "a model of both encodings");
    let model: Model<'_> = parse(region)?;
    check_promises(&model);
    any_axes(&model, ramp(samples_of(&model)).map(f32::from));
    Ok(())
}

pub(crate) fn monitor(golden: &[u8], bytes: &[u8]) {
    let model = Model::parse(golden).expect("the golden model is valid");
    let count = samples_of_golden(&model) * model.front_end().axes;
    let floats = bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word));
    any_axes(&model, floats.cycle().take(count));
    // The unit of the counts matters only to severity and the idle state. These models have
    // neither.
    let counts = bytes.as_chunks().0.iter().map(|word| i16::from_le_bytes(*word));
    if Monitor::<i16, 4096, 1, 768, 4096, 256>::CAPACITIES.check(&model).is_ok() {
        any_axes(&model, counts.cycle().take(count));
    }
}

/// Runs interleaved samples through the largest monitor.
fn any_axes<S: Sample>(model: &Model<'_>, samples: impl Iterator<Item = S>) {
    match model.front_end().axes {
        1 => axes::<S, 1>(model, samples),
        2 => axes::<S, 2>(model, samples),
        _ => axes::<S, 3>(model, samples),
    }
}

fn axes<S: Sample, const AXES: usize>(model: &Model<'_>, samples: impl Iterator<Item = S>) {
    type Largest<'m, S, const AXES: usize> =
        Monitor<'m, S, 4096, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;
    let parts = Parts { gate: model.gate().is_some(), severity: model.severity().is_some() };
    run(&mut Largest::<S, AXES>::vacant(), *model, parts, samples);
}

/// Checks the properties that evaluation relies on.
fn check_promises(model: &Model<'_>) {
    let (dims, components) = (model.dims(), model.component_count());
    assert!(model.log_likelihood_min().is_finite());
    assert_eq!((model.shift().len(), model.scale().len()), (dims, dims));
    assert!(model.shift().iter().chain(model.scale()).all(|x| x.is_finite()));
    assert_eq!(model.components().len(), components);
    for component in model.components() {
        assert_eq!((component.scale.len(), component.offset.len()), (dims, dims));
        assert!(component.constant.is_finite());
        assert!(component.scale.iter().all(|x| x.is_finite() && *x > 0.0));
        assert!(component.offset.iter().all(|x| x.is_finite()));
    }
    assert_eq!(model.labels().len(), components * model.classes());
    if let Some(gate) = model.gate() {
        assert!((1..=components).contains(&gate.components));
        assert!(gate.log_likelihood_min.is_finite() && model.healthy().is_some());
    }
    if let Some(early_drop) = model.early_drop() {
        assert!((1..=dims).contains(&early_drop.features) && early_drop.order.len() == dims);
        assert!(early_drop.order.iter().all(|feature| (*feature as usize) < dims));
    }
    if let Some(severity) = model.severity() {
        let (low, end) = severity.bins(model.front_end());
        let bins = model.front_end().fft_len / 2 + 1;
        assert!(1 <= low && low < end && end <= bins, "{severity:?}");
    }
}

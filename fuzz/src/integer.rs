//! i16 models.

use rebearing::integer::IntegerScaling;
use rebearing::model::format::{MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::{IntegerModel, IntegerMonitor, Model, ModelError};

use crate::run::{Parts, run};
use crate::{parse, ramp, samples_of, samples_of_golden};

pub(crate) fn model(region: &[u8]) -> Result<(), ModelError> {
    assert!(Model::parse(region).is_err(), "a model of both encodings");
    let model: IntegerModel<'_> = parse(region)?;
    check_promises(&model);
    any_shape(&model, ramp(samples_of(&model)));
    Ok(())
}

pub(crate) fn monitor(golden: &[u8], bytes: &[u8]) {
    let model = IntegerModel::parse(golden).expect("the golden model is valid");
    let count = samples_of_golden(&model) * model.front_end().axes;
    let counts = bytes.as_chunks().0.iter().map(|word| i16::from_le_bytes(*word));
    any_shape(&model, counts.cycle().take(count));
}

/// Runs interleaved samples through the largest monitor with the model's points and axes.
fn any_shape(model: &IntegerModel<'_>, samples: impl Iterator<Item = i16>) {
    match model.front_end().fft_len {
        256 => any_axes::<256>(model, samples),
        512 => any_axes::<512>(model, samples),
        1024 => any_axes::<1024>(model, samples),
        2048 => any_axes::<2048>(model, samples),
        _ => any_axes::<4096>(model, samples),
    }
}

fn any_axes<const FFT: usize>(model: &IntegerModel<'_>, samples: impl Iterator<Item = i16>) {
    match model.front_end().axes {
        1 => shape::<FFT, 1>(model, samples),
        2 => shape::<FFT, 2>(model, samples),
        _ => shape::<FFT, 3>(model, samples),
    }
}

fn shape<const FFT: usize, const AXES: usize>(
    model: &IntegerModel<'_>,
    samples: impl Iterator<Item = i16>,
) {
    type Largest<'m, const FFT: usize, const AXES: usize> =
        IntegerMonitor<'m, FFT, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;
    let parts = Parts { gate: model.gate().is_some(), severity: false };
    run(&mut Largest::<FFT, AXES>::vacant(), *model, parts, samples);
}

/// Checks the properties that evaluation relies on.
fn check_promises(model: &IntegerModel<'_>) {
    let (dims, components) = (model.dims(), model.component_count());
    assert!(model.counts_per_unit().is_finite() && model.counts_per_unit() > 0.0);
    let IntegerScaling { order, shift, scale } = *model.scaling();
    assert_eq!((order.len(), shift.len(), scale.len()), (dims, dims, dims));
    assert!(order.iter().all(|feature| (*feature as usize) < dims));
    assert!(scale.iter().all(|scale| *scale > 0));
    assert_eq!(model.labels().len(), components * model.classes());
    let gate = model.gate().map_or(0, |gate| gate.part.len());
    let classes = model.classes_part().map_or(0, |part| part.len());
    assert_eq!(gate + classes, components);
    assert!(gate == 0 || model.healthy().is_some());
}

//! The smallest monitor type that runs a model.

use rebearing::Encoding;
use rebearing::model::{AnyModel, Body, Numbers};
use rebearing::monitor::{Capacities, Samples};

/// Returns the smallest capacities for `model`, in a monitor that takes these samples.
pub fn smallest<'m, B: Body<'m>>(model: &AnyModel<'m, B>, samples: Samples) -> Capacities {
    Capacities {
        encoding: B::Numbers::ENCODING,
        samples,
        fft: model.front_end().fft_len,
        axes: model.front_end().axes,
        dims: model.dims(),
        components: model.component_count(),
        classes: model.classes(),
    }
}

/// Returns the type of a monitor as a firmware writes it: `Monitor<f32, 2048, 1, 32, 14, 7>`.
pub fn type_name(capacities: &Capacities) -> String {
    let Capacities { encoding, samples, fft, axes, dims, components, classes } = capacities;
    let numbers = format!("{fft}, {axes}, {dims}, {components}, {classes}");
    match (encoding, samples) {
        (Encoding::F32, Samples::Floats) => format!("Monitor<f32, {numbers}>"),
        (Encoding::F32, Samples::Counts) => format!("Monitor<i16, {numbers}>"),
        (Encoding::I16, _) => format!("IntegerMonitor<{numbers}>"),
    }
}

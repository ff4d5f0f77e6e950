//! Segments, their spectra, and the features that models compute from them.

use core::hint::black_box;

use rebearing::Model;
use rebearing::acquisition::Sample;
use rebearing::features::blocks;
use rebearing::signal::orders::{Orders, add_order_power};
use rebearing::signal::severity::add_velocity;
use rebearing::signal::statistics::Moments;
use rebearing::signal::{Hann, Segment, Spectrum, envelope};

use crate::unknown::{FLOATS, bytes, number, write};

const ORDERS: Orders = Orders { spectrum: true, envelope: true, bands: 32, first: 0.5, width: 0.5 };

pub(crate) fn all() {
    segment::<f32, 256, 1>(black_box(0.0));
    segment::<i16, 4096, 3>(black_box(0));
}

/// A segment with lengths that a model would never have.
fn segment<S: Sample, const FFT: usize, const AXES: usize>(sample: S) {
    let mut segment = black_box(Segment::<S, FFT, AXES>::new(number(), number()));
    black_box((segment.push([sample; AXES]), S::ZERO.to_f32(), sample.to_f32()));
    let frames = [[sample; AXES]; 64];
    black_box(segment.fill(frames.get(..number()).unwrap_or(&[])));
    for x in segment.newest(number(), number()) {
        black_box(x);
    }
    let mut out = [0.0; FFT];
    if let Err(fault) = segment.taper(number(), &mut out) {
        write(fault);
        black_box(fault.name());
    }
    if let Ok(piece) = black_box(&segment).taper_and_measure(number(), number(), &mut out) {
        let mut moments = black_box(Moments::EMPTY);
        moments.add(&piece);
        black_box(moments.statistics(black_box(0.0)));
    }
    black_box(Hann::<FFT>::TABLE.get(number()));
    let spectrum = Spectrum::transform(&mut out, number());
    black_box((spectrum.len(), spectrum.is_empty(), spectrum.band_power(number(), number())));
    let mut velocity = black_box(0.0);
    add_velocity(&mut velocity, (number(), number()), spectrum);
    black_box((velocity, spectrum.first_power()));
    let orders = black_box(ORDERS);
    black_box((orders.features(), orders.top()));
    let mut sums = black_box(FLOATS);
    add_order_power(sums.get_mut(..number()).unwrap_or_default(), &orders, 0.0, spectrum);
    for power in spectrum.power() {
        black_box(power);
    }
    let by = envelope::decimation(number(), black_box(0.0));
    black_box(envelope::write_envelope(segment.newest(number(), number()), by, &mut out));
    if let Ok(model) = Model::parse(bytes()) {
        let sums = sums.get_mut(..number()).unwrap_or_default();
        let shaft_hz = black_box(Some(0.0));
        let front_end = model.front_end();
        // The following code does not depend on whether this is refused.
        let _ = blocks::add_segment(&segment, number(), front_end, shaft_hz, &mut out, sums);
        let _ = blocks::add_tapered(
            &segment,
            number(),
            front_end,
            shaft_hz,
            &mut out,
            sums,
            |spectrum| {
                black_box(spectrum.len());
            },
        );
        let mut features = black_box(FLOATS);
        let _ = black_box(blocks::log_blocks(
            front_end,
            sums,
            features.get_mut(..number()).unwrap_or_default(),
        ));
    }
    segment.clear();
    black_box(segment);
}

//! A segment's samples to the sums of every block of features, and the sums to features.
//!
//! The features of an axis come in blocks: the bands in Hz, then the orders and the envelope's
//! orders if the model has them. Each block has its own mean logarithm removed. The monitor calls
//! these functions on the device, and the host calls them to fit.

use super::bands;
use crate::acquisition::{Sample, SensorFault};
use crate::signal::orders::add_order_power;
use crate::signal::{FrontEnd, Segment, Spectrum, envelope};

/// Adds the power of a full segment of `axis` to `sums`, which has one sum per feature of the axis.
///
/// `scratch` is room for the FFT. Fails if the samples are no signal, or if there are orders and no
/// shaft speed.
pub fn add_segment<S: Sample, const FFT: usize, const AXES: usize>(
    segment: &Segment<S, FFT, AXES>,
    axis: usize,
    front_end: &FrontEnd<'_>,
    shaft_hz: Option<f32>,
    scratch: &mut [f32; FFT],
    sums: &mut [f32],
) -> Result<(), SensorFault> {
    segment.taper(axis, scratch)?;
    add_tapered(segment, axis, front_end, shaft_hz, scratch, sums, |_| ())
}

/// As [`add_segment`], for a segment that is already in `scratch`, tapered. Shows its spectrum to
/// `look`.
pub fn add_tapered<S: Sample, const FFT: usize, const AXES: usize>(
    segment: &Segment<S, FFT, AXES>,
    axis: usize,
    front_end: &FrontEnd<'_>,
    shaft_hz: Option<f32>,
    scratch: &mut [f32; FFT],
    sums: &mut [f32],
    look: impl FnOnce(Spectrum<'_>),
) -> Result<(), SensorFault> {
    let (hertz, rest) = sums.split_at_mut_checked(front_end.bands()).unwrap_or_default();
    let spectrum = Spectrum::transform(scratch, front_end.fft_len);
    bands::add_band_power(hertz, front_end.band_edges, spectrum);
    look(spectrum);
    let Some(orders) = &front_end.orders else { return Ok(()) };

    let shaft_hz = shaft_hz.ok_or(SensorFault::NoShaftSpeed)?;
    let bins_per_order = shaft_hz / front_end.rate_hz * front_end.fft_len as f32;
    let split = if orders.spectrum { orders.bands } else { 0 };
    let (of_spectrum, of_envelope) = rest.split_at_mut_checked(split).unwrap_or_default();
    add_order_power(of_spectrum, orders, bins_per_order, spectrum);
    if orders.envelope {
        let by = envelope::decimation(front_end.fft_len, orders.top() * bins_per_order);
        let length = envelope::write_envelope(segment.newest(axis, front_end.fft_len), by, scratch);
        // Fewer points at longer steps: a bin is as wide as before.
        let spectrum = Spectrum::transform(scratch, length);
        add_order_power(of_envelope, orders, bins_per_order, spectrum);
    }
    Ok(())
}

/// Turns the sums of one axis into its features and returns the level of the bands in Hz. With this
/// level added, a band's feature is ln of the mean square in it.
pub fn log_blocks(
    front_end: &FrontEnd<'_>,
    sums: &[f32],
    features: &mut [f32],
) -> Result<f32, SensorFault> {
    let (hertz, orders) = sums.split_at_checked(front_end.bands()).unwrap_or_default();
    let (features, rest) = features.split_at_mut_checked(front_end.bands()).unwrap_or_default();
    let level = bands::log_bands(hertz, features)?;
    let block = front_end.orders.map_or(1, |orders| orders.bands).max(1);
    for (sums, features) in orders.chunks_exact(block).zip(rest.chunks_exact_mut(block)) {
        bands::log_bands(sums, features)?;
    }
    Ok(level + bands::level_offset(front_end.fft_len, front_end.segments))
}

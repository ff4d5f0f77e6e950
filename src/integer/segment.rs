//! One segment of counts to the sums of its bands.

use super::spectrum::{IntegerSpectrum, add_aligned};
use super::taper::{Tapered, taper};
use super::transform::transform;
use crate::acquisition::SensorFault;
use crate::signal::Segment;

/// Adds the band power of a full segment of `axis` to `sums`, which have the exponent `exponent`,
/// and returns the segment's mean in counts. `scratch` is room for the FFT.
pub fn add_segment<const FFT: usize, const AXES: usize>(
    segment: &Segment<i16, FFT, AXES>,
    axis: usize,
    band_edges: &[u32],
    scratch: &mut [i32; FFT],
    sums: &mut [u64],
    exponent: &mut i32,
) -> Result<i32, SensorFault> {
    let Tapered { block, mean } = taper(segment, axis, scratch)?;
    let block = transform(scratch, block);
    let spectrum = IntegerSpectrum::power(scratch, block);
    let powers = band_edges.windows(2).map(|pair| match *pair {
        [low, high] => spectrum.band_power(low as usize, high as usize),
        _ => 0,
    });
    add_aligned(sums, exponent, powers, spectrum.exponent);
    Ok(mean)
}

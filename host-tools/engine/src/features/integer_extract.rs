//! Recordings in counts to integer features, by calling the device crate's integer code.

use rayon::prelude::*;
use rebearing::SensorFault;
use rebearing::integer::add_segment;
use rebearing::integer::features::log_bands;
use rebearing::integer::spectrum::{NO_POWER, add_aligned};
use rebearing::signal::Segment;

use crate::data::counts::Counts;
use crate::data::split::Part;
use crate::features::front_end::FrontEndSettings;
use crate::progress;

/// Computes the integer features of every window in `parts`, one row each: log2 in Q16 with the
/// level removed.
///
/// Each window starts one hop after the previous one, as in
/// [`extract`](crate::features::extract::extract).
pub fn integer_features(
    recordings: &[Counts],
    parts: &[Part],
    front_end: &FrontEndSettings,
) -> Result<Vec<Vec<i32>>, SensorFault> {
    let _stage = progress::stage("computing features in integers", parts.len());
    let rows: Vec<Vec<Vec<i32>>> = parts
        .par_iter()
        .map(|part| {
            let axes = front_end.axes;
            let recording = &recordings[part.recording];
            let samples = &recording.stretches[part.stretch][part.start * axes..part.end * axes];
            match front_end.fft_len {
                256 => part_features::<256>(samples, front_end),
                512 => part_features::<512>(samples, front_end),
                1024 => part_features::<1024>(samples, front_end),
                2048 => part_features::<2048>(samples, front_end),
                _ => part_features::<4096>(samples, front_end),
            }
        })
        .inspect(|_| progress::done(1))
        .collect::<Result<_, _>>()?;
    Ok(rows.into_iter().flatten().collect())
}

/// Band power of one axis in one segment, and its exponent.
type Power = (Vec<u64>, i32);

fn part_features<const FFT: usize>(
    samples: &[i16],
    front_end: &FrontEndSettings,
) -> Result<Vec<Vec<i32>>, SensorFault> {
    let bands = front_end.bands();
    let mut axes: Vec<Vec<Power>> = Vec::new();
    for axis in 0..front_end.axes {
        let mut window = Segment::<i16, FFT, 1>::new(FFT, front_end.hop);
        let mut scratch = [0; FFT];
        let mut powers = Vec::new();
        for sample in samples.iter().skip(axis).step_by(front_end.axes) {
            if window.push([*sample]) {
                let (mut sums, mut exponent) = (vec![0; bands], NO_POWER);
                let edges = &front_end.band_edges;
                add_segment(&window, 0, edges, &mut scratch, &mut sums, &mut exponent)?;
                powers.push((sums, exponent));
            }
        }
        axes.push(powers);
    }
    let segments = axes.first().map_or(0, Vec::len);
    (0..(segments + 1).saturating_sub(front_end.segments))
        .map(|first| {
            let mut row = vec![0; front_end.dims()];
            for (powers, row) in axes.iter().zip(row.chunks_exact_mut(bands)) {
                // Adds in the device's order, so that the sums have the device's bits.
                let (mut sums, mut of_sums) = (vec![0; bands], NO_POWER);
                for (power, exponent) in &powers[first..first + front_end.segments] {
                    add_aligned(&mut sums, &mut of_sums, power.iter().copied(), *exponent);
                }
                log_bands(&sums, row)?;
            }
            Ok(row)
        })
        .collect()
}

//! The inner loop of a mixture in integers: squared distances in i16, eight dimensions at a time.
//!
//! With t = ((x − mean)·scale + 2¹⁵) >> 16 a dimension of a component adds t² to its energy. There
//! are two versions with the same bits:
//!
//! - safe Rust, always there, and all there is on a Cortex-M0;
//! - assembly for every Cortex-M4 and M7, and for a Cortex-M33 with the DSP extension, by the
//!   feature `dsp`: two dimensions in a register, SSUB16 for both differences, SMLABB and SMLATT
//!   for a rounded product each, PKHTB to put both t into one register and SMLALD for both
//!   squares. That is five instructions for two dimensions, and the loop takes 3.25 for one where
//!   loads and counting are included. A core without the extension takes a `UsageFault` or a
//!   `HardFault` at the first of them.
//!
//! The bits are the same because nothing rounds but the shift, and because an energy only grows:
//! adding in 64 bits and cutting off once is adding with saturation.
//!
//! Numbers are as `integer::mixture` says: |x|, |mean| ≤ 16383 and 0 ≤ scale.

/// Dimensions that are loaded at once, and whose squares are added without saturation.
pub const STRIDE: usize = 8;

#[cfg(all(feature = "dsp", target_arch = "arm"))]
#[allow(unsafe_code, reason = "assembly; the call says why it is sound")]
mod smlald;

/// `energy` plus the squares of t over the dimensions that all have, or the largest `u32` where it
/// is beyond.
#[allow(clippy::inline_always, reason = "called in a loop over the components")]
#[inline(always)]
pub(crate) fn add_squares(energy: u32, x: &[i16], means: &[i16], scales: &[i16]) -> u32 {
    // Of one length, so that their eights stand beside one another.
    let dims = x.len().min(means.len()).min(scales.len());
    let [x, means, scales] = [x, means, scales].map(|numbers| numbers.get(..dims).unwrap_or(&[]));
    #[cfg(all(feature = "dsp", target_arch = "arm"))]
    if let Some((sum, done)) = smlald::add_squares(x, means, scales) {
        let energy = energy.saturating_add(sum);
        if done == dims {
            return energy;
        }
        let [x, means, scales] =
            [x, means, scales].map(|numbers| numbers.get(done..).unwrap_or(&[]));
        return energy.saturating_add(squares(x, means, scales));
    }
    add_squares_safe(energy, x, means, scales)
}

/// As [`add_squares`], in safe Rust, of numbers that are equally many.
fn add_squares_safe(mut energy: u32, x: &[i16], means: &[i16], scales: &[i16]) -> u32 {
    let (x, x_rest) = x.as_chunks::<STRIDE>();
    let (means, means_rest) = means.as_chunks::<STRIDE>();
    let (scales, scales_rest) = scales.as_chunks::<STRIDE>();
    for ((x, means), scales) in x.iter().zip(means).zip(scales) {
        energy = energy.saturating_add(squares(x, means, scales));
    }
    energy.saturating_add(squares(x_rest, means_rest, scales_rest))
}

/// Σt² over at most eight dimensions.
#[inline]
fn squares(x: &[i16], means: &[i16], scales: &[i16]) -> u32 {
    let mut sum = 0_u32;
    for ((x, mean), scale) in x.iter().zip(means).zip(scales) {
        let difference = i32::from(*x) - i32::from(*mean);
        let t = (difference * i32::from(*scale) + 0x8000) >> 16;
        sum = sum.wrapping_add((t * t).cast_unsigned());
    }
    sum
}

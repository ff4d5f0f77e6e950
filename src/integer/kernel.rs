//! The inner loop of a mixture in integers: squared distances in i16, eight dimensions at a time.
//!
//! With t = ((x − mean)·scale + 2¹⁵) >> 16, a dimension adds t² to the energy of a component. There
//! are two versions with the same bits:
//!
//! - Safe Rust, always there, and the only version on a Cortex-M0.
//! - Assembly for every Cortex-M4 and M7, and for a Cortex-M33 with the DSP extension, with the
//!   feature `dsp`. Two dimensions share a register. SSUB16 computes both differences, SMLABB and
//!   SMLATT compute a rounded product each, PKHTB puts both t into one register, and SMLALD adds
//!   both squares. That is five instructions for two dimensions. With loads and counting, the loop
//!   takes 3.25 instructions per dimension. A core without the extension takes a `UsageFault` or a
//!   `HardFault` at the first of these instructions.
//!
//! The bits are the same because only the shift rounds, and because an energy only grows: adding in
//! 64 bits and limiting once is the same as adding with saturation.
//!
//! The numbers have the bounds of `integer::mixture`: |x|, |mean| ≤ 16383 and 0 ≤ scale.

/// Dimensions that are loaded at once. Their squares are added without saturation.
pub const STRIDE: usize = 8;

#[cfg(all(feature = "dsp", target_arch = "arm"))]
#[allow(unsafe_code, reason = "assembly; the call says why it is sound")]
mod smlald;

/// Returns `energy` plus Σt² over the dimensions that all three slices have, limited to the largest
/// `u32`.
#[allow(clippy::inline_always, reason = "called in a loop over the components")]
#[inline(always)]
pub(crate) fn add_squares(energy: u32, x: &[i16], means: &[i16], scales: &[i16]) -> u32 {
    // Cut to the same length, so that their blocks of eight match.
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

/// As [`add_squares`], in safe Rust, for slices of the same length.
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

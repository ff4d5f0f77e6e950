//! The inner loop of a mixture: squared Mahalanobis distances, a block of dimensions at a time.
//!
//! With t = r·x + m, a dimension adds t² to the distance of a component. Each feature is loaded
//! once for four consecutive components. There are two versions with the same bits:
//!
//! - Safe Rust, always there. Arrays of [`BLOCK`] numbers leave no bounds check in the loop.
//! - Assembly for Cortex-M with a floating-point unit, with the feature `asm`. VLDM loads a block
//!   at once, which no compiler here does by itself. VMLA multiplies and adds in one instruction.
//!   The loop takes 2.34 instructions per component and dimension. Two is the minimum for t and t².
//!
//! The bits are the same because VMLA rounds the product and then the sum, as `*` and `+` do (VFMA
//! would not round the product), and because both versions add the dimensions in order.
//!
//! Only instructions are measured here. By Arm's timing of the Cortex-M4, VMLA takes three cycles,
//! and VMUL with VADD takes two. So in cycles, the loop with more instructions may be the faster
//! one.

#![allow(clippy::inline_always, reason = "called in a loop over the components")]

/// Dimensions that are loaded at once.
pub const BLOCK: usize = 8;

type Block = [f32; BLOCK];

#[cfg(not(all(feature = "asm", target_arch = "arm", target_abi = "eabihf")))]
use safe as blocks;
#[cfg(all(feature = "asm", target_arch = "arm", target_abi = "eabihf"))]
use vldm as blocks;

/// Returns `sums` plus Σ t² over the dimensions of `x`, for the four components from `rows` on.
///
/// A component has a row of `dims` scales and `dims` offsets, and the next component follows.
/// `rows` starts with the scale for the first number of `x`. If it is too short, `sums` comes back
/// unchanged.
#[inline(always)]
pub(crate) fn add_squares_of_four(
    x: &[f32],
    rows: &[f32],
    dims: usize,
    sums: [f32; 4],
) -> [f32; 4] {
    // The last offset is 7·dims after the scale of the first component.
    if x.len() > rows.len().saturating_sub(7 * dims) {
        return sums;
    }
    let (whole, rest) = x.as_chunks();
    let mut sums = blocks::add_four(whole, rows, dims, sums);
    if !rest.is_empty() {
        for (k, sum) in sums.iter_mut().enumerate() {
            let row = rows.get(2 * k * dims..).unwrap_or_default();
            *sum = add_rest(whole.len() * BLOCK, rest, row, dims, *sum);
        }
    }
    sums
}

/// Returns `sum` plus Σ t² over the dimensions of `x`, for the component at the front of `row`.
///
/// `row` starts with the component's first scale. Its first offset is `dims` later. If `row` is too
/// short, `sum` comes back unchanged.
#[inline(always)]
pub(crate) fn add_squares(x: &[f32], row: &[f32], dims: usize, sum: f32) -> f32 {
    if x.len() > row.len().saturating_sub(dims) {
        return sum;
    }
    let (whole, rest) = x.as_chunks();
    let sum = blocks::add_one(whole, row, dims, sum);
    if rest.is_empty() { sum } else { add_rest(whole.len() * BLOCK, rest, row, dims, sum) }
}

/// Adds the dimensions after the `done` ones of the whole blocks. Not inlined, to stay out of the
/// way of models that have none.
#[cold]
#[inline(never)]
fn add_rest(done: usize, x: &[f32], row: &[f32], dims: usize, mut sum: f32) -> f32 {
    let scale = row.get(done..).unwrap_or_default();
    let offset = row.get(dims + done..).unwrap_or_default();
    for ((x, r), m) in x.iter().zip(scale).zip(offset) {
        let t = r * x + m;
        sum += t * t;
    }
    sum
}

/// Whole blocks in safe Rust.
#[cfg(not(all(feature = "asm", target_arch = "arm", target_abi = "eabihf")))]
mod safe {
    use super::{BLOCK, Block};

    #[inline(always)]
    pub(super) fn add_four(
        x: &[Block],
        rows: &[f32],
        dims: usize,
        [a, b, c, d]: [f32; 4],
    ) -> [f32; 4] {
        let [a, b] = add_two(x, rows, dims, [a, b]);
        let rows = rows.get(4 * dims..).unwrap_or_default();
        let [c, d] = add_two(x, rows, dims, [c, d]);
        [a, b, c, d]
    }

    /// Adds the squares of two components. Four at once would need more pointers than there are
    /// registers.
    #[inline(always)]
    fn add_two(
        x: &[Block],
        rows: &[f32],
        dims: usize,
        [mut sum_a, mut sum_b]: [f32; 2],
    ) -> [f32; 2] {
        let (a, b) = (rows, rows.get(2 * dims..).unwrap_or_default());
        for (x, ((ra, ma), (rb, mb))) in x.iter().zip(row(a, dims).zip(row(b, dims))) {
            for i in 0..BLOCK {
                let ta = ra[i] * x[i] + ma[i];
                sum_a += ta * ta;
                let tb = rb[i] * x[i] + mb[i];
                sum_b += tb * tb;
            }
        }
        [sum_a, sum_b]
    }

    #[inline(always)]
    pub(super) fn add_one(x: &[Block], whitening: &[f32], dims: usize, mut sum: f32) -> f32 {
        for (x, (r, m)) in x.iter().zip(row(whitening, dims)) {
            for i in 0..BLOCK {
                let t = r[i] * x[i] + m[i];
                sum += t * t;
            }
        }
        sum
    }

    /// Blocks of scales and offsets.
    #[inline(always)]
    fn row(whitening: &[f32], dims: usize) -> impl Iterator<Item = (&Block, &Block)> {
        let (scale, _) = whitening.as_chunks();
        let (offset, _) = whitening.get(dims..).unwrap_or_default().as_chunks();
        scale.iter().zip(offset)
    }
}

/// Whole blocks in assembly.
#[cfg(all(feature = "asm", target_arch = "arm", target_abi = "eabihf"))]
#[allow(unsafe_code, reason = "assembly; each call says why it is sound")]
mod vldm;

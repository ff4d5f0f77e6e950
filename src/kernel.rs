//! The inner loop of a mixture: squared Mahalanobis distances, a block of dimensions at a time.
//!
//! With t = r·x + m a dimension of a component adds t² to its distance. Each feature is loaded
//! once for four components that lie behind one another. There are two versions with the same
//! bits:
//!
//! - safe Rust, always there; arrays of [`BLOCK`] numbers leave no bounds check in the loop;
//! - assembly for Cortex-M with a floating-point unit, by the feature `asm`: VLDM loads a block
//!   at once, which no compiler here does by itself, and VMLA multiplies and adds in one
//!   instruction. The loop takes 2.34 instructions for a component and dimension, where two is
//!   the least that t and t² can take.
//!
//! The bits are the same because VMLA rounds the product and then the sum, as `*` and `+` do
//! (VFMA would not round the product), and because both versions add the dimensions in order.
//!
//! By Arm's timing of the Cortex-M4, VMLA takes three cycles and VMUL with VADD two: only
//! instructions are measured here, and in cycles the longer loop may be the shorter one.

/// Dimensions that are loaded at once.
pub const BLOCK: usize = 8;

type Block = [f32; BLOCK];

#[cfg(not(all(feature = "asm", target_arch = "arm", target_abi = "eabihf")))]
use safe as blocks;
#[cfg(all(feature = "asm", target_arch = "arm", target_abi = "eabihf"))]
use vldm as blocks;

/// Σ t² over the dimensions of `x`, for the four components in `rows`.
///
/// A component has a row of `dims` scales and `dims` offsets; `x` may have fewer dimensions than
/// it. Rows that are too short give zeros.
#[inline(always)]
pub(crate) fn squares_of_four(x: &[f32], rows: &[f32], dims: usize) -> [f32; 4] {
    if x.len() > dims || rows.len() / 8 < dims {
        return [0.0; 4];
    }
    let (whole, rest) = x.as_chunks();
    let mut sums = blocks::of_four(whole, rows, dims);
    if !rest.is_empty() {
        for (k, sum) in sums.iter_mut().enumerate() {
            let row = rows.get(2 * k * dims..).unwrap_or_default();
            *sum = add_rest(whole.len() * BLOCK, rest, row, dims, *sum);
        }
    }
    sums
}

/// `sum` and Σ t² over the dimensions of `x`, for the component at the front of `row`: its first
/// scale, and `dims` further on its first offset. A row that is too short gives `sum`.
#[inline(always)]
pub(crate) fn add_squares(x: &[f32], row: &[f32], dims: usize, sum: f32) -> f32 {
    if x.len() > row.len().saturating_sub(dims) {
        return sum;
    }
    let (whole, rest) = x.as_chunks();
    let sum = blocks::add_one(whole, row, dims, sum);
    if rest.is_empty() { sum } else { add_rest(whole.len() * BLOCK, rest, row, dims, sum) }
}

/// The dimensions behind the `done` of the whole blocks.
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
    pub(super) fn of_four(x: &[Block], rows: &[f32], dims: usize) -> [f32; 4] {
        let (ab, cd) = rows.split_at_checked(4 * dims).unwrap_or_default();
        let [[a, b], [c, d]] = [of_two(x, ab, dims), of_two(x, cd, dims)];
        [a, b, c, d]
    }

    /// Four at once would take more pointers than there are registers.
    #[inline(always)]
    fn of_two(x: &[Block], rows: &[f32], dims: usize) -> [f32; 2] {
        let (a, b) = rows.split_at_checked(2 * dims).unwrap_or_default();
        let (mut sum_a, mut sum_b) = (0.0, 0.0);
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

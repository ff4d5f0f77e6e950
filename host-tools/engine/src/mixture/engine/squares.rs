//! `Σ (x·scale + shift)²` for the rows of a tile and the components of a mixture.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use pulp::Simd;

use super::share::{Column, TILE, in_order};
use crate::mixture::sample::{Rows, Sample};

/// Up to this many components are computed row by row: transposing the rows would cost more than it
/// saves.
pub(in crate::mixture) const FEW_COMPONENTS: usize = 4;
/// Bytes of rows that are transposed at a time: half of the first-level cache.
const TURNED: usize = 1 << 14;

/// Rows that are processed together.
pub(in crate::mixture) struct Tile<'a, T> {
    pub rows: &'a Rows<'a, T>,
    pub range: Range<usize>,
}

impl<'a, T: Sample> Tile<'a, T> {
    #[inline(always)]
    fn row(&self, r: usize) -> &'a [T] {
        self.rows.row(self.range.start + r)
    }
}

/// All values of a tile, transposed: the values of all rows side by side, dimension by dimension.
pub(in crate::mixture) struct Turned<T> {
    pub blocks: Vec<Range<usize>>,
    pub values: Vec<T>,
}

impl<T: Sample> Turned<T> {
    #[inline(always)]
    pub(in crate::mixture) fn new(tile: &Tile<T>) -> Self {
        let dimensions = tile.rows.dimensions();
        let blocks = blocks::<T>(dimensions);
        let mut values = vec![T::ZERO; dimensions * TILE];
        for block in &blocks {
            turn(tile, block, &mut values[block.start * TILE..block.end * TILE]);
        }
        Self { blocks, values }
    }
}

/// Computes `Σ (x·scale + shift)²` of a tile's rows, one column for each component.
#[inline(always)]
pub(in crate::mixture) fn all_squares<'a, T: Sample, S: Simd>(
    simd: S,
    tile: &Tile<T>,
    parameters: impl Fn(usize) -> (&'a [T], &'a [T]),
    out: &mut [Column],
) {
    if out.len() <= FEW_COMPONENTS {
        squares_by_rows(simd, tile, parameters, out);
    } else {
        out.fill([0.0; TILE]);
        let blocks = blocks::<T>(tile.rows.dimensions());
        squares(simd, tile, blocks.into_iter(), parameters, out);
    }
}

/// Ranges of dimensions that are processed together.
pub(in crate::mixture) fn blocks<T>(dimensions: usize) -> Vec<Range<usize>> {
    let block = TURNED / TILE / size_of::<T>();
    (0..dimensions).step_by(block).map(|from| from..dimensions.min(from + block)).collect()
}

/// Adds `Σ (x·scale + shift)²` over some blocks of dimensions. The sum inside a block uses the
/// data's own precision, the sum over blocks uses f64.
#[inline(always)]
pub(in crate::mixture) fn squares<'a, T: Sample, S: Simd>(
    simd: S,
    tile: &Tile<T>,
    blocks: impl Iterator<Item = Range<usize>>,
    parameters: impl Fn(usize) -> (&'a [T], &'a [T]),
    out: &mut [Column],
) {
    let mut values = vec![T::ZERO; TURNED / size_of::<T>()];
    for block in blocks {
        let values = &mut values[..block.len() * TILE];
        turn(tile, &block, values);
        for (k, out) in out.iter_mut().enumerate() {
            let (scale, shift) = parameters(k);
            T::squares(simd, values, &scale[block.clone()], &shift[block.clone()], out);
        }
    }
}

/// Computes `Σ (x·scale + shift)²` over all dimensions, row by row.
#[inline(always)]
pub(in crate::mixture) fn squares_by_rows<'a, T: Sample, S: Simd>(
    simd: S,
    tile: &Tile<T>,
    parameters: impl Fn(usize) -> (&'a [T], &'a [T]),
    out: &mut [Column],
) {
    let everyone = in_order();
    for (k, out) in out.iter_mut().enumerate() {
        squares_of_one(simd, tile, &everyone[..tile.range.len()], parameters(k), out);
    }
}

/// Computes `Σ (x·scale + shift)²` of some rows and one component.
#[inline(always)]
pub(in crate::mixture) fn squares_of_one<T: Sample, S: Simd>(
    simd: S,
    tile: &Tile<T>,
    chosen: &[u8],
    parameters: (&[T], &[T]),
    out: &mut Column,
) {
    let (quartets, rest) = chosen.as_chunks::<4>();
    for quartet in quartets {
        squares_of_four(simd, tile, *quartet, parameters, out);
    }
    if let Some(&last) = rest.last() {
        // Four rows hide the latency of a multiply-add, so fewer rows would take as long.
        let mut quartet = [last; 4];
        quartet[..rest.len()].copy_from_slice(rest);
        squares_of_four(simd, tile, quartet, parameters, out);
    }
}

/// Computes `Σ (x·scale + shift)²` of four rows.
#[inline(always)]
fn squares_of_four<T: Sample, S: Simd>(
    simd: S,
    tile: &Tile<T>,
    [a, b, c, d]: [u8; 4],
    (scale, shift): (&[T], &[T]),
    out: &mut Column,
) {
    let [a, b, c, d] = [usize::from(a), usize::from(b), usize::from(c), usize::from(d)];
    let x = [tile.row(a), tile.row(b), tile.row(c), tile.row(d)];
    [out[a], out[b], out[c], out[d]] = T::squares_of_one(simd, x, scale, shift);
}

/// Transposes a tile: puts the values of its rows side by side, dimension by dimension. Lanes are
/// then rows, and rows that lie a power of two apart do not evict each other from the cache.
#[inline(always)]
fn turn<T: Sample>(tile: &Tile<T>, block: &Range<usize>, values: &mut [T]) {
    let count = tile.range.len();
    for octet in (0..count).step_by(8) {
        let mut x = [&tile.row(0)[block.clone()]; 8];
        for (x, r) in x.iter_mut().zip(octet..count) {
            *x = &tile.row(r)[block.clone()];
        }
        for (j, values) in values.chunks_exact_mut(TILE).take(block.len()).enumerate() {
            let values = &mut values[octet..octet + 8];
            for r in 0..8 {
                values[r] = x[r][j];
            }
        }
    }
}

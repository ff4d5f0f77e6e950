//! How rows are shared out among components, tile by tile.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use pulp::Simd;

use super::sample::{Rows, Sample};

/// Rows that are worked on together.
pub(super) const TILE: usize = 64;

/// One value for each row of a tile.
pub(super) type Column = [f64; TILE];

/// A lower bound on the distance of each row of a tile to a component.
pub(super) type Bounds = [f32; TILE];

/// What is known of a tile's distances to the components from earlier passes.
#[derive(Default)]
pub(super) struct Known<'a> {
    /// Bounds for each component, or empty.
    pub bounds: &'a mut [Bounds],
    /// A lower bound for each component on the distance of any row, or empty.
    pub reach: &'a mut [f32],
}

/// How rows are shared out among components.
pub(super) trait Share<T>: Sync {
    /// Fills the shares of the rows in `range`, a column for each component, and returns the
    /// log-likelihoods of the rows. A column's values beyond the range mean nothing. `known`
    /// is what the last pass left.
    fn share<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        known: Known,
        shares: &mut [Column],
    ) -> Column;
}

/// All rows to one component.
pub(super) struct Everything;

impl<T: Sample> Share<T> for Everything {
    #[inline(always)]
    fn share<S: Simd>(
        &self,
        _: S,
        _: &Rows<T>,
        _: Range<usize>,
        _: Known,
        shares: &mut [Column],
    ) -> Column {
        shares.fill([1.0; TILE]);
        [0.0; TILE]
    }
}

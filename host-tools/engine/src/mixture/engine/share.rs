//! Division of rows among components, tile by tile.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::ops::Range;

use pulp::Simd;

use crate::mixture::sample::{Rows, Sample};

/// Number of rows that are processed together.
pub(in crate::mixture) const TILE: usize = 64;

/// One value for each row of a tile.
pub(in crate::mixture) type Column = [f64; TILE];

/// A lower bound on the distance of each row of a tile to a component.
pub(in crate::mixture) type Bounds = [f32; TILE];

/// Densities of a tile's rows under the components. They are later turned into shares.
pub(in crate::mixture) struct Shares {
    /// A column for each component.
    pub columns: Vec<Column>,
    /// The components in which any of the rows has a share, in order. Most rows have a share in
    /// only a few components. The columns of the others are undefined and never read.
    pub present: Vec<usize>,
}

impl Shares {
    pub(in crate::mixture) fn new(components: usize) -> Self {
        Self { columns: vec![[0.0; TILE]; components], present: Vec::with_capacity(components) }
    }

    /// All columns, for the caller to fill.
    #[inline(always)]
    pub(in crate::mixture) fn all(&mut self) -> &mut [Column] {
        self.present.clear();
        self.present.extend(0..self.columns.len());
        &mut self.columns
    }
}

/// Knowledge from earlier passes about a tile's distances to the components.
#[derive(Default)]
pub(in crate::mixture) enum Known<'a> {
    #[default]
    Nothing,
    /// A bound for each row and component, and the best component of each row.
    Rows { bounds: &'a mut [Bounds], leaders: &'a mut Leaders },
    /// For each component, a lower bound on the distance of any row.
    Tile { reach: &'a mut [f32] },
}

/// For each row of a tile, the component that is most likely its best.
#[derive(Clone)]
pub(in crate::mixture) struct Leaders {
    pub component: [u32; TILE],
    /// The rows, grouped by leader.
    pub order: [u8; TILE],
}

impl Default for Leaders {
    fn default() -> Self {
        Self { component: [0; TILE], order: in_order() }
    }
}

/// The row numbers of a tile, in order.
#[inline(always)]
pub(in crate::mixture) fn in_order() -> [u8; TILE] {
    let mut order = [0; TILE];
    for (row, r) in order.iter_mut().zip(0..) {
        *row = r;
    }
    order
}

/// A way to divide rows among components.
pub(in crate::mixture) trait Share<T>: Sync {
    /// Fills the shares of the rows in `range` and returns their log-likelihoods. The values of a
    /// column beyond the range are undefined. `known` comes from the last pass.
    fn share<S: Simd>(
        &self,
        simd: S,
        rows: &Rows<T>,
        range: Range<usize>,
        known: Known,
        shares: &mut Shares,
    ) -> Column;
}

/// Assigns all rows to one component.
pub(in crate::mixture) struct Everything;

impl<T: Sample> Share<T> for Everything {
    #[inline(always)]
    fn share<S: Simd>(
        &self,
        _: S,
        _: &Rows<T>,
        _: Range<usize>,
        _: Known,
        shares: &mut Shares,
    ) -> Column {
        shares.all().fill([1.0; TILE]);
        [0.0; TILE]
    }
}

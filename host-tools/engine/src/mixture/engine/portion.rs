//! Rows divided among components: the rows in which each component has a share, and the changes.
#![allow(
    clippy::inline_always,
    reason = "what is not inlined into a dispatched function is compiled for the baseline processor"
)]

use std::cmp::Ordering;
use std::mem::swap;
use std::ops::Range;

use pulp::Simd;

use super::share::{Bounds, Known, Leaders, Share, Shares, TILE};
use crate::mixture::sample::{Rows, Sample};

/// The rows of one task, divided among components.
pub(in crate::mixture) struct Portion<T> {
    range: Range<usize>,
    /// Sum of weighted log-likelihoods.
    pub log_likelihood: f64,
    /// Sum of weighted shares of each component.
    pub counts: Vec<f64>,
    now: Members<T>,
    /// The shares of the pass before, if changes are needed.
    before: Option<Members<T>>,
    kept: Kept,
    /// First moments of these rows alone, or empty.
    pub first: Vec<f64>,
    /// Second moments of these rows alone, or empty.
    pub second: Vec<f64>,
}

/// Bounds on the distances to the components, kept for each tile.
enum Kept {
    Rows { bounds: Vec<Bounds>, leaders: Vec<Leaders> },
    Tiles { reach: Vec<f32> },
}

impl Kept {
    fn new(components: usize, tiles: usize, bounded: bool) -> Self {
        if bounded {
            let bounds = vec![[0.0; TILE]; tiles * components];
            Self::Rows { bounds, leaders: vec![Leaders::default(); tiles] }
        } else {
            Self::Tiles { reach: vec![0.0; tiles * components] }
        }
    }

    #[inline(always)]
    fn tile(&mut self, tile: usize, components: usize) -> Known<'_> {
        let at = tile * components..(tile + 1) * components;
        match self {
            Self::Rows { bounds, leaders } => {
                Known::Rows { bounds: &mut bounds[at], leaders: &mut leaders[tile] }
            }
            Self::Tiles { reach } => Known::Tile { reach: &mut reach[at] },
        }
    }
}

/// The rows in which each component has a share.
struct Members<T> {
    /// Row numbers, relative to the portion's first row, and weighted shares, component by
    /// component, in order. There are many of them if components overlap, so the numbers are small.
    rows: Vec<(u32, T)>,
    /// The end of each component's rows.
    ends: Vec<usize>,
}

impl<T> Members<T> {
    #[inline(always)]
    fn of(&self, k: usize) -> &[(u32, T)] {
        let start = if k == 0 { 0 } else { self.ends[k - 1] };
        &self.rows[start..self.ends[k]]
    }
}

impl<T: Sample> Portion<T> {
    /// A portion with nothing assigned yet. If `bounded`, bounds are kept for each row and
    /// component. If `compared`, shares are kept from one pass to the next, so that changes can be
    /// listed.
    pub(in crate::mixture) fn new(
        range: Range<usize>,
        components: usize,
        bounded: bool,
        compared: bool,
    ) -> Self {
        let nobody = || Members { rows: Vec::new(), ends: vec![0; components] };
        Self {
            log_likelihood: 0.0,
            counts: vec![0.0; components],
            now: nobody(),
            before: compared.then(nobody),
            kept: Kept::new(components, range.len().div_ceil(TILE), bounded),
            first: Vec::new(),
            second: Vec::new(),
            range,
        }
    }

    /// Rows of component `k` and their weighted shares, in order.
    #[inline(always)]
    pub(in crate::mixture) fn members(&self, k: usize) -> impl Iterator<Item = (usize, T)> {
        self.now.of(k).iter().map(|&(row, share)| (self.row(row), share))
    }

    /// The number, among all rows, of a row of this portion.
    #[inline(always)]
    fn row(&self, row: u32) -> usize {
        self.range.start + row as usize
    }

    /// Lists the rows whose shares of component `k` differ from the pass before, in order, with the
    /// differences. Adding these to the sums of that pass gives the sums of this one.
    pub(in crate::mixture) fn changes(&self, k: usize, list: &mut Vec<(usize, T)>) {
        let (mut now, mut before) =
            (self.now.of(k), self.before.as_ref().map_or(&[][..], |before| before.of(k)));
        while let (Some(((i, share), rest)), Some(((j, old), others))) =
            (now.split_first(), before.split_first())
        {
            match i.cmp(j) {
                Ordering::Less => {
                    list.push((self.row(*i), *share));
                    now = rest;
                }
                Ordering::Greater => {
                    list.push((self.row(*j), T::ZERO.minus(*old)));
                    before = others;
                }
                Ordering::Equal => {
                    let change = share.minus(*old);
                    if change != T::ZERO {
                        list.push((self.row(*i), change));
                    }
                    (now, before) = (rest, others);
                }
            }
        }
        list.extend(now.iter().map(|&(i, share)| (self.row(i), share)));
        list.extend(before.iter().map(|&(j, old)| (self.row(j), T::ZERO.minus(old))));
    }
}

/// Fills a portion. It is compiled for the instructions found at run time.
pub(in crate::mixture) struct Fill<'a, T, S> {
    pub rows: &'a Rows<'a, T>,
    pub share: &'a S,
    pub portion: &'a mut Portion<T>,
    /// Storage for the shares of each tile; its old content does not matter.
    pub room: &'a mut Vec<Shares>,
}

impl<T: Sample, S: Share<T>> pulp::WithSimd for Fill<'_, T, S> {
    type Output = ();

    #[inline(always)]
    fn with_simd<Instructions: Simd>(self, simd: Instructions) {
        let Portion { range, log_likelihood, counts, now, before, kept, .. } = self.portion;
        if let Some(before) = before {
            swap(now, before);
        }
        let Members { rows: members, ends } = now;
        let components = counts.len();
        *log_likelihood = 0.0;
        members.clear();
        let tiles: Vec<_> = range.clone().step_by(TILE).collect();
        self.room.resize_with(self.room.len().max(tiles.len()), || Shares::new(components));
        for (tile, (&from, shares)) in tiles.iter().zip(&mut *self.room).enumerate() {
            let rows = from..range.end.min(from + TILE);
            let known = kept.tile(tile, components);
            let likelihoods = self.share.share(simd, self.rows, rows.clone(), known, shares);
            for (i, likelihood) in rows.zip(&likelihoods) {
                *log_likelihood += self.rows.weight(i) * likelihood;
            }
        }
        // For each tile, the number of its present components that are done.
        let mut done = vec![0; tiles.len()];
        for (k, (count, end)) in counts.iter_mut().zip(ends).enumerate() {
            *count = 0.0;
            for ((&from, shares), done) in tiles.iter().zip(&*self.room).zip(&mut done) {
                if shares.present.get(*done) != Some(&k) {
                    continue;
                }
                *done += 1;
                let column = &shares.columns[k][..TILE.min(range.end - from)];
                // No branch on the share, because it would be hard to predict.
                let (mut chosen, mut some) = ([0; TILE], 0);
                for (r, share) in column.iter().enumerate() {
                    chosen[some] = r;
                    some += usize::from(*share > 0.0);
                }
                for &r in &chosen[..some] {
                    let share = column[r] * self.rows.weight(from + r);
                    *count += share;
                    members.push(((from + r - range.start) as u32, T::from_f64(share)));
                }
            }
            *end = members.len();
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    use super::{Members, Portion};

    /// First row of the test portion: a portion need not begin at row 0.
    const FIRST: usize = 5;

    /// Rows and shares of two components. A row with a share of zero is not a member.
    fn members(shares: &[(u8, u8)]) -> Members<f64> {
        let mut rows = Vec::new();
        let mut ends = Vec::new();
        for pick in [|share: &(u8, u8)| share.0, |share: &(u8, u8)| share.1] {
            let own = shares.iter().map(pick).enumerate().filter(|(_, share)| *share > 0);
            rows.extend(own.map(|(row, share)| (row as u32, f64::from(share))));
            ends.push(rows.len());
        }
        Members { rows, ends }
    }

    fn shares() -> impl Strategy<Value = Vec<(u8, u8)>> {
        prop::collection::vec((0..3_u8, 0..3_u8), 12)
    }

    proptest! {
        #[test]
        fn changes_lead_from_the_shares_before_to_those_now(before in shares(), now in shares()) {
            let portion = Portion {
                now: members(&now),
                before: Some(members(&before)),
                ..Portion::new(FIRST..FIRST + 12, 2, false, true)
            };
            for k in 0..2 {
                let mut list = Vec::new();
                portion.changes(k, &mut list);
                let before = Portion {
                    now: members(&before),
                    ..Portion::new(FIRST..FIRST + 12, 2, false, false)
                };
                let mut sums: BTreeMap<usize, f64> = before.members(k).collect();
                for (row, change) in list {
                    prop_assert!(change.abs() > 0.0, "row {row} has not changed");
                    *sums.entry(row).or_default() += change;
                }
                sums.retain(|_, share| *share > 0.0);
                let expected: BTreeMap<usize, f64> = portion.members(k).collect();
                prop_assert_eq!(sums, expected);
            }
        }
    }
}

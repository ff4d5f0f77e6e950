//! Drift watch: does the machine still look as it did when the model was adapted?
//!
//! The watch takes windows in blocks and computes two means for each block. The first is the mean
//! deviation of the log-likelihood from that of held-out windows of the same class, in their
//! standard deviations, cut off at four. The second is the share of unknown windows. If either mean
//! is beyond the model's limit, the block drifts and the flag *please re-adapt* goes up.
//!
//! Why block means, and not a sliding or weighted mean? Neighbouring windows depend on one another.
//! A bound that still holds must know how many windows count. If windows more than τ apart are
//! independent, the mean of a block of B windows is a mean of τ means, each of B/τ independent
//! windows. By Jensen's inequality it has the tails of such a mean (Hoeffding, *Probability
//! Inequalities for Sums of Bounded Random Variables*, 1963, section 5d). The host writes the limits
//! by Bernstein's bound, together with the rate of false alarms. No distribution is assumed to be
//! normal. Deviations are taken class by class, because a machine may stay in one class for months,
//! and the classes differ in their log-likelihood.
//!
//! Everything is in integers, so one watch serves both monitors. Each window counts like this:
//!
//! | window | log-likelihood | unknown |
//! |---|---|---|
//! | class with a reference | its deviation | no |
//! | class without (few held-out windows, or a fault type behind a gate) | 0 | no |
//! | unknown, fault of unknown type | 0 | yes |
//! | sensor fault, or a log-likelihood that is NaN | not in the block | |
//!
//! A window that counts as 0 makes a drift harder to see, never easier. The caller leaves out
//! windows in which the machine stood still. A raised flag means that the machine, its mount or the
//! sensor has changed since it was recorded. A fault that the model does not know raises it too.
//! Look at the machine before you adapt to it.

use crate::classify::Label;
use crate::model::{DriftReference, Numbers, format};
use crate::monitor::AnyFinding;

/// The cause of a drift.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum DriftCause {
    /// The log-likelihood is too low.
    LogLikelihood,
    /// Too many windows are unknown.
    Unknown,
    /// Both.
    Both,
}

impl DriftCause {
    /// The cause in one word, as command line and JSON print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::LogLikelihood => "log_likelihood",
            Self::Unknown => "unknown",
            Self::Both => "both",
        }
    }
}

/// A block of windows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriftBlock {
    /// Mean deviation of the log-likelihood, in standard deviations Q8.
    pub deviation: i32,
    /// Unknown windows.
    pub unknown: u32,
    /// The cause of the drift, if there is one.
    pub cause: Option<DriftCause>,
}

/// Watches the findings of a monitor for drift, in fixed memory.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::operation::DriftWatch;
/// use rebearing::{AnyMonitor, Model, Monitor};
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// // A model that `rebearing adapt` wrote has a reference; one without has nothing to watch.
/// let mut watch = model.drift().map(DriftWatch::new);
/// if let (Some(finding), Some(watch)) = (monitor.push([0.5]), &mut watch) {
///     watch.update(&finding);
///     if watch.raised() {
///         println!("please re-adapt");
///     }
/// }
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct DriftWatch<'m> {
    reference: DriftReference<'m>,
    windows: u32,
    deviations: i32,
    unknown: u32,
    blocks: u32,
    drifted: u32,
    last: Option<DriftBlock>,
}

impl<'m> DriftWatch<'m> {
    /// A watch that has seen nothing yet.
    pub fn new(reference: DriftReference<'m>) -> Self {
        Self { reference, windows: 0, deviations: 0, unknown: 0, blocks: 0, drifted: 0, last: None }
    }

    /// Takes the next finding of a monitor; returns the block when it completes one.
    pub fn update<N: Numbers, const AXES: usize, const CLASSES: usize>(
        &mut self,
        finding: &AnyFinding<N, AXES, CLASSES>,
    ) -> Option<DriftBlock> {
        let found = finding.result.as_ref().ok()?;
        // Behind a gate, the mixture that called the window healthy is the one that explains it.
        let log_likelihood = found.log_likelihood.or(found.gate_log_likelihood)?;
        self.window(found.label, N::nats_q8(log_likelihood))
    }

    /// Takes the label of a window and its log-likelihood in nats Q8. A window with `None` does not
    /// count: its log-likelihood is NaN.
    pub fn window(&mut self, label: Label, log_likelihood: Option<i32>) -> Option<DriftBlock> {
        let log_likelihood = log_likelihood?;
        match label {
            Label::Class(class) => self.deviations += self.deviation(class, log_likelihood),
            Label::Unknown | Label::UnknownFault => self.unknown += 1,
        }
        self.windows += 1;
        if self.windows < self.reference.block {
            return None;
        }
        let block = self.complete();
        (self.windows, self.deviations, self.unknown) = (0, 0, 0);
        self.blocks = self.blocks.saturating_add(1);
        self.drifted = self.drifted.saturating_add(u32::from(block.cause.is_some()));
        self.last = Some(block);
        Some(block)
    }

    /// Returns true if a block has drifted since the start or the last [`reset`](Self::reset):
    /// please re-adapt.
    pub fn raised(&self) -> bool {
        self.drifted > 0
    }

    /// Number of blocks that drifted; stops at the largest `u32`.
    pub fn drifted(&self) -> u32 {
        self.drifted
    }

    /// Number of completed blocks; stops at the largest `u32`.
    pub fn blocks(&self) -> u32 {
        self.blocks
    }

    /// Number of windows in the current block.
    pub fn windows(&self) -> u32 {
        self.windows
    }

    /// The last block.
    pub fn last(&self) -> Option<DriftBlock> {
        self.last
    }

    /// The reference it compares with.
    pub fn reference(&self) -> &DriftReference<'m> {
        &self.reference
    }

    /// Takes the flag down and forgets all windows.
    pub fn reset(&mut self) {
        *self = Self::new(self.reference);
    }

    /// Deviation from the reference of a class, in standard deviations Q8.
    ///
    /// Bounds: the spread is at most 2²⁰, so four spreads in Q8 are at most 2³⁰. A block of 2¹⁶
    /// windows sums to at most 2²⁶.
    fn deviation(&self, class: usize, log_likelihood: i32) -> i32 {
        let Some(reference) = self.reference.class(class) else { return 0 };
        let spread = reference.spread.min(format::MAX_SPREAD).cast_signed();
        let deviation = log_likelihood.saturating_sub(reference.mean);
        let deviation = deviation.clamp(-4 * spread, 4 * spread) << 8;
        deviation.checked_div(spread).unwrap_or(0)
    }

    /// The means of a full block, compared with the limits.
    fn complete(&self) -> DriftBlock {
        let DriftReference { block, deviation_min, unknown_max, .. } = self.reference;
        let windows = block.clamp(1, format::MAX_DRIFT_BLOCK).cast_signed();
        let low = self.deviations < deviation_min.saturating_mul(windows);
        let cause = match (low, self.unknown > unknown_max) {
            (true, true) => Some(DriftCause::Both),
            (true, false) => Some(DriftCause::LogLikelihood),
            (false, true) => Some(DriftCause::Unknown),
            (false, false) => None,
        };
        let deviation = self.deviations.checked_div(windows).unwrap_or(0);
        DriftBlock { deviation, unknown: self.unknown, cause }
    }
}

#[cfg(test)]
mod tests {
    use super::{DriftBlock, DriftCause, DriftWatch};
    use crate::classify::Label;
    use crate::model::{DriftReference, Floats, Numbers};

    /// Mean −10 nats, spread 2 nats; blocks of four windows.
    const REFERENCE: DriftReference<'static> = DriftReference {
        block: 4,
        correlation: 1,
        deviation_min: -256,
        unknown_max: 2,
        blocks_per_false_alarm: 1000,
        held_out: 100,
        held_out_unknown: 0,
        classes: &[(-2560_i32).cast_unsigned(), 512, 0, 0],
    };

    fn block(windows: [(Label, f32); 4]) -> DriftBlock {
        let mut watch = DriftWatch::new(REFERENCE);
        let blocks = windows.map(|(label, nats)| watch.window(label, Floats::nats_q8(nats)));
        assert_eq!(&blocks[..3], &[None; 3]);
        assert_eq!(watch.raised(), blocks[3].is_some_and(|block| block.cause.is_some()));
        blocks[3].unwrap()
    }

    #[test]
    fn deviations_are_of_the_class_and_cut_off() {
        let known = Label::Class(0);
        // Two below, one above, one far below that counts as four.
        let found = block([(known, -14.0), (known, -8.0), (known, -1e9), (known, -10.0)]);
        assert_eq!(
            found,
            DriftBlock { deviation: -320, unknown: 0, cause: Some(DriftCause::LogLikelihood) }
        );
        let at_the_limit = [(known, -12.0); 4];
        assert_eq!(block(at_the_limit).cause, None);
        // A class without a reference and one past the last count as no deviation.
        let others = [(Label::Class(1), -1e30), (Label::Class(9), -1e30)];
        assert_eq!(block([others[0], others[1], others[0], others[1]]).deviation, 0);
        let found = block([
            (Label::Unknown, -99.0),
            (Label::UnknownFault, 0.0),
            (Label::Unknown, 0.0),
            (known, -10.0),
        ]);
        assert_eq!(
            found,
            DriftBlock { deviation: 0, unknown: 3, cause: Some(DriftCause::Unknown) }
        );
        let infinite = block([
            (known, f32::INFINITY),
            (known, f32::NEG_INFINITY),
            (known, f32::MAX),
            (known, f32::MIN),
        ]);
        assert_eq!(infinite, DriftBlock { deviation: 0, unknown: 0, cause: None });
    }

    #[test]
    fn nan_does_not_count() {
        let mut watch = DriftWatch::new(REFERENCE);
        for _ in 0..10 {
            assert_eq!(watch.window(Label::Class(0), Floats::nats_q8(f32::NAN)), None);
            assert_eq!(watch.window(Label::Unknown, None), None);
        }
        assert_eq!(watch.windows(), 0);
    }

    #[test]
    fn counters_saturate_and_the_flag_stays_up_until_reset() {
        let mut watch =
            DriftWatch { blocks: u32::MAX, drifted: u32::MAX, ..DriftWatch::new(REFERENCE) };
        for _ in 0..8 {
            watch.window(Label::Unknown, Some(0));
        }
        assert_eq!((watch.blocks(), watch.drifted()), (u32::MAX, u32::MAX));
        for _ in 0..4 {
            watch.window(Label::Class(0), Some(-2560));
        }
        assert!(watch.raised() && watch.last().is_some_and(|block| block.cause.is_none()));
        watch.reset();
        assert!(!watch.raised() && watch.last().is_none());
        assert_eq!((watch.blocks(), watch.windows()), (0, 0));
    }
}

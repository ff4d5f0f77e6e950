//! The colour of the verdict: it never promises more than the figures on the page.

use rebearing::model::{ModelVerdict, Verdict};

use super::confusion::Confusion;
use super::{Kind, Page};
use crate::words::decimal;

/// The colour of a badge.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Colour {
    /// The labels keep the promise.
    Green,
    /// Healthy or faulty is told. The type of a fault is not promised.
    Amber,
    /// No label is promised.
    Red,
}

impl Colour {
    /// Its name in the style sheet.
    pub(super) fn class(self) -> &'static str {
        match self {
            Self::Green => "green",
            Self::Amber => "amber",
            Self::Red => "red",
        }
    }
}

/// The verdict with its colour, and whether the page's own figures deny it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Badge {
    /// The verdict, the predicted accuracy and the promise.
    pub(super) made_under: ModelVerdict,
    /// Its colour.
    pub(super) colour: Colour,
    /// The true accuracy, if it is below the promise of a verdict that would be green.
    pub(super) denied: Option<f64>,
}

impl Badge {
    /// The badge of a page; `None` if the model file gives no verdict.
    pub(super) fn of(page: &Page<'_>, confusion: Option<&Confusion>) -> Option<Self> {
        let gate = matches!(page.kind, Kind::Gate { .. });
        let verdict = page.contents.model.verdict()?;
        Some(Self::new(verdict, gate, confusion.map(Confusion::accuracy)))
    }

    /// `gate` tells whether the model has one. `accuracy` is the true one, if the manifest has labels.
    fn new(made_under: ModelVerdict, gate: bool, accuracy: Option<f64>) -> Self {
        let ModelVerdict { verdict, forced, promise, .. } = made_under;
        let kept = made_under.predicted_accuracy.is_some_and(|predicted| predicted >= promise);
        let colour = match verdict {
            Verdict::Adapt if kept && !forced => Colour::Green,
            Verdict::Keep if !forced => Colour::Amber,
            Verdict::Abstain if gate && !forced => Colour::Amber,
            _ => Colour::Red,
        };
        let broken = |accuracy: &f64| colour == Colour::Green && *accuracy < decimal(promise);
        let denied = accuracy.filter(broken);
        let colour = if denied.is_some() { Colour::Red } else { colour };
        Self { made_under, colour, denied }
    }
}

#[cfg(test)]
mod tests {
    use rebearing::model::AccuracyCurve;

    use super::*;

    const ADAPT: ModelVerdict = ModelVerdict {
        verdict: Verdict::Adapt,
        forced: false,
        predicted_accuracy: Some(0.94),
        promise: 0.9,
        transfers: 0,
        curve: Some(AccuracyCurve::Fixed),
    };
    const KEEP: ModelVerdict = ModelVerdict { verdict: Verdict::Keep, ..ADAPT };
    const ABSTAIN: ModelVerdict = ModelVerdict { verdict: Verdict::Abstain, ..ADAPT };

    fn colour(verdict: ModelVerdict, gate: bool) -> Colour {
        Badge::new(verdict, gate, None).colour
    }

    #[test]
    fn only_a_kept_promise_is_green() {
        assert_eq!(colour(ADAPT, false), Colour::Green);
        for predicted_accuracy in [Some(0.89), None] {
            assert_eq!(colour(ModelVerdict { predicted_accuracy, ..ADAPT }, false), Colour::Red);
        }
        assert_eq!(colour(KEEP, true), Colour::Amber);
        assert_eq!(colour(ABSTAIN, true), Colour::Amber);
        assert_eq!(colour(ABSTAIN, false), Colour::Red);
        for verdict in [ADAPT, KEEP, ABSTAIN] {
            let forced = ModelVerdict { forced: true, ..verdict };
            assert_eq!((colour(forced, true), colour(forced, false)), (Colour::Red, Colour::Red));
        }
    }

    #[test]
    fn a_green_badge_that_the_labels_deny_is_red() {
        let of = |verdict, accuracy| Badge::new(verdict, false, Some(accuracy));
        let [kept, denied] = [0.9, 0.31].map(|accuracy| of(ADAPT, accuracy));
        assert_eq!((kept.colour, kept.denied), (Colour::Green, None));
        assert_eq!((denied.colour, denied.denied), (Colour::Red, Some(0.31)));
        // Other verdicts promise nothing that labels could deny.
        let keep = of(KEEP, 0.31);
        assert_eq!((keep.colour, keep.denied), (Colour::Amber, None));
    }
}

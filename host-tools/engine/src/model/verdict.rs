//! The verdict that a model was made under: its section, and the sentence that every command says.

use rebearing::model::{AccuracyCurve, ModelVerdict, Verdict};

use crate::words::{decimal, plural};

/// The section of a model file for the verdict.
///
/// Three rules connect the fields. The device refuses a file that breaks one.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct VerdictContents {
    /// Adapt, keep or abstain.
    pub verdict: Verdict,
    /// The model names classes although the verdict is abstain. False for other verdicts.
    pub forced: bool,
    /// Share of windows, 0 to 1, that get the right class at least, if it was predicted.
    pub predicted_accuracy: Option<f64>,
    /// The accuracy that the user asked for, 0 to 1.
    pub promise: f64,
    /// Number of known transfers that the library's own curve was fitted to; 0 without that curve.
    pub transfers: usize,
    /// The curve that gave the lower accuracy. `None` if, and only if, there is no predicted
    /// accuracy. The library's own curve needs at least one transfer.
    pub curve: Option<AccuracyCurve>,
}

/// Says in one line which verdict a model was made under, and how many windows it gets right.
///
/// ```
/// use rebearing::model::{AccuracyCurve, ModelVerdict, Verdict};
/// use rebearing_host::model::verdict::verdict_text;
///
/// let verdict = ModelVerdict {
///     verdict: Verdict::Adapt,
///     forced: false,
///     predicted_accuracy: Some(0.947),
///     promise: 0.9,
///     transfers: 11,
///     curve: Some(AccuracyCurve::Library),
/// };
/// assert_eq!(
///     verdict_text(&verdict),
///     "adapt: at least 94 % of windows are right, on pools like these \
///      (11 known transfers, library curve; promise 90 %)"
/// );
/// ```
pub fn verdict_text(verdict: &ModelVerdict) -> String {
    let accuracy = accuracy_text(verdict);
    match (verdict.verdict, verdict.forced) {
        (Verdict::Adapt, _) => format!("adapt: {accuracy}"),
        (Verdict::Keep, _) => format!("keep: fault types of the known machines; {accuracy}"),
        (Verdict::Abstain, false) => format!("abstain: no fault type is named; {accuracy}"),
        (Verdict::Abstain, true) => {
            format!("abstain, FORCED: fault types are named all the same; {accuracy}")
        }
    }
}

/// Says how many windows are right at least, on what basis, and what was promised.
pub fn accuracy_text(verdict: &ModelVerdict) -> String {
    let promise = percent(verdict.promise);
    let transfers = plural(verdict.transfers, "known transfer", "known transfers");
    let basis = match (verdict.curve, verdict.transfers) {
        (Some(AccuracyCurve::Library), _) => format!("{transfers}, library curve"),
        (Some(AccuracyCurve::Fixed), 0) => "fixed curve, no known transfers".into(),
        (Some(AccuracyCurve::Fixed), _) => {
            format!("fixed curve, lower than that of {transfers}")
        }
        (None, _) => return format!("no accuracy is predicted (promise {promise} %)"),
    };
    let accuracy = verdict.predicted_accuracy.unwrap_or(0.0);
    // Rounded down, because the number stands for "at least".
    let at_least = percent(accuracy).floor();
    let are_right = if verdict.verdict == Verdict::Abstain && accuracy >= verdict.promise {
        format!("{at_least} % right were predicted, but the labels contradict the known machines")
    } else if accuracy < verdict.promise {
        format!("only {at_least} % of windows are sure to be right")
    } else {
        format!("at least {at_least} % of windows are right")
    };
    format!("{are_right}, on pools like these ({basis}; promise {promise} %)")
}

/// A share in percent, without the noise that the conversion to `f64` would add: 0.29 is 29.
fn percent(share: f32) -> f64 {
    (1e12 * decimal(share)).round() / 1e10
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(verdict: Verdict, accuracy: Option<f32>, transfers: u32) -> ModelVerdict {
        ModelVerdict {
            verdict,
            forced: false,
            predicted_accuracy: accuracy,
            promise: 0.9,
            transfers,
            curve: accuracy.map(|_| AccuracyCurve::Fixed),
        }
    }

    #[test]
    fn a_promise_that_was_kept_does_not_speak_for_an_abstention() {
        let text = verdict_text(&verdict(Verdict::Abstain, Some(0.97), 0));
        assert!(text.contains("97 % right were predicted, but"), "{text}");
        assert!(!text.contains("at least"), "{text}");
    }

    #[test]
    fn every_verdict_has_its_sentence() {
        let forced = ModelVerdict { forced: true, ..verdict(Verdict::Abstain, Some(0.479), 1) };
        for (verdict, text) in [
            (
                verdict(Verdict::Adapt, Some(0.9), 0),
                "adapt: at least 90 % of windows are right, on pools like these \
                 (fixed curve, no known transfers; promise 90 %)",
            ),
            (
                verdict(Verdict::Keep, None, 3),
                "keep: fault types of the known machines; no accuracy is predicted (promise 90 %)",
            ),
            (
                verdict(Verdict::Abstain, None, 0),
                "abstain: no fault type is named; no accuracy is predicted (promise 90 %)",
            ),
            (
                forced,
                "abstain, FORCED: fault types are named all the same; only 47 % of windows are \
                 sure to be right, on pools like these (fixed curve, lower than that of \
                 1 known transfer; promise 90 %)",
            ),
        ] {
            assert_eq!(verdict_text(&verdict), text);
        }
    }

    #[test]
    fn shares_are_rounded_down_and_promises_are_not() {
        for percent in 0..=100_u8 {
            let share = f32::from(percent) / 100.0;
            let exactly = verdict_text(&verdict(Verdict::Adapt, Some(share), 0));
            assert!(exactly.contains(&format!(" {percent} % of windows")), "{exactly}");
            let below = f32::from_bits(share.to_bits().saturating_sub(1));
            let below = verdict_text(&verdict(Verdict::Adapt, Some(below), 0));
            let before = percent.saturating_sub(1);
            assert!(below.contains(&format!(" {before} % of windows")), "{below}");
        }
        let promise =
            |promise| verdict_text(&ModelVerdict { promise, ..verdict(Verdict::Keep, None, 0) });
        assert!(promise(0.925).contains("promise 92.5 %"), "{}", promise(0.925));
        assert!(promise(0.29).contains("promise 29 %"), "{}", promise(0.29));
    }
}

//! The reasons of a verdict, in the words of a maintenance engineer.

use super::choose::Candidate;
use super::curve::Prediction;
use super::false_alarms::FalseAlarms;
use super::gate::{FEW_INDEPENDENT, Gate};
use super::plausible::{Limits, Plausibility};
use super::transfer::Support;
use crate::features::front_end::FrontEndSettings;
use crate::words::plural;

/// Most machines that a ranking names.
const MOST_NAMED: usize = 5;
/// A machine with a lower quality is called too unlike.
const UNLIKE: f64 = 0.5;

/// The predicted accuracy, its basis and how to read it.
pub(super) fn predicted(prediction: &Prediction, promise: f64) -> String {
    let percent = |share: f64| 100.0 * share;
    let basis = if prediction.transfers > 0 {
        format!(
            "from {} among the known machines and the fixed curve, whichever is lower",
            plural(prediction.transfers, "transfer", "transfers")
        )
    } else {
        "from the fixed curve alone, as the library has fewer than three machines".into()
    };
    let compared = if prediction.accuracy >= promise { "keeps" } else { "is below" };
    format!(
        "predicted accuracy {:.0} %, to be read as: at least, on pools like these ({basis}); this {compared} the \
         promise of {:.0} %",
        percent(prediction.accuracy),
        percent(promise)
    )
}

/// How far the carried labels agree with one another and with a common shift.
pub(crate) fn agreement(support: &Support) -> String {
    format!(
        "labels agree {:.2}: certainty and balance of the labels {:.2}, agreement with a common shift {:.2}",
        support.quality, support.score, support.consistency
    )
}

/// The machines in the order of how well they suit the target.
pub(super) fn ranking(candidates: &[Candidate]) -> Option<String> {
    if candidates.len() < 2 {
        return None;
    }
    let mut ranked: Vec<(&str, f64)> = candidates
        .iter()
        .filter_map(|candidate| Some((candidate.domain.as_str(), candidate.quality?)))
        .collect();
    ranked.sort_by(|a, b| b.1.total_cmp(&a.1));
    let (first, rest) = ranked.split_first()?;
    let mut parts = vec![format!("{} fits best: labels agree {:.2}", first.0, first.1)];
    let mut unlike = Vec::new();
    for (domain, quality) in rest.iter().take(MOST_NAMED - 1) {
        if *quality < UNLIKE {
            unlike.push(*domain);
        } else {
            parts.push(format!("{domain} {quality:.2}"));
        }
    }
    match unlike.as_slice() {
        [] => {}
        [one] => parts.push(format!("{one} is too unlike")),
        [most @ .., last] => parts.push(format!("{} and {last} are too unlike", most.join(", "))),
    }
    if ranked.len() > MOST_NAMED {
        parts.push(format!("{} more", ranked.len() - MOST_NAMED));
    }
    Some(parts.join("; "))
}

/// The contradictions between carried labels and the known machines.
pub(super) fn implausible(plausibility: &Plausibility, limits: &Limits) -> Vec<String> {
    let mut reasons = Vec::new();
    if !limits.near(plausibility) {
        reasons.push(format!(
            "the pool lies {:.2} of the distance between two classes away from where the source has the classes it is \
             called by ({} is the limit): this may be another kind of machine",
            plausibility.offset, limits.offset
        ));
    }
    if let Some(share) = plausibility.healthy.filter(|_| !limits.looks_healthy(plausibility)) {
        reasons.push(format!(
            "only {:.0} % of what the plan calls healthy looks like a known healthy state ({:.0} % is the limit)",
            100.0 * share,
            100.0 * limits.healthy
        ));
    }
    reasons
}

/// The machines of a healthy combination, largest share first.
pub(super) fn combination(candidates: &[Candidate]) -> Option<String> {
    if candidates.len() < 2 {
        return None;
    }
    let mut used: Vec<&Candidate> =
        candidates.iter().filter(|candidate| candidate.weight > 0.0).collect();
    used.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    let parts: Vec<String> = used
        .iter()
        .take(MOST_NAMED)
        .map(|candidate| format!("{} {:.0} %", candidate.domain, 100.0 * candidate.weight))
        .collect();
    let more = used.len().saturating_sub(MOST_NAMED);
    let more = if more > 0 { format!(" and {more} more") } else { String::new() };
    Some(format!(
        "the healthy state is nearest to a mixture of the known machines: {}{more}",
        parts.join(", ")
    ))
}

/// How far the healthy state has moved.
pub(super) fn shift(shift: f64, limit: f64) -> String {
    format!(
        "the healthy state has moved by {shift:.2} of the distance to a typical fault (fault types are named up to \
         {limit})"
    )
}

/// The windows behind a gate, and the false alarms that it aims at.
pub(super) fn gate(gate: &Gate, pool: usize, false_alarms: &FalseAlarms) -> String {
    let aim = if false_alarms.per_year == 1.0 {
        "one false alarm".into()
    } else {
        format!("{} false alarms", false_alarms.per_year)
    };
    format!(
        "the gate was fitted to {} of {pool} windows ({:.1} independent ones, {}); it aims at {aim} a year of one \
         window every {} s, about 1 window in {} (an aim, not a promise: healthy windows unlike the recorded ones come \
         on top)",
        gate.windows,
        gate.independent,
        plural(gate.mixture.components(), "component", "components"),
        false_alarms.window_every,
        rounded(1.0 / gate.rate)
    )
}

/// Two digits of a count, with commas between thousands.
fn rounded(count: f64) -> String {
    let unit = 10_f64.powf((count.log10().floor() - 1.0).max(0.0));
    let digits = format!("{:.0}", (count / unit).round() * unit);
    let groups: Vec<&[u8]> = digits.as_bytes().rchunks(3).rev().collect();
    String::from_utf8_lossy(&groups.join(&b',')).into_owned()
}

/// A warning if few windows stand behind a gate.
pub(super) fn few_windows(gate: &Gate, front_end: &FrontEndSettings) -> Option<String> {
    let seconds = |windows: f64| windows * front_end.window_len() as f64 / front_end.rate_hz;
    // The count is a sum of quotients, so exactly enough may come out a little below.
    (gate.independent < FEW_INDEPENDENT - 1e-6).then(|| {
        format!(
            "the gate rests on {:.2} s of the healthy machine; below {:.2} s its threshold lies far out, and it may \
             miss faint faults: record for longer",
            seconds(gate.independent),
            seconds(FEW_INDEPENDENT)
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn candidate(domain: &str, quality: f64, weight: f64) -> Candidate {
        Candidate {
            domain: domain.into(),
            weight,
            score: None,
            consistency: None,
            quality: Some(quality),
            shift: 0.0,
        }
    }

    #[test]
    fn the_best_machine_comes_first_and_unlike_ones_are_named_so() {
        let one = ranking(&[candidate("slow", 0.2, 0.0), candidate("fast", 0.97, 1.0)]).unwrap();
        assert_eq!(one, "fast fits best: labels agree 0.97; slow is too unlike");
        let many: Vec<Candidate> =
            (0..7_u8).map(|i| candidate(&format!("m{i}"), f64::from(i) / 8.0, 0.0)).collect();
        let many = ranking(&many).unwrap();
        assert_eq!(
            many,
            "m6 fits best: labels agree 0.75; m5 0.62; m4 0.50; m3 and m2 are too unlike; 2 more"
        );
        assert_eq!(ranking(&[candidate("alone", 1.0, 1.0)]), None);
    }

    #[test]
    fn counts_have_two_digits() {
        for (count, text) in [
            (100.0, "100"),
            (14_333.5, "14,000"),
            (7.0, "7"),
            (9_960.0, "10,000"),
            (1.26e6, "1,300,000"),
        ] {
            assert_eq!(rounded(count), text);
        }
    }

    #[test]
    fn a_combination_names_its_shares() {
        let text = combination(&[candidate("a", 0.0, 0.25), candidate("b", 0.0, 0.75)]).unwrap();
        assert!(text.ends_with(": b 75 %, a 25 %"), "{text}");
    }
}

//! The drift watch as text and JSON.

use rebearing::model::{DriftReference, Floats, Numbers};
use rebearing::operation::{DriftCause, DriftWatch};
use serde_json::{Value, json};

use rebearing_host::device::DeviceFinding;
use rebearing_host::words::plural;

/// Converts a number in Q8 to standard deviations.
fn deviations(q8: i32) -> f64 {
    f64::from(q8) / 256.0
}

/// Returns the reference in words.
pub(crate) fn reference_text(reference: Option<DriftReference<'_>>) -> String {
    let Some(reference) = reference else { return "none: the model has no reference".into() };
    // A block cannot hold more unknown windows than it has.
    let unknown = if reference.unknown_max < reference.block {
        format!("or more than {} windows are unknown", reference.unknown_max)
    } else {
        "(unknown windows alone cannot raise it: too few were held out)".into()
    };
    format!(
        "blocks of {} windows; drift if the log-likelihood is below {:.2} standard deviations {unknown}; \
         at most 1 false alarm in {} blocks; set from {}, {} of them unknown",
        reference.block,
        deviations(reference.deviation_min),
        reference.blocks_per_false_alarm,
        plural(reference.held_out, "held-out window", "held-out windows"),
        reference.held_out_unknown
    )
}

/// Returns the reference as JSON; null if there is none.
pub(crate) fn reference_json(reference: Option<DriftReference<'_>>, names: &[&str]) -> Value {
    let Some(reference) = reference else { return Value::Null };
    let class = |(class, name): (usize, &&str)| {
        let nats = reference.class(class).map(|of| {
            json!({ "mean": f64::from(of.mean) / 256.0, "spread": f64::from(of.spread) / 256.0 })
        });
        ((*name).to_owned(), nats.unwrap_or(Value::Null))
    };
    json!({
        "block": reference.block,
        "correlation": reference.correlation,
        "deviation_min": deviations(reference.deviation_min),
        "unknown_max": reference.unknown_max,
        "blocks_per_false_alarm": reference.blocks_per_false_alarm,
        "held_out": reference.held_out,
        "held_out_unknown": reference.held_out_unknown,
        "classes": names.iter().enumerate().map(class).collect::<serde_json::Map<_, _>>(),
    })
}

/// The device's drift watch, run over the findings of recordings.
pub(crate) struct Watched<'m>(Option<DriftWatch<'m>>);

impl<'m> Watched<'m> {
    pub(crate) fn new(reference: Option<DriftReference<'m>>) -> Self {
        Self(reference.map(DriftWatch::new))
    }

    /// Takes the findings of a recording.
    pub(crate) fn findings(&mut self, findings: &[DeviceFinding]) {
        let Some(watch) = &mut self.0 else { return };
        for found in findings.iter().filter_map(|finding| finding.result.as_ref().ok()) {
            let nats = found.log_likelihood.or(found.gate_log_likelihood);
            watch.window(found.label, nats.and_then(Floats::nats_q8));
        }
    }

    /// Says in words whether the recordings would raise the flag.
    pub(crate) fn text(&self) -> String {
        let Some(watch) = &self.0 else {
            return "drift: not watched, because the model has no reference".into();
        };
        let (blocks, block) = (watch.blocks(), watch.reference().block);
        let Some(last) = watch.last() else {
            let windows = watch.windows();
            return format!(
                "drift: not judged: {windows} of the {block} windows that a block needs"
            );
        };
        let found = format!(
            "{} of {} of {block} windows; the last one at {:.2} standard deviations, {} unknown",
            watch.drifted(),
            plural(blocks, "block", "blocks"),
            deviations(last.deviation),
            last.unknown
        );
        if watch.raised() {
            format!("drift: yes ({found}): check the machine, then please re-adapt")
        } else {
            format!("drift: no ({found})")
        }
    }

    /// The same as JSON; null if the model has no reference.
    pub(crate) fn json(&self) -> Value {
        let Some(watch) = &self.0 else { return Value::Null };
        json!({
            "readapt": watch.raised(),
            "judged": watch.blocks() > 0,
            "blocks": watch.blocks(),
            "drifted": watch.drifted(),
            "block": watch.reference().block,
            "windows_left": watch.windows(),
            "last": watch.last().map(|last| json!({
                "deviation": deviations(last.deviation),
                "unknown": last.unknown,
                "cause": last.cause.map(DriftCause::name),
            })),
        })
    }
}

//! The drift reference of a finished model, where the held-out windows give one that can fire.

use rebearing::Model;
use thiserror::Error;

use crate::features::extract::Features;
use crate::mixture::held_out::HeldOut;
use crate::model::deployed::DeployedModel;
use crate::model::drift::{self, DriftContents};
use crate::words::plural;

/// Why a model has no drift reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum NoDriftReference {
    /// No window was held out.
    #[error("the model has no reference")]
    NotHeldOut,
    /// Too few windows were held out: the limits would lie where no block can reach them.
    #[error(
        "{} too few to tell drift from chance; record longer",
        plural(*held_out, "held-out window is", "held-out windows are")
    )]
    TooFew {
        /// Windows that were held out.
        held_out: u32,
    },
    /// The model calls most of the held-out windows unknown, so more of them would say nothing.
    #[error(
        "{unknown} of {} already unknown to the model",
        plural(*held_out, "held-out window is", "held-out windows are")
    )]
    Unknown {
        /// Windows that were held out.
        held_out: u32,
        /// Those of them that were unknown.
        unknown: u32,
    },
}

/// Says in a sentence if the drift watch of a finished model is off, or sees only half of what it
/// should. `reason` is why the model has no reference, if that is known.
pub fn drift_warning(model: &DeployedModel, reason: Option<NoDriftReference>) -> Option<String> {
    match model.drift() {
        None => {
            let reason = reason.unwrap_or(NoDriftReference::NotHeldOut);
            Some(format!("the device cannot watch for drift: {reason}"))
        }
        Some(reference) => half_blind(reference.block, reference.unknown_max),
    }
}

/// A block cannot hold more unknown windows than it has, so such a limit is never passed.
fn half_blind(block: u32, unknown_max: u32) -> Option<String> {
    (unknown_max >= block).then(|| {
        format!(
            "the drift watch cannot see that windows become unknown, as its limit of {unknown_max} in a block of \
             {block} windows is never passed; only the log-likelihood can raise it; record longer"
        )
    })
}

/// Gives the reference of `model`, or why a watch with it would never see a drift.
///
/// `features` are those of [`drift::reference`].
pub(super) fn reference(
    model: &Model<'_>,
    held_out: &HeldOut,
    features: &Features,
    first_snapshot: usize,
) -> Result<DriftContents, NoDriftReference> {
    let reference = drift::reference(model, held_out, features, first_snapshot);
    useful(reference.ok_or(NoDriftReference::NotHeldOut)?)
}

/// Refuses a reference that no block of windows can be beyond: a block cannot hold more unknown
/// windows than it has, and no class has a log-likelihood to compare.
fn useful(reference: DriftContents) -> Result<DriftContents, NoDriftReference> {
    let compared = reference.classes.iter().any(|(_, spread)| *spread > 0);
    if compared || reference.unknown_max < reference.block {
        return Ok(reference);
    }
    let (held_out, unknown) = (reference.held_out, reference.held_out_unknown);
    Err(if 2 * unknown > held_out {
        NoDriftReference::Unknown { held_out, unknown }
    } else {
        NoDriftReference::TooFew { held_out }
    })
}

#[cfg(test)]
mod tests {
    use rebearing::Label;

    use ndarray::Array2;

    use super::*;
    use crate::adapt::reference::tests::source;
    use crate::model::drift::{BLOCKS_PER_FALSE_ALARM, Stretch, contents};

    #[test]
    fn windows_count_as_far_apart_as_those_of_a_device() {
        // A window of one segment every 128 samples.
        let model = source().model(false).unwrap();
        let held_out = |stride: usize, rows: &[usize], first_snapshot: usize| {
            let recording = [vec![0; 80], vec![1; 80]].concat();
            let features = Features { x: Array2::from_elem((160, 2), 1.0), recording, stride };
            let log_likelihoods = rows.iter().map(|row| *row as f64).collect();
            let held_out = HeldOut { rows: rows.to_vec(), log_likelihoods };
            drift::reference(&model.model(), &held_out, &features, first_snapshot).unwrap().held_out
        };
        let all: Vec<usize> = (0..160).collect();
        assert_eq!(held_out(128, &all, 2), 160);
        assert_eq!(held_out(32, &all, 2), 40);
        assert_eq!(held_out(32, &all, 1), 20 + 80, "the second one is a snapshot");
        assert_eq!(held_out(32, &all[6..11], 2), 2);
    }

    #[test]
    fn a_reference_that_can_never_fire_is_refused_with_the_reason() {
        let of = |label, windows| {
            let stretch = Stretch { windows: vec![(label, -5.0); windows] };
            useful(contents(&[stretch], 2, BLOCKS_PER_FALSE_ALARM).unwrap())
        };
        let healthy = Label::Class(0);
        assert_eq!(of(healthy, 5), Err(NoDriftReference::TooFew { held_out: 5 }));
        assert!(of(healthy, 8).is_ok(), "eight windows give a class its log-likelihood");
        let unknown = NoDriftReference::Unknown { held_out: 40, unknown: 40 };
        assert_eq!(of(Label::Unknown, 40), Err(unknown));
        let one = NoDriftReference::TooFew { held_out: 1 }.to_string();
        assert!(one.starts_with("1 held-out window is too few"), "{one}");
    }

    #[test]
    fn a_count_of_unknown_windows_that_can_never_be_passed_is_said() {
        let of = |unknown: usize| {
            let mut windows = vec![(Label::Class(0), -5.0); 8];
            windows.extend(vec![(Label::Unknown, -50.0); unknown]);
            let reference = contents(&[Stretch { windows }], 2, BLOCKS_PER_FALSE_ALARM).unwrap();
            assert!(useful(reference.clone()).is_ok(), "the log-likelihood can be compared");
            half_blind(reference.block, reference.unknown_max)
        };
        assert_eq!(of(0), None);
        // If half of the few held-out windows are unknown, all of a block may be so by chance.
        let half = of(8).unwrap();
        assert!(half.contains("is never passed") && half.contains("record longer"), "{half}");
    }
}

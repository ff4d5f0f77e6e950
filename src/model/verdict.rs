//! The section `vdct`: the verdict that the model was made under.
//!
//! Nothing here is a floating-point operation, so that a chip without floats links none.

use super::read::{length_error, words};
use super::{ModelError, Section, format};

/// The verdict that a model was made under, and the accuracy that the host predicted.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1-verdict.rbm") } }
/// use rebearing::model::Verdict;
/// use rebearing::{Model, include_model};
///
/// let model = Model::parse(include_model!(path!()))?;
/// // A model without the section says nothing of its verdict.
/// if let Some(made_under) = model.verdict() {
///     assert_eq!(made_under.verdict, Verdict::Abstain);
///     assert!(made_under.forced, "the host was told to name classes all the same");
/// }
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelVerdict {
    /// Adapt, keep or abstain.
    pub verdict: Verdict,
    /// The model names classes although the verdict is [`Verdict::Abstain`].
    pub forced: bool,
    /// Share of windows, 0 to 1, that get the right class at least; `None` if the host predicted
    /// none.
    pub predicted_accuracy: Option<f32>,
    /// The accuracy that the user asked for, 0 to 1.
    pub promise: f32,
    /// Number of known transfers that the library's own curve was fitted to; 0 if it has none.
    pub transfers: u32,
    /// The curve that gave the predicted accuracy, if there is one.
    pub curve: Option<AccuracyCurve>,
}

/// The verdict on the machine that a model was made for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Verdict {
    /// The model has the machine's own mixture, with labels carried over by the plan.
    Adapt,
    /// The model has the fault types of the known machines, behind a gate of the machine's own
    /// healthy windows if there are any.
    Keep,
    /// The machine is too far from the known machines.
    Abstain,
}

impl Verdict {
    /// The verdict as command line and JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Adapt => "adapt",
            Self::Keep => "keep",
            Self::Abstain => "abstain",
        }
    }
}

/// The curve from the evidence for a transfer to its predicted accuracy.
///
/// Two curves may be at hand. The one with the lower accuracy counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum AccuracyCurve {
    /// The curve that is the same for every library.
    Fixed,
    /// The curve that was fitted to the known transfers of the library.
    Library,
}

impl AccuracyCurve {
    /// The curve as command line and JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Fixed => "fixed",
            Self::Library => "library",
        }
    }
}

impl ModelVerdict {
    fn read(payload: &[u8]) -> Result<Self, ModelError> {
        let &[verdict, flags, accuracy, promise, transfers, curve] =
            words(Section::Verdict, payload, format::VERDICT_WORDS)?
        else {
            return Err(length_error(Section::Verdict, 4 * format::VERDICT_WORDS, payload));
        };
        let out_of_range = |field| ModelError::OutOfRange { field, index: 0 };
        let verdict = match verdict {
            format::VERDICT_ADAPT => Verdict::Adapt,
            format::VERDICT_KEEP => Verdict::Keep,
            format::VERDICT_ABSTAIN => Verdict::Abstain,
            _ => return Err(out_of_range("verdict")),
        };
        let forced = flags == format::VERDICT_FORCED;
        if flags != 0 && !(forced && verdict == Verdict::Abstain) {
            return Err(out_of_range("verdict flags"));
        }
        let predicted_accuracy = match accuracy {
            format::NO_ACCURACY => None,
            bits => Some(share(bits).ok_or(out_of_range("predicted accuracy"))?),
        };
        let promise = share(promise).ok_or(out_of_range("promised accuracy"))?;
        let curve = match curve {
            format::CURVE_NONE => None,
            format::CURVE_FIXED => Some(AccuracyCurve::Fixed),
            format::CURVE_LIBRARY if transfers > 0 => Some(AccuracyCurve::Library),
            _ => return Err(out_of_range("accuracy curve")),
        };
        if curve.is_some() != predicted_accuracy.is_some() {
            return Err(out_of_range("accuracy curve"));
        }
        Ok(Self { verdict, forced, predicted_accuracy, promise, transfers, curve })
    }
}

/// The number with these bits, if it is from 0 to 1.
fn share(bits: u32) -> Option<f32> {
    // The bits of positive floats have the order of the floats, and comparing bits needs no floats.
    (bits <= 1_f32.to_bits()).then_some(f32::from_bits(bits))
}

/// The verdict in the section, if there is one.
pub(super) fn check(payload: Option<&[u8]>) -> Result<Option<ModelVerdict>, ModelError> {
    payload.map(ModelVerdict::read).transpose()
}

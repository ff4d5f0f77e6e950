//! Two slots for the model, so that a new one can be written by the device itself.
//!
//! ```text
//!  MODEL region ┬ slot A: model file … unused … record │ slot B: model file … unused … record ┐
//! ```
//!
//! The MODEL region is cut into two halves. A new model goes to the half that is not in use. Its
//! record (sequence number, checksum of the model) is written last. Until the record is complete,
//! the old model is the newest; after that, the new one is. Power may fail at any moment.
//!
//! [`newest`] chooses at the start, from flash as the processor sees it. [`Slots`](super::Slots)
//! writes through the flash driver. A model without a record, which a debug probe leaves at the
//! start of the region, is older than any model with a record.
//!
//! Writing blocks on purpose. On most chips the processor stops anyway while its own flash is
//! erased, and drivers for async executors have the blocking trait too.
//!
//! Not handled here: flash with error correction may raise a fault when a half-written word is read.
//! The chip's fault handler has to deal with that.

use core::fmt;

use super::record::{Marked, is_newer};
use crate::model::{AnyModel, Body, ModelError};

/// One half of the MODEL region.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Slot {
    /// The first half, where a debug probe puts a model.
    A,
    /// The second half.
    B,
}

impl Slot {
    /// The other half.
    #[must_use]
    pub fn other(self) -> Self {
        match self {
            Self::A => Self::B,
            Self::B => Self::A,
        }
    }
}

/// Neither slot holds a model that can be used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct NoModel {
    /// Why not the one in slot A.
    pub a: ModelError,
    /// Why not the one in slot B.
    pub b: ModelError,
}

impl fmt::Display for NoModel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "no slot has a model to use; slot A: {}; slot B: {}", self.a, self.b)
    }
}

impl core::error::Error for NoModel {}

/// The newest model that can be used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Newest<T> {
    /// Its slot.
    pub slot: Slot,
    /// The result of `accept`.
    pub model: T,
    /// Why the other slot was passed over, if its model is or may be newer. Tell it: the device runs
    /// an older model than it was given.
    pub passed_over: Option<PassedOver>,
}

/// The reason why a slot was passed over.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum PassedOver {
    /// Its record says that it is the newest, but its model cannot be used.
    Model(ModelError),
    /// Its record is damaged, so nobody can tell how new it is.
    Record,
}

impl fmt::Display for PassedOver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Model(error) => write!(f, "the newest model cannot be used: {error}"),
            Self::Record => {
                f.write_str("the other slot's record is damaged: its model may be the newest")
            }
        }
    }
}

/// The newest model of a MODEL region with two slots that `accept` takes.
///
/// `accept` is usually `Monitor::new`. If a model is damaged, cannot be read by this firmware or does
/// not fit its monitor, the other slot is tried.
///
/// ```
/// # use rebearing::update::{self, Slot};
/// # use rebearing::{Monitor, include_model};
/// # let mut words = vec![0_u32; 1024];
/// # let region: &mut [u8] = zerocopy::IntoBytes::as_mut_bytes(&mut words[..]);
/// # let model = include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm"));
/// # region[..model.len()].copy_from_slice(model);
/// # let region: &[u8] = region;
/// let newest = update::newest(region, Monitor::<f32, 256, 1, 4, 3, 3>::new)?;
/// assert_eq!(newest.slot, Slot::A);
/// # Ok::<(), update::NoModel>(())
/// ```
pub fn newest<'a, B: Body<'a>, T>(
    region: &'a [u8],
    mut accept: impl FnMut(AnyModel<'a, B>) -> Result<T, ModelError>,
) -> Result<Newest<T>, NoModel> {
    let (a, b) = region.split_at_checked(region.len() / 2).unwrap_or((region, &[]));
    let (mark_a, mark_b) = (Marked::of(a), Marked::of(b));
    let (first, second, mark) = if is_newer(mark_b.sequence(), mark_a.sequence()) {
        ((Slot::B, b), (Slot::A, a), mark_a)
    } else {
        ((Slot::A, a), (Slot::B, b), mark_b)
    };
    let mut model_of = |slot: &'a [u8]| AnyModel::from_region(slot).and_then(&mut accept);
    let newest = match model_of(first.1) {
        Ok(model) => {
            // A slot without a model has nothing to tell, whatever stands where its record would be.
            let newer = mark == Marked::Damaged && AnyModel::<B>::from_region(second.1).is_ok();
            let passed_over = newer.then_some(PassedOver::Record);
            return Ok(Newest { slot: first.0, model, passed_over });
        }
        Err(error) => error,
    };
    match model_of(second.1) {
        Ok(model) => {
            let passed_over = Some(PassedOver::Model(newest));
            Ok(Newest { slot: second.0, model, passed_over })
        }
        Err(older) if first.0 == Slot::A => Err(NoModel { a: newest, b: older }),
        Err(older) => Err(NoModel { a: older, b: newest }),
    }
}

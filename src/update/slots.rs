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

use super::record::{is_newer, sequence};
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

/// The newest model of a MODEL region with two slots that `accept` takes, and its slot.
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
/// let (slot, monitor) = update::newest(region, Monitor::<f32, 256, 1, 4, 3, 3>::new)?;
/// assert_eq!(slot, Slot::A);
/// # Ok::<(), update::NoModel>(())
/// ```
pub fn newest<'a, B: Body<'a>, T>(
    region: &'a [u8],
    mut accept: impl FnMut(AnyModel<'a, B>) -> Result<T, ModelError>,
) -> Result<(Slot, T), NoModel> {
    let (a, b) = region.split_at_checked(region.len() / 2).unwrap_or((region, &[]));
    let (first, second) = if is_newer(sequence(b), sequence(a)) {
        ((Slot::B, b), (Slot::A, a))
    } else {
        ((Slot::A, a), (Slot::B, b))
    };
    let mut model_of = |slot: &'a [u8]| AnyModel::from_region(slot).and_then(&mut accept);
    let newest = match model_of(first.1) {
        Ok(model) => return Ok((first.0, model)),
        Err(error) => error,
    };
    match model_of(second.1) {
        Ok(model) => Ok((second.0, model)),
        Err(older) if first.0 == Slot::A => Err(NoModel { a: newest, b: older }),
        Err(older) => Err(NoModel { a: older, b: newest }),
    }
}

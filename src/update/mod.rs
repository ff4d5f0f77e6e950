//! Models that change in the field: two slots in flash, and the firmware's description of itself.
//!
//! There are two ways, and a firmware's types say which one it has:
//!
//! - [`newest`] and [`Slots`]: plain models. The newest one that can be used is used.
//! - [`ModelStore`]: models with an [`Envelope`]. It takes them piece by piece as a [`Receiver`],
//!   verifies them by a [`Verifier`], runs them on trial, and never goes back below the floor.
//!
//! `docs/updates.md` describes both.

pub mod descriptor;
pub mod envelope;
mod io;
mod ledger;
mod model_store;
mod outcome;
mod receiver;
mod record;
mod slots;
mod start;
mod store;
mod transfer;
mod trial;
mod verifier;

pub use descriptor::Descriptor;
pub use envelope::{DeviceId, Envelope};
pub use model_store::{Layout, ModelStore, SignedFor};
pub use outcome::Outcome;
pub use receiver::{NoReceiver, Receiver, Refusal, Standing, UpdateStatus};
pub use record::RECORD_LEN;
pub use slots::{Newest, NoModel, PassedOver, Slot, newest};
pub use start::{NoValidModel, Started, Unusable};
pub use store::{LayoutError, Slots, StoreError};
pub use trial::TrialRules;
pub use verifier::{FlashOnly, FloorCounter, SignatureCheck, Unsigned, Verifier};

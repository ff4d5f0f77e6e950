//! Models that change in the field: two slots in flash, and the firmware's description of itself.

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

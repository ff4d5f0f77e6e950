//! Models that change in the field: two slots in flash, and the firmware's description of itself.

pub mod descriptor;
pub mod envelope;
mod outcome;
mod receiver;
mod record;
mod slots;
mod store;
mod verifier;

pub use descriptor::Descriptor;
pub use envelope::{DeviceId, Envelope};
pub use outcome::Outcome;
pub use receiver::{NoReceiver, Receiver, Refusal, Standing, UpdateStatus};
pub use record::RECORD_LEN;
pub use slots::{NoModel, Slot, newest};
pub use store::{LayoutError, Slots, StoreError};
pub use verifier::{FlashOnly, FloorCounter, SignatureCheck, Unsigned, Verifier};

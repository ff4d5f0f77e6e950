//! Models that change in the field: two slots in flash, and the firmware's description of itself.

pub mod descriptor;
mod record;
mod slots;
mod store;

pub use descriptor::Descriptor;
pub use record::RECORD_LEN;
pub use slots::{NoModel, Slot, newest};
pub use store::{LayoutError, Slots, StoreError};

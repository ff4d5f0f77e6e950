//! Models that change in the field: two slots in flash, and the firmware's description of itself.

pub mod descriptor;
mod slots;

pub use descriptor::Descriptor;
pub use slots::{LayoutError, NoModel, RECORD_LEN, Slot, Slots, StoreError, newest};

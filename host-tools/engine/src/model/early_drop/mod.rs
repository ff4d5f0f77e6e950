//! Early drop: how many features the device scores on all components before it leaves some out.

pub mod float;
pub mod integer;

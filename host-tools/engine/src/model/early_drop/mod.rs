//! How many features the device scores on all components before it leaves components out.

pub mod float;
pub mod integer;

//! Recordings to feature vectors, computed by the device's own code.

pub mod bands;
pub mod dense;
pub mod extract;
pub mod front_end;
pub mod integer_extract;
pub mod rates;
pub mod snapshot;
pub mod standardise;
pub mod table;
pub mod turns;

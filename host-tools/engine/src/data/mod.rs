//! Recordings: which there are, what they hold, and which of them belong to one machine.
//!
//! ```text
//! folder ─► manifest ─► recording ─► units, resample ─► domain ─► split
//!                                                         └─► counts, for i16 models
//! ```

pub mod bearing;
pub mod counts;
pub mod domain;
pub mod folder;
pub mod manifest;
pub mod recording;
pub mod resample;
pub mod split;
pub mod units;

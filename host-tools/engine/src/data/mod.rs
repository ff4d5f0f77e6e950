//! Recordings: the list of them, their content, and the ones that belong to one machine.
//!
//! ```text
//! folder ─► manifest ─► recording ─► units, resample ─► domain ─► split
//!                                                         ├─► counts, for i16 models
//!                                                         └─► levels, to find recordings that do not fit
//! ```

pub mod bearing;
pub mod counts;
pub mod domain;
pub mod folder;
pub mod levels;
pub mod manifest;
pub mod recording;
pub mod resample;
pub mod split;
pub mod units;

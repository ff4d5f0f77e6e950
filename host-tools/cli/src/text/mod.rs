//! Output that several commands share: words for people, JSON for scripts.

pub(crate) mod alarm;
pub mod colour;
pub(crate) mod command_line;
pub(crate) mod device_status;
pub(crate) mod drift;
pub(crate) mod envelope;
pub(crate) mod estimate;
pub(crate) mod evaluation;
pub(crate) mod evidence;
pub mod flags;
pub(crate) mod folder;
pub(crate) mod label;
pub(crate) mod levels;
pub(crate) mod library;
pub(crate) mod mixture;
pub(crate) mod model;
pub(crate) mod prediction;
pub mod printable;
pub(crate) mod sampling;
pub mod table;
pub(crate) mod verdict;

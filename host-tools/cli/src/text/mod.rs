//! What several commands print: words for people, JSON for scripts.

pub(crate) mod alarm;
pub mod colour;
pub(crate) mod command_line;
pub(crate) mod drift;
pub(crate) mod estimate;
pub(crate) mod label;
pub mod table;

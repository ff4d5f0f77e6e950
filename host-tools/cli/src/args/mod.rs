//! Options that several commands share, and what they come to.

pub(crate) mod alarm;
pub(crate) mod choice;
pub(crate) mod rate;
pub(crate) mod resample;
pub(crate) mod samples;
pub(crate) mod severity;
pub(crate) mod solver;
pub(crate) mod target;

//! Options that several commands share, and the settings that they give.

pub(crate) mod alarm;
pub(crate) mod bus;
pub(crate) mod choice;
pub(crate) mod comparable;
pub(crate) mod domains;
pub(crate) mod em;
pub(crate) mod false_alarms;
pub(crate) mod front_end;
pub(crate) mod passphrase;
pub(crate) mod rate;
pub(crate) mod resample;
pub(crate) mod samples;
pub(crate) mod severity;
pub(crate) mod solver;
pub(crate) mod target;

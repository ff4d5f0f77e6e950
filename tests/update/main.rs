//! Models that change in the field: slots, envelopes, trials, and a flash whose power fails.

#[path = "../common/mod.rs"]
mod common;
mod cuts;
mod envelopes;
mod keys;
mod replays;
mod simulated_flash;
mod slots;
mod trials;

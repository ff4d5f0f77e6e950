//! Labels for a new machine, on simulated machines.

mod guarded;
mod simulate;

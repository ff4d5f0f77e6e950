//! Fault labels for a new machine, tested on simulated machines.

mod guarded;
mod library;
mod simulate;

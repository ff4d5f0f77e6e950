//! The `rebearing` command. Each subcommand has one file in [`commands`], a thin layer over
//! `rebearing_host`: it parses its options, calls the library, and prints.

mod args;
pub mod commands;
pub mod doctor;
pub mod progress;
mod run;
pub mod terminal;
pub mod text;
pub mod watch;

pub use run::run;

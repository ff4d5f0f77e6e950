//! The `rebearing` command: one file a subcommand in [`commands`], each a thin layer over
//! `rebearing_host`. A command parses its options, calls the library, and prints.

mod args;
pub mod commands;
pub mod doctor;
pub mod progress;
pub mod text;
pub mod watch;

//! The model file: golden bytes in both encodings, and everything that must be refused.

mod alarm_section;
#[path = "../common/mod.rs"]
mod common;
mod float_file;
mod integer_file;
mod sections;
mod verdict_section;

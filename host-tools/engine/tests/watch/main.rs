//! The host reads what a device prints.

mod lines;

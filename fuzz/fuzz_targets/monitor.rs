//! cargo-fuzz: arbitrary samples for a monitor with a valid model.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| rebearing_fuzz::monitor(bytes));

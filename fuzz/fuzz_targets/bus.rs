//! cargo-fuzz: arbitrary bytes as frames of a Modbus line.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    // The assertions inside check what matters.
    let _ = rebearing_fuzz::bus(bytes);
});

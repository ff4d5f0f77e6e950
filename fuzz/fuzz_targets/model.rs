//! cargo-fuzz: arbitrary bytes as a model file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    // Without this the fuzzer would have to guess a CRC before it sees any other check.
    rebearing_fuzz::seal(&mut file);
    // Refused or not, both are fine: what matters is asserted inside.
    let _ = rebearing_fuzz::model(&file);
});

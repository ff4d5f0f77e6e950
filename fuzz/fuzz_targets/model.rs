//! cargo-fuzz: arbitrary bytes as a model file.

#![no_main]

libfuzzer_sys::fuzz_target!(|bytes: &[u8]| {
    let mut file = bytes.to_vec();
    // Without this, the fuzzer would have to guess a CRC before it reaches any other check.
    rebearing_fuzz::seeds::seal(&mut file);
    // The model may be refused or not. The assertions inside check what matters.
    let _ = rebearing_fuzz::model(&file);
});

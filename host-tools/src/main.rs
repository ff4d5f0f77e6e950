//! The `rebearing` command: parse -> run -> exit code.
fn main() {}

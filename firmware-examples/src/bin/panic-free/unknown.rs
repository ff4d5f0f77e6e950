//! Inputs that the compiler knows nothing about.

use core::fmt;
use core::hint::black_box;

use rebearing::model::Aligned;

static BYTES: Aligned<[u8; 4096]> = Aligned([0; 4096]);
/// At least as many floats as any buffer here has.
pub(crate) static FLOATS: [f32; 1024] = [0.0; 1024];

pub(crate) fn number() -> usize {
    black_box(0)
}

/// Bytes of unknown contents and length: the compiler may not look behind the reference.
pub(crate) fn bytes() -> &'static [u8] {
    black_box(&BYTES).0.get(..number()).unwrap_or_default()
}

pub(crate) fn floats() -> &'static [f32] {
    black_box(&FLOATS).get(..number()).unwrap_or_default()
}

/// Clones and compares a value.
pub(crate) fn inspect<T: Clone + PartialEq>(value: &T) {
    black_box(black_box(value).clone() == *value);
}

/// A text sink that cannot fail.
pub(crate) struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

/// Writes a text; the sink accepts everything.
pub(crate) fn write(text: impl fmt::Display) {
    let _ = fmt::write(&mut Sink, format_args!("{text}"));
}

//! Words that many messages share: a count with its noun, and the name of an axis.

use std::fmt::Display;

/// Gives a count with the noun that it takes.
///
/// ```
/// use rebearing_host::words::plural;
///
/// assert_eq!(plural(1, "axis", "axes"), "1 axis");
/// assert_eq!(plural(3, "axis", "axes"), "3 axes");
/// assert_eq!(plural(0, "window", "windows"), "0 windows");
/// ```
pub fn plural<N: Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Names an axis as the manifest's channel column does: x, y, z for 0, 1, 2.
pub fn axis_name(axis: usize) -> &'static str {
    ["x", "y", "z"].get(axis).copied().unwrap_or("?")
}

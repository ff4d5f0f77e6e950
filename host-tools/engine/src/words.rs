//! Words shared by many messages: a count with its noun, a list of names, a measured number, the name of an axis, the
//! digits of a number, and an error with its causes.

use std::error::Error;
use std::fmt::Display;

/// Returns a count with its noun in the singular or plural.
///
/// ```
/// use rebearing_host::words::plural;
///
/// assert_eq!(plural(1, "axis", "axes"), "1 axis");
/// assert_eq!(plural(3, "axis", "axes"), "3 axes");
/// assert_eq!(plural(0, "window", "windows"), "0 windows");
/// ```
pub fn plural<N: Copy + Display + PartialEq + From<u8>>(count: N, one: &str, many: &str) -> String {
    let noun = if count == N::from(1) { one } else { many };
    format!("{count} {noun}")
}

/// Returns names separated by commas. A longer list would hide its message, so it ends after 40.
///
/// ```
/// use rebearing_host::words::listed;
///
/// assert_eq!(listed(&["a", "b"]), "a, b");
/// assert!(listed(&["a"; 100_000]).ends_with("a, a … (100000 in all)"));
/// ```
pub fn listed(names: &[&str]) -> String {
    const MOST: usize = 40;
    match names.get(..MOST) {
        Some(first) if names.len() > MOST => {
            format!("{} … ({} in all)", first.join(", "), names.len())
        }
        _ => names.join(", "),
    }
}

/// Returns a measured number with at most three digits that count.
///
/// ```
/// use rebearing_host::words::figure;
///
/// assert_eq!(figure(0.031_234), "0.0312");
/// assert_eq!(figure(1234.5), "1234");
/// assert_eq!(figure(0.3), "0.3");
/// assert_eq!(figure(0.000_012_3), "1.23e-5");
/// assert_eq!(figure(12_345_678.0), "1.23e7");
/// ```
pub fn figure(number: f64) -> String {
    let magnitude = number.abs();
    if magnitude > 0.0 && !(1e-4..1e6).contains(&magnitude) {
        let text = format!("{number:.2e}");
        return text.replace(".00e", "e").replace("0e", "e");
    }
    let before = if magnitude >= 1.0 { magnitude.log10() as usize + 1 } else { 0 };
    let zeros = if (f64::MIN_POSITIVE..1.0).contains(&magnitude) {
        (-magnitude.log10().floor()) as usize - 1
    } else {
        0
    };
    let text = format!("{number:.*}", 3_usize.saturating_sub(before) + zeros);
    if text.contains('.') {
        return text.trim_end_matches('0').trim_end_matches('.').to_owned();
    }
    text
}

/// Names an axis as the manifest's channel column does: x, y, z for 0, 1, 2.
pub fn axis_name(axis: usize) -> &'static str {
    ["x", "y", "z"].get(axis).copied().unwrap_or("?")
}

/// Returns the number with the fewest digits that is this `f32`.
///
/// ```
/// use rebearing_host::words::decimal;
///
/// assert_eq!(decimal(0.9), 0.9);
/// assert_ne!(f64::from(0.9_f32), 0.9);
/// ```
pub fn decimal(number: f32) -> f64 {
    // The text of a float always parses, also that of NaN and infinity.
    number.to_string().parse().unwrap_or(f64::from(number))
}

/// Returns an error and its causes in one line. Most messages already contain their cause. Such a
/// cause is not repeated.
pub fn with_causes(error: &(dyn Error + 'static)) -> String {
    let mut line = error.to_string();
    let mut cause = error.source();
    while let Some(next) = cause {
        let text = next.to_string();
        if !line.contains(&text) {
            line = format!("{line}: {text}");
        }
        cause = next.source();
    }
    line
}

#[cfg(test)]
mod tests {
    use super::with_causes;

    #[test]
    fn a_cause_is_said_once() {
        let cause = || std::io::Error::other("the disk is full");
        let silent = anyhow::Error::new(cause()).context("model.rbm");
        assert_eq!(with_causes(silent.as_ref()), "model.rbm: the disk is full");
        let naming = anyhow::Error::new(cause()).context("model.rbm: the disk is full; make room");
        let naming = naming.context("motor-b");
        assert_eq!(with_causes(naming.as_ref()), "motor-b: model.rbm: the disk is full; make room");
    }
}

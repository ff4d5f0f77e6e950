//! Compares the estimates of `rebearing inspect` with the measurements.

use std::fmt::Write as _;

use super::Measured;
use super::rows::BESIDE;
use crate::bench::json::Answer;

/// Returns how far off the estimates are. Fails if one is further off than the host allows.
///
/// An estimate with `components` is for one mixture with the safe kernel. One without is for the
/// whole window.
pub(super) fn compare(estimates: &[Answer], measured: &Measured) -> Result<String, String> {
    let mut largest: Vec<(String, f64, f64)> = Vec::new();
    for estimate in estimates {
        let (core, encoding) = (estimate.text("core")?, estimate.text("encoding")?);
        let (expected, tolerance) =
            (estimate.number("instructions")?, estimate.number("tolerance")?);
        let (what, found) = if let Ok(components) = estimate.number("components") {
            let (dims, case) = (estimate.number("dims")?, estimate.text("case")?);
            let row = measured.rows.iter().find(|row| {
                (&row.core[..], &row.encoding[..], &row.kernel[..], &row.case[..])
                    == (core, encoding, "safe", case)
                    && (row.components as f64, row.dims as f64) == (components, dims)
            });
            (format!("{components}×{dims} {case}"), row.map(|row| row.instructions))
        } else {
            ("a window".to_owned(), window(measured, core, encoding))
        };
        // Some boards have no room for some shapes.
        let Some(found) = found else { continue };
        let off = found as f64 / expected - 1.0;
        if off.is_nan() || off.abs() > tolerance {
            return Err(format!(
                "{core} {encoding}, {what}: {found} instructions, but `rebearing inspect` \
                 would say {expected:.0}; please fit host-tools/engine/src/device/instructions.rs again"
            ));
        }
        let name = format!("{core} {encoding}");
        match largest.iter_mut().find(|(other, ..)| *other == name) {
            Some((_, largest, _)) => *largest = largest.max(off.abs()),
            None => largest.push((name, off.abs(), tolerance)),
        }
    }
    if largest.is_empty() {
        return Err("no estimate has a row to be compared with".into());
    }
    let mut text = String::new();
    for (name, off, tolerance) in largest {
        let [off, tolerance] = [off, tolerance].map(|share| 100.0 * share);
        let _ = writeln!(
            text,
            "{name}: the estimates of `rebearing inspect` are off by {off:.1} % at most, {tolerance:.0} % allowed"
        );
    }
    Ok(text)
}

/// Returns the instructions of the whole window with the safe kernel, or the sum of all its parts
/// if a board has too little RAM for a monitor.
fn window(measured: &Measured, core: &str, encoding: &str) -> Option<u64> {
    let parts = measured.stages.iter().filter(|stage| {
        (&stage.core[..], &stage.encoding[..], &stage.kernel[..]) == (core, encoding, "safe")
    });
    let whole = parts.clone().find(|stage| stage.name == "whole");
    let parts = parts.filter(|stage| !BESIDE.contains(&&stage.name[..]));
    let sum: u64 = parts.map(|stage| stage.instructions).sum();
    whole.map(|stage| stage.instructions).or((sum > 0).then_some(sum))
}

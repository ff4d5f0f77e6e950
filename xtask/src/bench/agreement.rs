//! Checks that both sides came to the same result.

use super::json::Answer;
use super::worker::{Side, Sides};
use std::fs;

/// The values that must agree, and how well (relative to the largest value of each kind).
#[derive(Debug, Clone, Copy)]
pub(super) enum Check {
    /// The same number of iterations; log-likelihood, weights, means and variances within `limit`.
    Mixture { limit: f64 },
    /// The cost within `limit`.
    Cost { limit: f64 },
    /// The plan within `limit`.
    Plan { limit: f64 },
    /// The cost within `limit`, and all labels but one in a thousand.
    Labels { limit: f64 },
    /// Only the mean accuracy over the rounds, with ours at most `margin` lower. The starts differ
    /// between sides and between rounds.
    Accuracy { margin: f64 },
}

/// The outcome of a check.
pub(super) struct Agreement {
    /// Whether it passed.
    pub(super) agrees: bool,
    /// The result in words.
    pub(super) found: String,
}

impl Check {
    /// Compares the answers, and the arrays that both sides have just written.
    pub(super) fn compare(
        self,
        sides: &Sides,
        python: &Answer,
        rust: &Answer,
    ) -> Result<Agreement, String> {
        let both = |key: &str| Ok::<_, String>((python.number(key)?, rust.number(key)?));
        let scalar = |key: &str| both(key).map(|(a, b)| (a - b).abs() / a.abs().max(b.abs()));
        Ok(match self {
            Self::Mixture { limit } => {
                let (theirs, ours) = both("iterations")?;
                let mut parts = vec![("log-likelihood", scalar("log_likelihood")?)];
                for array in ["weights", "means", "variances"] {
                    parts.push((array, difference(sides, array)?));
                }
                let worst = parts.into_iter().max_by(|a, b| a.1.total_cmp(&b.1));
                let (what, worst) = worst.unwrap_or(("nothing", f64::NAN));
                Agreement {
                    agrees: theirs == ours && worst <= limit,
                    found: format!("{theirs}/{ours} iterations, {what} {worst:.0e}"),
                }
            }
            Self::Cost { limit } => within("cost", scalar("cost")?, limit),
            Self::Plan { limit } => {
                let (theirs, ours) = both("marginal_error")?;
                let plan = difference(sides, "plan")?;
                Agreement {
                    agrees: plan <= limit,
                    found: format!("plan {plan:.0e}, marginals {theirs:.0e}/{ours:.0e}"),
                }
            }
            Self::Labels { limit } => {
                let (cost, labels) = (scalar("cost")?, unequal(sides, "labels")?);
                Agreement {
                    agrees: cost <= limit && labels <= 1e-3,
                    found: format!("cost {cost:.0e}, {:.2} % of labels", 100.0 * labels),
                }
            }
            Self::Accuracy { margin } => {
                let (theirs, ours) = both("accuracy")?;
                let percent = |share: f64| 100.0 * share;
                Agreement {
                    agrees: ours >= theirs - margin,
                    found: format!("accuracy {:.1}/{:.1} %", percent(theirs), percent(ours)),
                }
            }
        })
    }
}

fn within(what: &str, difference: f64, limit: f64) -> Agreement {
    Agreement { agrees: difference <= limit, found: format!("{what} {difference:.0e}") }
}

/// Returns the largest difference between the sides' arrays `name`, relative to their largest
/// value.
fn difference(sides: &Sides, name: &str) -> Result<f64, String> {
    let (theirs, ours) = arrays(sides, name)?;
    Ok(relative(&theirs, &ours))
}

fn relative(a: &[f64], b: &[f64]) -> f64 {
    let largest = |values: &mut dyn Iterator<Item = f64>| values.fold(0.0, f64::max);
    let apart = largest(&mut a.iter().zip(b).map(|(a, b)| (a - b).abs()));
    // A NaN would be lost in the maximum.
    let lost = a.iter().chain(b).any(|value| value.is_nan());
    if lost { f64::NAN } else { apart / largest(&mut a.iter().map(|a| a.abs())) }
}

/// Returns the share of entries that differ in the sides' arrays `name`.
fn unequal(sides: &Sides, name: &str) -> Result<f64, String> {
    let (theirs, ours) = arrays(sides, name)?;
    let count = theirs.iter().zip(&ours).filter(|(a, b)| a != b).count();
    Ok(count as f64 / theirs.len() as f64)
}

fn arrays(sides: &Sides, name: &str) -> Result<(Vec<f64>, Vec<f64>), String> {
    let read = |side| {
        let path = sides.result(side, name);
        let bytes = fs::read(&path).map_err(|error| format!("{}: {error}", path.display()))?;
        Ok::<Vec<f64>, String>(
            bytes.as_chunks::<8>().0.iter().map(|bytes| f64::from_le_bytes(*bytes)).collect(),
        )
    };
    let (theirs, ours) = (read(Side::Python)?, read(Side::Rust)?);
    if theirs.len() == ours.len() && !ours.is_empty() {
        Ok((theirs, ours))
    } else {
        Err(format!("{name}: {} values of theirs, {} of ours", theirs.len(), ours.len()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_difference_is_relative_to_the_largest_and_nan_never_agrees() {
        assert_eq!(relative(&[4.0, 0.0], &[4.0, 1.0]), 0.25);
        assert!(!within("x", relative(&[1.0, f64::NAN], &[1.0, 1.0]), 1.0).agrees);
        assert!(!within("x", relative(&[1.0, 1.0], &[f64::NAN, 1.0]), 1.0).agrees);
    }
}

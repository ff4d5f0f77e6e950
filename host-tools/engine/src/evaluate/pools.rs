//! The content of the pool: its labels, and the number of windows of each.
//!
//! The recordings of a new machine never hold its classes in equal shares, and usually not all of
//! them. The pools here are the cases that an adaptation meets, from harmless to dangerous.

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

use crate::simulate::random::Random;

/// The target recordings to adapt on.
#[derive(Debug, Clone, PartialEq)]
pub enum PoolChoice {
    /// `all`: all compared recordings.
    All,
    /// `healthy`: recordings with the label of the healthy machine.
    Healthy,
    /// `healthy:0.9`: this share of healthy windows, and the rest from one fault. Each fault in
    /// turn.
    HealthyShare(f64),
    /// `half`: healthy and half of the fault labels, drawn with the seed.
    Half,
    /// `dirichlet`: every label, in random shares drawn with the seed, uniform over all possible
    /// shares.
    Dirichlet,
    /// Recordings with one of these labels.
    Labels(Vec<String>),
}

/// The error for a share of healthy windows that is not valid.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("healthy:{0}: the share of healthy windows must be above 0 and below 1, for example 0.9")]
pub struct PoolShareError(String);

impl FromStr for PoolChoice {
    type Err = PoolShareError;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        if let Some(share) = text.strip_prefix("healthy:") {
            return match share.parse::<f64>() {
                Ok(value) if value > 0.0 && value < 1.0 => Ok(Self::HealthyShare(value)),
                _ => Err(PoolShareError(share.into())),
            };
        }
        Ok(match text {
            "all" => Self::All,
            "healthy" => Self::Healthy,
            "half" => Self::Half,
            "dirichlet" => Self::Dirichlet,
            _ => Self::Labels(text.split(',').map(|label| label.trim().to_owned()).collect()),
        })
    }
}

impl fmt::Display for PoolChoice {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str("all"),
            Self::Healthy => f.write_str("healthy"),
            Self::HealthyShare(share) => write!(f, "healthy:{share}"),
            Self::Half => f.write_str("half"),
            Self::Dirichlet => f.write_str("dirichlet"),
            Self::Labels(labels) => f.write_str(&labels.join(",")),
        }
    }
}

impl PoolChoice {
    /// Whether the choice needs the healthy label.
    pub fn needs_healthy(&self) -> bool {
        matches!(self, Self::Healthy | Self::HealthyShare(_) | Self::Half)
    }
}

/// One pool: labels, and the number of windows of each. The first windows in time are taken.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pool {
    /// Label and number of windows.
    pub parts: Vec<(String, usize)>,
}

/// The pools of a choice. `windows` holds the labels that may be in them, with the number of
/// windows before the cut. `healthy` is an index into it. Seed and stream determine the random
/// draws.
pub fn pools(
    choice: &PoolChoice,
    windows: &[(String, usize)],
    healthy: Option<usize>,
    (seed, stream): (u64, u64),
) -> Vec<Pool> {
    let whole = |index: &usize| windows[*index].clone();
    let every: Vec<usize> = (0..windows.len()).collect();
    let faults: Vec<usize> = every.iter().copied().filter(|i| Some(*i) != healthy).collect();
    let one = |indices: &[usize]| vec![Pool { parts: indices.iter().map(whole).collect() }];
    let with_healthy =
        |faults: &[usize]| healthy.into_iter().chain(faults.iter().copied()).collect();
    let mut random = Random::new(seed, stream);
    match choice {
        PoolChoice::All => one(&every),
        PoolChoice::Healthy => one(&healthy.into_iter().collect::<Vec<_>>()),
        PoolChoice::Labels(labels) => {
            let named = |i: &usize| labels.contains(&windows[*i].0);
            one(&every.iter().copied().filter(named).collect::<Vec<_>>())
        }
        PoolChoice::HealthyShare(share) => {
            let mixed = |fault: &usize| {
                let parts: Vec<usize> = with_healthy(&[*fault]);
                in_shares(windows, &parts, &[*share, 1.0 - share])
            };
            faults.iter().map(mixed).collect()
        }
        PoolChoice::Half => {
            let mut drawn: Vec<(f64, usize)> = faults.iter().map(|i| (random.unit(), *i)).collect();
            drawn.sort_by(|a, b| a.0.total_cmp(&b.0));
            drawn.truncate(faults.len().div_ceil(2));
            let parts: Vec<usize> =
                with_healthy(&drawn.into_iter().map(|(_, i)| i).collect::<Vec<_>>());
            one(&parts)
        }
        PoolChoice::Dirichlet => {
            // Independent exponential numbers, normalised, are uniformly distributed over all
            // shares.
            let draws: Vec<f64> = every.iter().map(|_| -libm::log(1.0 - random.unit())).collect();
            let sum: f64 = draws.iter().sum::<f64>().max(f64::MIN_POSITIVE);
            let shares: Vec<f64> = draws.iter().map(|draw| draw / sum).collect();
            vec![in_shares(windows, &every, &shares)]
        }
    }
}

/// A pool with the given shares and as many windows as possible.
fn in_shares(windows: &[(String, usize)], indices: &[usize], shares: &[f64]) -> Pool {
    let most = |(index, share): (&usize, &f64)| windows[*index].1 as f64 / share;
    let total = indices.iter().zip(shares).map(most).fold(f64::INFINITY, f64::min);
    let part = |(index, share): (&usize, &f64)| {
        let (label, all) = &windows[*index];
        // Every label in the pool gets at least one window.
        (label.clone(), ((share * total).round() as usize).clamp(1, *all))
    };
    Pool { parts: indices.iter().zip(shares).map(part).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn windows() -> Vec<(String, usize)> {
        [("Ball", 60), ("Normal", 90), ("Inner", 30), ("Outer", 60)]
            .map(|(label, n)| (label.to_owned(), n))
            .to_vec()
    }

    fn drawn(choice: &str, seed: u64) -> Vec<Vec<(String, usize)>> {
        let choice: PoolChoice = choice.parse().unwrap();
        pools(&choice, &windows(), Some(1), (seed, 0)).into_iter().map(|pool| pool.parts).collect()
    }

    fn named(parts: &[(&str, usize)]) -> Vec<(String, usize)> {
        parts.iter().map(|(label, n)| ((*label).to_owned(), *n)).collect()
    }

    #[test]
    fn shares_take_as_many_windows_as_there_are() {
        let pools = drawn("healthy:0.9", 0);
        assert_eq!(pools.len(), 3, "each fault in turn");
        assert_eq!(pools[0], named(&[("Normal", 90), ("Ball", 10)]));
        let even = drawn("healthy:0.5", 0);
        assert_eq!(even[0], named(&[("Normal", 60), ("Ball", 60)]));
        assert_eq!(even[1], named(&[("Normal", 30), ("Inner", 30)]));
    }

    #[test]
    fn draws_follow_the_seed_and_stay_within_what_there_is() {
        let mut seen = std::collections::BTreeSet::new();
        for seed in 0..20 {
            let half = drawn("half", seed);
            assert_eq!(half[0].len(), 3, "two of three faults, and healthy");
            assert_eq!(half[0][0], ("Normal".to_owned(), 90));
            assert_eq!(half, drawn("half", seed));
            seen.insert(half[0][1].0.clone() + &half[0][2].0);
            let shares = &drawn("dirichlet", seed)[0];
            assert!(shares.iter().zip(windows()).all(|(part, all)| (1..=all.1).contains(&part.1)));
            assert!(shares.iter().zip(windows()).any(|(part, all)| part.1 == all.1));
        }
        assert!(seen.len() >= 3, "{seen:?}");
    }

    #[test]
    fn shares_that_are_none_are_refused() {
        for text in ["healthy:0", "healthy:1", "healthy:x", "healthy:", "healthy:NaN"] {
            let message = text.parse::<PoolChoice>().unwrap_err().to_string();
            assert!(message.contains("0.9"), "{message}");
        }
    }
}

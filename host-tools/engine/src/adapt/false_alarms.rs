//! The rate of false alarms that a user accepts, as a rate for single windows.
//!
//! An alarm averages over windows, so a single window beyond the gate raises none. If m of a windows
//! must be beyond it, and neighbouring windows are alike in threes, then ⌈a/3⌉ groups count, and
//! ⌈m/3⌉ of them must be beyond. With N windows a year, of which a share p is beyond the gate,
//!
//! ```text
//! alarms a year = N/3 · P(Binomial(⌈a/3⌉, p) ≥ ⌈m/3⌉)
//! ```
//!
//! This module solves it for p. The result is an aim, not a promise: a machine that changes slowly
//! has more windows alike than three, and the tails of real windows are heavier than those of the
//! normal distribution.

use anyhow::{Result, bail};
use rebearing::model::AlarmParameters;

/// Seconds in a year of 365.25 days.
const SECONDS_PER_YEAR: f64 = 31_557_600.0;
/// Number of neighbouring windows that are alike.
const ALIKE: u32 = 3;
/// Largest share of windows beyond the gate, whatever the alarm allows.
const MOST: f64 = 0.01;
/// Halvings of the interval of ln p; 60 leave less than 1e-16 of it.
const HALVINGS: usize = 60;

/// The false alarms that a user accepts, and the parameters of the alarm that raises them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct FalseAlarms {
    /// False alarms a year to aim at.
    pub per_year: f64,
    /// Seconds from one window to the next, on average over the duty cycle.
    pub window_every: f64,
    /// Number of windows in the alarm's average.
    pub average: u32,
    /// An alarm is raised from this mean probability of a fault on.
    pub raise: f64,
}

impl Default for FalseAlarms {
    /// One a year of a sensor that takes two windows a minute, with the alarm of a model that says
    /// nothing about it.
    fn default() -> Self {
        let AlarmParameters { average, raise, .. } = AlarmParameters::DEFAULT;
        let one = f64::from(rebearing::model::probability(1.0));
        Self { per_year: 1.0, window_every: 30.0, average, raise: f64::from(raise) / one }
    }
}

impl FalseAlarms {
    /// Refuses a rate or a time that is not a positive number.
    pub fn check(&self) -> Result<()> {
        if !(self.window_every > 0.0 && self.window_every.is_finite()) {
            bail!(
                "`window_every` {}: must be a number of seconds above 0, for example 30",
                self.window_every
            );
        }
        if !(self.per_year > 0.0 && self.per_year.is_finite()) {
            bail!(
                "`false_alarms` {}: must be a number of alarms a year above 0, for example 1",
                self.per_year
            );
        }
        Ok(())
    }

    /// Returns the share of healthy windows that may be beyond the gate, at most 1 %.
    ///
    /// `shortest` is the time from one window to the next on a device that never sleeps.
    pub fn per_window(&self, shortest: f64) -> f64 {
        let windows = SECONDS_PER_YEAR / self.window_every.max(shortest);
        // A product like 10 · 0.7 may come out above 7.
        let beyond = (f64::from(self.average) * self.raise - 1e-9).ceil().max(1.0) as u32;
        let groups = self.average.max(1).div_ceil(ALIKE);
        let least = beyond.div_ceil(ALIKE).min(groups);
        let alarms = |p: f64| windows / f64::from(ALIKE) * at_least(groups, least, p);
        if alarms(MOST) <= self.per_year {
            return MOST;
        }
        let (mut low, mut high) = (f64::MIN_POSITIVE.ln(), MOST.ln());
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            if alarms(middle.exp()) > self.per_year {
                high = middle;
            } else {
                low = middle;
            }
        }
        low.exp()
    }
}

/// Probability that at least `least` of `n` events with probability `p` each happen.
fn at_least(n: u32, least: u32, p: f64) -> f64 {
    let (mut term, odds) = (1.0, p / (1.0 - p));
    let mut sum = 0.0;
    for count in 0..=n {
        if count >= least {
            sum += term;
        }
        term *= f64::from(n - count) / f64::from(count + 1) * odds;
    }
    sum * (1.0 - p).powf(f64::from(n))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// `scipy.stats.binom` and `scipy.optimize.brentq` on the same formula;
    /// `tests/adapt/golden/gate.py` has the script.
    #[test]
    fn the_rate_of_a_window_is_scipys() {
        let usual = FalseAlarms { per_year: 1.0, window_every: 0.1, average: 8, raise: 0.7 };
        let close = |settings: FalseAlarms, seconds: f64, golden: f64| {
            let rate = settings.per_window(seconds);
            assert!((rate / golden - 1.0).abs() < 1e-6, "{rate} is not {golden}");
        };
        close(usual, 0.1536, 6.976_759e-5);
        close(usual, 0.256, 9.007_018e-5);
        close(FalseAlarms { per_year: 12.0, ..usual }, 0.1536, 2.416_959e-4);
        close(FalseAlarms { per_year: 0.1, ..usual }, 0.1536, 2.206_210e-5);
        close(usual, 60.0, 1.379_506e-3);
        close(FalseAlarms { average: 16, raise: 0.5, ..usual }, 0.1536, 9.010_587e-4);
        assert_eq!(usual.per_window(1e7), MOST);
        // The duty cycle counts, not the shortest time between two windows.
        let minute = FalseAlarms { window_every: 60.0, ..FalseAlarms::default() };
        close(minute, 0.1536, 1.379_506e-3);
    }

    #[test]
    fn what_is_no_rate_is_refused() {
        for per_year in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            let refused = FalseAlarms { per_year, ..FalseAlarms::default() }.check();
            let message = refused.unwrap_err().to_string();
            assert!(message.contains("`false_alarms`"), "{message}");
        }
        assert!(FalseAlarms::default().check().is_ok());
    }

    proptest! {
        /// Counts every outcome of up to ten events, one by one.
        #[test]
        fn the_tail_is_the_sum_over_all_outcomes(n in 1_u32..10, least in 0_u32..10, p in 0.001_f64..0.9) {
            let outcomes = (0..1_u32 << n).filter(|outcome| outcome.count_ones() >= least);
            let naive: f64 = outcomes
                .map(|outcome| {
                    let happened = f64::from(outcome.count_ones());
                    p.powf(happened) * (1.0 - p).powf(f64::from(n) - happened)
                })
                .sum();
            prop_assert!((at_least(n, least, p) - naive).abs() < 1e-12);
        }

        #[test]
        fn more_alarms_allow_more_windows(
            per_year in 0.01_f64..100.0, average in 1_u32..=256, raise in 0.01_f64..1.0, seconds in 0.01_f64..100.0,
        ) {
            let settings = FalseAlarms { per_year, window_every: 0.1, average, raise };
            let more = FalseAlarms { per_year: 2.0 * per_year, ..settings };
            let rate = settings.per_window(seconds);
            prop_assert!(rate > 0.0 && rate <= more.per_window(seconds) && rate <= MOST);
        }
    }
}

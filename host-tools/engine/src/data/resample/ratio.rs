//! The ratio of two sample rates as whole numbers, and the ratios that are refused.

use thiserror::Error;

/// Rates that differ by less than this fraction count as the same.
const SAME: f64 = 1e-6;
/// Largest relative error of a ratio of whole numbers. Tones shift by no more than this.
const NEAR: f64 = 1e-7;
/// Largest whole number in a ratio: the filter has about 260 taps per unit of it.
const LARGEST: u64 = 1 << 17;

/// Why a recording cannot be resampled to another rate.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum ResampleError {
    /// The new rate is higher than the old one.
    #[error(
        "{from_hz} Hz cannot be resampled to {to_hz} Hz: nothing was recorded above {} Hz, and the \
         bands there would be empty; resample the others to {from_hz} Hz instead (fit or evaluate \
         with `resample` {from_hz})", from_hz / 2.0
    )]
    Upwards {
        /// Rate of the recording.
        from_hz: f64,
        /// Requested rate.
        to_hz: f64,
    },
    /// A rate is not a number above zero, or the rates are too far apart.
    #[error("{from_hz} Hz to {to_hz} Hz: rates are numbers above 0, at most 1000 times apart")]
    Rates {
        /// Rate of the recording.
        from_hz: f64,
        /// Requested rate.
        to_hz: f64,
    },
}

/// Whether two rates count as the same.
pub fn same_rate(a: f64, b: f64) -> bool {
    (a - b).abs() <= SAME * b
}

/// New rate over old rate, in lowest terms.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Ratio {
    pub(super) up: u64,
    pub(super) down: u64,
}

/// The ratio of two rates. The new rate must not be above the old one.
pub(super) fn ratio(from_hz: f64, to_hz: f64) -> Result<Ratio, ResampleError> {
    let positive = |rate: f64| rate.is_finite() && rate > 0.0;
    if !positive(from_hz) || !positive(to_hz) || from_hz > 1000.0 * to_hz {
        return Err(ResampleError::Rates { from_hz, to_hz });
    }
    if to_hz > from_hz * (1.0 + SAME) {
        return Err(ResampleError::Upwards { from_hz, to_hz });
    }
    // Rates in whole hertz, tenths or hundredths have an exact ratio.
    for unit in [1.0, 10.0, 100.0] {
        let [from, to] = [from_hz * unit, to_hz * unit];
        if from.fract() == 0.0 && to.fract() == 0.0 && from < 1e15 {
            let divisor = common_divisor(from as u64, to as u64);
            let exact = Ratio { up: to as u64 / divisor, down: from as u64 / divisor };
            if exact.down <= 1 << 14 {
                return Ok(exact);
            }
        }
    }
    nearest(to_hz / from_hz).ok_or(ResampleError::Rates { from_hz, to_hz })
}

fn common_divisor(a: u64, b: u64) -> u64 {
    if b == 0 { a } else { common_divisor(b, a % b) }
}

/// The first convergent of the continued fraction that is within [`NEAR`].
fn nearest(ratio: f64) -> Option<Ratio> {
    let (mut before, mut now) = ((1_u64, 0_u64), (ratio.floor() as u64, 1_u64));
    let mut rest = ratio;
    loop {
        let (up, down) = now;
        if down > LARGEST {
            return None;
        }
        if up > 0 && ((up as f64 / down as f64) / ratio - 1.0).abs() <= NEAR {
            return Some(Ratio { up, down });
        }
        rest = (rest - rest.floor()).recip();
        if !rest.is_finite() {
            return None;
        }
        let term = rest.floor() as u64;
        let next = |before: u64, now: u64| now.checked_mul(term)?.checked_add(before);
        now = (next(before.0, up)?, next(before.1, down)?);
        before = (up, down);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ratios_are_exact_where_they_can_be_and_near_elsewhere() {
        for (from, to, up, down) in [
            (25_600.0, 12_000.0, 15, 32),
            (20_000.0, 12_000.0, 3, 5),
            (48_000.0, 24_000.0, 1, 2),
            (44_100.0, 12_000.0, 40, 147),
            (25_641.0, 12_000.0, 4000, 8547),
            (1000.5, 500.25, 1, 2),
            (12_000.0, 12_000.0, 1, 1),
        ] {
            assert_eq!(ratio(from, to), Ok(Ratio { up, down }), "{from} {to}");
        }
        for (from, to) in [
            (25_641.025_641, 12_000.0),
            (1e5 / 3.0, 1e5 / 7.1),
            (44_099.97, 12_000.01),
            (99_991.0, 99_989.0),
            (1e6, 1000.1),
        ] {
            let Ratio { up, down } = ratio(from, to).unwrap();
            assert!(up <= down && down <= LARGEST, "{up}/{down}");
            assert!((up as f64 / down as f64 / (to / from) - 1.0).abs() <= NEAR, "{up}/{down}");
        }
    }

    #[test]
    fn rates_that_make_no_sense_are_refused() {
        let upwards = ratio(12_000.0, 25_600.0).unwrap_err().to_string();
        assert!(upwards.contains("above 6000 Hz") && upwards.contains("`resample` 12000"));
        for (from, to) in [(0.0, 1.0), (1.0, 0.0), (f64::NAN, 1.0), (1.0, -1.0), (1e9, 1.0)] {
            assert!(matches!(ratio(from, to), Err(ResampleError::Rates { .. })), "{from} {to}");
        }
    }
}

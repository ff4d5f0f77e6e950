//! The same bands at another sample rate.
//!
//! A machine may be recorded at another rate than the source. Then the bands keep their frequencies
//! in hertz, up to what the lower rate can show. Nothing is resampled, so the device computes the
//! features that were fitted.

use thiserror::Error;

use crate::features::front_end::FrontEndSettings;

/// Why bands cannot be used at another rate.
#[derive(Debug, Clone, Copy, PartialEq, Error)]
pub enum RateError {
    /// The rate is too low.
    #[error(
        "the bands reach up to {needs_hz} Hz, but a rate of {rate_hz} Hz shows only up to {shows_hz} Hz; \
         fit the source with `resample` {rate_hz}"
    )]
    TooLow {
        /// Upper end of the bands.
        needs_hz: f64,
        /// The rate.
        rate_hz: f64,
        /// Half of the rate.
        shows_hz: f64,
    },
    /// Two edges fall on one bin.
    #[error(
        "at {rate_hz} Hz an FFT of {fft_len} is too coarse for these bands; fit with a longer `fft_len` or fewer `bands`"
    )]
    TooCoarse {
        /// The rate.
        rate_hz: f64,
        /// The FFT's length.
        fft_len: usize,
    },
}

/// Returns `front_end` for samples at `rate_hz`: the same FFT, hop and segments, and bands at the
/// same frequencies to within half a bin.
pub fn at_rate(front_end: &FrontEndSettings, rate_hz: f64) -> Result<FrontEndSettings, RateError> {
    let ratio = front_end.rate_hz / rate_hz;
    let band_edges: Vec<u32> =
        front_end.band_edges.iter().map(|edge| (f64::from(*edge) * ratio).round() as u32).collect();
    let bins = front_end.fft_len / 2;
    if band_edges.last().is_some_and(|edge| *edge as usize > bins) {
        let bin_hz = front_end.rate_hz / front_end.fft_len as f64;
        let last = front_end.band_edges.last().copied().unwrap_or(0);
        let (needs_hz, shows_hz) = (f64::from(last) * bin_hz, rate_hz / 2.0);
        return Err(RateError::TooLow { needs_hz, rate_hz, shows_hz });
    }
    if band_edges.windows(2).any(|edges| edges[0] >= edges[1]) {
        return Err(RateError::TooCoarse { rate_hz, fft_len: front_end.fft_len });
    }
    Ok(FrontEndSettings { rate_hz, band_edges, ..front_end.clone() })
}

/// Whether two front ends use the same bands: the same number, with the same edge frequencies to
/// within one bin of the coarser spectrum.
pub fn same_bands(one: &FrontEndSettings, other: &FrontEndSettings) -> bool {
    let tolerance = one.bin_hz().max(other.bin_hz());
    let edges = one.band_edges.iter().zip(&other.band_edges);
    one.axes == other.axes
        && one.band_edges.len() == other.band_edges.len()
        && edges.into_iter().all(|(a, b)| {
            (f64::from(*a) * one.bin_hz() - f64::from(*b) * other.bin_hz()).abs() <= tolerance
        })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::bands::Spacing;
    use crate::features::front_end::EqualBands;

    #[test]
    fn bands_stay_where_they_are_in_hertz() {
        let known = FrontEndSettings::equal_bands(EqualBands::usual(12_000.0, 1)).unwrap();
        stay_where_they_are(&known);
        stay_where_they_are(&known.spaced(Spacing::Mel));
    }

    fn stay_where_they_are(known: &FrontEndSettings) {
        let new = at_rate(known, 20_000.0).unwrap();
        assert_eq!((new.rate_hz, new.fft_len, new.segments), (20_000.0, 2048, 2));
        for (known, new) in known.band_edges.iter().zip(&new.band_edges) {
            let hertz =
                [f64::from(*known) * 12_000.0 / 2048.0, f64::from(*new) * 20_000.0 / 2048.0];
            assert!((hertz[0] - hertz[1]).abs() <= 0.5 * 20_000.0 / 2048.0, "{hertz:?}");
        }
        assert_eq!(at_rate(known, 12_000.0).unwrap(), *known);
    }

    #[test]
    fn what_a_rate_cannot_show_is_refused() {
        let known = FrontEndSettings::equal_bands(EqualBands {
            rate_hz: 20_000.0,
            axes: 1,
            fft_len: 256,
            hop: 128,
            segments: 1,
            bands: 64,
        })
        .unwrap();
        let low = at_rate(&known, 12_000.0).unwrap_err().to_string();
        assert!(low.contains("10000 Hz") && low.contains("6000 Hz"), "{low}");
        let coarse = at_rate(&known, 100_000.0).unwrap_err().to_string();
        assert!(coarse.contains("`fft_len`"), "{coarse}");
        // The low mel bands are narrower than equal ones, so the room ends earlier.
        let equal = FrontEndSettings::equal_bands(EqualBands::usual(12_000.0, 1)).unwrap();
        assert!(at_rate(&equal, 200_000.0).is_ok());
        let narrow = at_rate(&equal.spaced(Spacing::Mel), 200_000.0).unwrap_err().to_string();
        assert!(narrow.contains("200000 Hz") && narrow.contains("`bands`"), "{narrow}");
    }
}

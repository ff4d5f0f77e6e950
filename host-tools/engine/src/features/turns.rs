//! Number of shaft turns in a window.

use std::fmt;

use rebearing::model::format::MAX_SEGMENTS;

use crate::data::recording::Recording;
use crate::features::front_end::FrontEndSettings;
use crate::words::figure;

/// Least number of shaft turns in a window. In fewer, faults that show at the shaft's own rate are
/// not told from what lies beside it.
pub const MIN_TURNS: f64 = 2.0;

/// A window that is too short for a slow shaft; displayed, it is a warning that says what to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ShortWindow {
    /// Length of a window in seconds.
    pub seconds: f64,
    /// The lowest shaft speed, in turns per minute.
    pub rpm: f64,
    /// Turns of this shaft in a window.
    pub turns: f64,
    /// Number of segments for [`MIN_TURNS`] with the same FFT and hop; `None` if a model cannot hold
    /// so many.
    pub segments: Option<usize>,
}

impl fmt::Display for ShortWindow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { seconds, rpm, turns, segments } = self;
        write!(
            f,
            "a window of {} s holds {} turns at {rpm} rpm; faults at the shaft's rate (imbalance, \
             misalignment) are not resolved: ",
            figure(*seconds),
            figure(*turns)
        )?;
        match segments {
            Some(segments) => write!(
                f,
                "fit with `segments` {segments} or more for {MIN_TURNS} turns, or with a longer \
                 `fft_len`"
            ),
            None => f.write_str("record at a lower rate"),
        }
    }
}

/// Returns a warning if a window holds fewer than [`MIN_TURNS`] of the slowest shaft. Recordings
/// without a shaft speed are left out.
pub fn short_window(front_end: &FrontEndSettings, recordings: &[Recording]) -> Option<ShortWindow> {
    let rpm = recordings.iter().filter_map(|recording| recording.rpm).reduce(f64::min)?;
    let turn = 60.0 / rpm * front_end.rate_hz;
    let turns = front_end.window_len() as f64 / turn;
    if turns >= MIN_TURNS {
        return None;
    }
    let missing = MIN_TURNS * turn - front_end.fft_len as f64;
    let segments = (missing / front_end.hop as f64).ceil() + 1.0;
    let seconds = front_end.window_len() as f64 / front_end.rate_hz;
    let segments = (segments <= MAX_SEGMENTS as f64).then_some(segments as usize);
    Some(ShortWindow { seconds, rpm, turns, segments })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::features::front_end::EqualBands;

    fn at(rpm: &[Option<f64>]) -> Vec<Recording> {
        let recording = |rpm: &Option<f64>| Recording {
            rpm: *rpm,
            ..Recording::in_memory("r.wav", 1, vec![vec![0.0]])
        };
        rpm.iter().map(recording).collect()
    }

    fn usual() -> FrontEndSettings {
        FrontEndSettings::equal_bands(EqualBands::usual(20_000.0, 1)).unwrap()
    }

    #[test]
    fn a_slow_shaft_needs_more_segments() {
        let found = short_window(&usual(), &at(&[Some(3000.0), None, Some(600.0)])).unwrap();
        assert_eq!((found.rpm, found.segments), (600.0, Some(3)));
        assert!((found.turns - 1.536).abs() < 1e-12, "{found:?}");
        let warning = found.to_string();
        for part in ["0.154 s", "1.54 turns at 600 rpm", "`segments` 3 or more for 2 turns"] {
            assert!(warning.contains(part), "{part}: {warning}");
        }
        // 3072 samples are two turns at 781.25 rpm.
        assert_eq!(short_window(&usual(), &at(&[Some(781.25)])), None);
        assert!(short_window(&usual(), &at(&[Some(781.0)])).is_some());
        assert_eq!(short_window(&usual(), &at(&[None, None])), None);
        assert_eq!(short_window(&usual(), &[]), None);
    }

    #[test]
    fn the_segments_it_asks_for_are_enough_and_no_more() {
        for (fft_len, hop) in [(256, 100), (2048, 1024), (4096, 4096)] {
            for rpm in [3.0, 59.9, 60.0, 300.0] {
                let with = |segments| {
                    let bands = EqualBands { fft_len, hop, ..EqualBands::usual(8000.0, 1) };
                    FrontEndSettings::equal_bands(EqualBands { segments, ..bands }).unwrap()
                };
                let recordings = at(&[Some(rpm)]);
                let Some(short) = short_window(&with(1), &recordings) else { continue };
                let segments = short.segments.unwrap();
                assert_eq!(short_window(&with(segments), &recordings), None, "{rpm}");
                assert!(short_window(&with(segments - 1), &recordings).is_some(), "{rpm}");
            }
        }
        let hardly = short_window(&usual(), &at(&[Some(0.01)])).unwrap();
        assert_eq!(hardly.segments, None);
        assert!(hardly.to_string().contains("lower rate"));
    }
}

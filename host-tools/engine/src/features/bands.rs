//! The edges of the bands: how a number of bands lies on the bins of a spectrum.

use std::fmt;
use std::str::FromStr;

use rebearing::FrontEnd;
use thiserror::Error;

/// How wide the bands are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Spacing {
    /// All bands have the same width in Hz.
    #[default]
    Equal,
    /// All bands have the same width on the mel scale, 2595·log10(1 + f/700): narrow at low
    /// frequencies, wide at high ones.
    Mel,
}

/// Bins that an edge may lie away from its place if the bands were carried to another sample rate:
/// it was rounded twice, and so was the upper end.
const ROUNDED: u32 = 2;

impl Spacing {
    /// Returns the edges of `bands` bands over the bins 0…`top`, for bins that are `bin_hz` apart.
    ///
    /// Each band is at least one bin wide, so narrow mel bands push the edges above them up.
    ///
    /// # Panics
    /// If there are more bands than bins.
    pub fn edges(self, bands: usize, top: usize, bin_hz: f64) -> Vec<u32> {
        assert!(bands <= top, "a band for each bin at most");
        match self {
            Self::Equal => (0..=bands).map(|b| (b * top / bands.max(1)) as u32).collect(),
            Self::Mel => {
                let highest = mel(top as f64 * bin_hz);
                let mut edges = vec![0];
                for band in 1..=bands {
                    let hertz = of_mel(highest * band as f64 / bands as f64);
                    let nearest = (hertz / bin_hz).round() as usize;
                    let last = edges[band - 1];
                    // The bands above need a bin each.
                    edges.push(nearest.clamp(last + 1, top - (bands - band)));
                }
                edges.into_iter().map(|edge| edge as u32).collect()
            }
        }
    }

    /// Finds the spacing from the edges of the bands; `None` if they have another one.
    pub fn of(band_edges: &[u32], bin_hz: f64) -> Option<Self> {
        let (bands, top) = (band_edges.len().checked_sub(1)?, *band_edges.last()? as usize);
        if bands > top {
            return None;
        }
        let away = |spacing: &Self| {
            let edges = spacing.edges(bands, top, bin_hz);
            band_edges.iter().zip(edges).map(|(a, b)| a.abs_diff(b)).max().unwrap_or(0)
        };
        // At low rates both lie close together.
        let nearest = [Self::Equal, Self::Mel].into_iter().min_by_key(away)?;
        (away(&nearest) <= ROUNDED).then_some(nearest)
    }
}

/// Returns a frequency in Hz on the mel scale.
fn mel(hertz: f64) -> f64 {
    2595.0 * (1.0 + hertz / 700.0).log10()
}

/// Returns the frequency in Hz of a place on the mel scale.
fn of_mel(mel: f64) -> f64 {
    700.0 * (10_f64.powf(mel / 2595.0) - 1.0)
}

/// A number of bands and their spacing, written `32` or `mel:64`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Bands {
    /// Number of bands.
    pub number: usize,
    /// Their spacing.
    pub spacing: Spacing,
}

impl fmt::Display for Bands {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let prefix = if self.spacing == Spacing::Mel { MEL } else { "" };
        write!(f, "{prefix}{}", self.number)
    }
}

/// The start of a text that names mel bands.
const MEL: &str = "mel:";

/// The error for a text that names no bands.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("bands are a number, as 32 for equal bands or mel:64 for mel-like ones")]
pub struct UnknownBands;

impl FromStr for Bands {
    type Err = UnknownBands;

    fn from_str(text: &str) -> Result<Self, UnknownBands> {
        let (number, spacing) = match text.strip_prefix(MEL) {
            Some(number) => (number, Spacing::Mel),
            None => (text, Spacing::Equal),
        };
        Ok(Self { number: number.parse().map_err(|_| UnknownBands)?, spacing })
    }
}

/// Describes the bands of a front end: `64 mel-like bands, 0 to 6000 Hz`.
pub fn in_words(front_end: &FrontEnd<'_>) -> String {
    let bin_hz = f64::from(front_end.rate_hz) / front_end.fft_len as f64;
    let end = |edge: Option<&u32>| f64::from(edge.copied().unwrap_or(0)) * bin_hz;
    let (low, high) = (end(front_end.band_edges.first()), end(front_end.band_edges.last()));
    let kind = match Spacing::of(front_end.band_edges, bin_hz) {
        Some(Spacing::Equal) => "bands",
        Some(Spacing::Mel) => "mel-like bands",
        None => "bands of different widths",
    };
    format!("{} {kind}, {low:.0} to {high:.0} Hz", front_end.bands())
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::features::rates::at_rate;

    #[test]
    fn mel_edges_are_those_of_the_formula() {
        // Python: top = 2595*log10(1 + 6000/700)
        // [round(700*(10**(top*b/8/2595) - 1)*2048/12000) for b in range(9)]
        assert_eq!(
            Spacing::Mel.edges(8, 1024, 12_000.0 / 2048.0),
            [0, 39, 91, 159, 250, 371, 531, 743, 1024]
        );
        // Bands below one bin push the others up: the formula alone gives 0, 0, 1, 1, 2, 3, 4, 6, 8.
        assert_eq!(Spacing::Mel.edges(8, 8, 1000.0), [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        assert_eq!(Spacing::Mel.edges(4, 8, 1000.0), [0, 1, 2, 4, 8]);
    }

    #[test]
    fn bands_are_read_as_they_are_written() {
        for text in ["32", "mel:64"] {
            assert_eq!(text.parse::<Bands>().unwrap().to_string(), text);
        }
        for bad in ["", "mel", "mel:", "mel:x", "mel:-4", "log:32", "Mel:4", "3.5"] {
            assert_eq!(bad.parse::<Bands>(), Err(UnknownBands), "{bad}");
        }
    }

    #[test]
    fn words_name_spacing_and_range() {
        let bands = EqualBands { bands: 64, ..EqualBands::usual(12_000.0, 1) };
        let mut front_end = FrontEndSettings::equal_bands(bands).unwrap();
        assert_eq!(in_words(&front_end.device()), "64 bands, 0 to 6000 Hz");
        front_end = front_end.spaced(Spacing::Mel).below(0.5).unwrap();
        assert_eq!(in_words(&front_end.device()), "64 mel-like bands, 0 to 3000 Hz");
        front_end.band_edges[32] += 5;
        let words = in_words(&front_end.device());
        assert_eq!(words, "64 bands of different widths, 0 to 3000 Hz");
    }

    proptest! {
        #[test]
        fn mel_bands_cover_all_bins_and_lie_near_their_frequencies(
            fft in prop::sample::select(vec![256usize, 512, 1024, 2048, 4096]),
            bands in 2usize..=128,
            rate_hz in 100.0f64..200_000.0,
        ) {
            let (top, bin_hz) = (fft / 2, rate_hz / fft as f64);
            let edges = Spacing::Mel.edges(bands, top, bin_hz);
            prop_assert_eq!((edges.len(), edges[0], edges[bands] as usize), (bands + 1, 0, top));
            prop_assert!(edges.windows(2).all(|pair| pair[0] < pair[1]), "{:?}", edges);
            for (band, edge) in edges.iter().enumerate() {
                let place = mel(rate_hz / 2.0) * band as f64 / bands as f64;
                // An edge is at its place, or pushed up by bands of one bin each.
                let near = (f64::from(*edge) - of_mel(place) / bin_hz).abs() <= 0.5 + 1e-6;
                let pushed = *edge as usize == band || *edge == edges[band - 1] + 1;
                prop_assert!(near || pushed, "{} of {:?}", band, edges);
            }
        }

        #[test]
        fn a_spacing_is_found_again_at_any_rate(
            mel: bool, bands in 8usize..=128, rate_hz in 2000.0f64..50_000.0,
            slower in 1.0f64..8.0, share in 0.5f64..1.0,
        ) {
            let spacing = if mel { Spacing::Mel } else { Spacing::Equal };
            let settings = EqualBands { bands, ..EqualBands::usual(rate_hz, 1) };
            let known = FrontEndSettings::equal_bands(settings).unwrap().spaced(spacing);
            prop_assert_eq!(Spacing::of(&known.band_edges, rate_hz / 2048.0), Some(spacing));
            let below = known.below(share).unwrap();
            prop_assert_eq!(Spacing::of(&below.band_edges, rate_hz / 2048.0), Some(spacing));
            if let Ok(new) = at_rate(&below, rate_hz * slower) {
                let found = Spacing::of(&new.band_edges, rate_hz * slower / 2048.0);
                let top = new.band_edges[bands] as usize;
                let [equal, mel] = [Spacing::Equal, Spacing::Mel]
                    .map(|spacing| spacing.edges(bands, top, rate_hz * slower / 2048.0));
                // In few bins the two are alike.
                let apart = equal.iter().zip(&mel).any(|(a, b)| a.abs_diff(*b) > 2 * ROUNDED);
                prop_assert!(found == Some(spacing) || (found.is_some() && !apart), "{:?}", found);
            }
        }
    }
}

//! Sample rates as users write them.

use rebearing_host::data::folder::rate_hz;

/// Reads a sample rate in Hz: `51200`, `51.2k` or `51.2kHz`, as in the names of recordings.
pub(crate) fn rate(text: &str) -> Result<f64, String> {
    let plain = text.parse().ok().filter(|rate: &f64| rate.is_finite() && *rate > 0.0);
    plain
        .or_else(|| rate_hz(text))
        .ok_or_else(|| "a rate is a number of Hz above 0, as 51200 or 51.2k".into())
}

/// Reads a sample rate that is a whole number of Hz.
pub(crate) fn whole_rate(text: &str) -> Result<u32, String> {
    let rate = rate(text)?;
    if rate.fract() == 0.0 && rate <= f64::from(u32::MAX) {
        Ok(rate as u32)
    } else {
        Err("this rate is a whole number of Hz, as 51200 or 51.2k".into())
    }
}

#[cfg(test)]
mod tests {
    use super::{rate, whole_rate};

    #[test]
    fn a_rate_may_be_in_kilohertz() {
        for text in ["51200", "51.2k", "51.2kHz", "51200Hz", "5.12e4", "51.2 kHz"] {
            assert_eq!(rate(text), Ok(51_200.0), "{text}");
            assert_eq!(whole_rate(text), Ok(51_200), "{text}");
        }
        for wrong in ["", "0", "-5", "nan", "inf", "fast", "51.2m"] {
            assert!(rate(wrong).is_err_and(|text| text.contains("above 0")), "{wrong}");
        }
        assert!(whole_rate("11025.5").is_err_and(|text| text.contains("whole")));
    }
}

//! Settings for severity: how strong a vibration is, in addition to its label.

use anyhow::{Result, bail};
use rebearing::model::format;
use rebearing::signal::SeverityParameters;

use crate::data::units::Unit;
use crate::features::front_end::FrontEndSettings;

/// Default band of the velocity: lowest and highest frequency, in Hz.
pub const BAND_HZ: [f64; 2] = [10.0, 1000.0];

/// Settings for measuring severity.
#[derive(Debug, Clone, PartialEq)]
pub struct SeveritySettings {
    /// Velocity rms in mm/s at which the zones B, C and D begin.
    pub limits: [f64; 3],
    /// The m/s² in one unit of the recordings; `None` takes the unit of the domain.
    pub unit: Option<f64>,
    /// Lowest and highest frequency that count for the velocity, in Hz.
    pub band_hz: [f64; 2],
}

impl SeveritySettings {
    /// Returns the m/s² in one unit, from the settings or from the manifest.
    fn unit(&self, manifest: Option<&Unit>) -> Result<f64> {
        match (self.unit, manifest, manifest.and_then(Unit::acceleration)) {
            (Some(given), Some(name), Some(known)) if (given / known - 1.0).abs() > 1e-4 => bail!(
                "`unit`: {given} m/s² to the unit, but the manifest's unit column says {name}; \
                 leave `unit` out, or correct the manifest"
            ),
            (Some(given), ..) => Ok(given),
            (None, _, Some(known)) => Ok(known),
            (None, Some(name), None) => bail!(
                "`limits`: the manifest's unit, {name}, is no acceleration; give the m/s² that \
                 one of it stands for with `unit`, or counts their full scale in the manifest"
            ),
            (None, None, None) => bail!(
                "`limits`: needs the unit of the recordings; give `unit`, or fill the \
                 manifest's unit column"
            ),
        }
    }

    /// Returns the parameters for a front end and the manifest's unit.
    pub fn parameters(
        &self,
        front_end: &FrontEndSettings,
        manifest: Option<&Unit>,
    ) -> Result<SeverityParameters> {
        let unit = self.unit(manifest)?;
        let [low, high] = self.band_hz;
        let bin_hz = front_end.rate_hz / front_end.fft_len as f64;
        let lowest = f64::from(format::SEVERITY_BINS) * bin_hz;
        if low < lowest {
            bail!(
                "`band_hz` {low},{high}: a {}-point FFT at {} Hz tells frequencies apart \
                 from {lowest:.1} Hz on, which is the least that the band can begin at; fit with \
                 a longer `fft_len`, record at a lower rate, or give `band_hz` {:.1},{high}",
                front_end.fft_len,
                front_end.rate_hz,
                (10.0 * lowest).ceil() / 10.0
            );
        }
        if high > 0.5 * front_end.rate_hz {
            bail!(
                "`band_hz` {low},{high}: recordings at {} Hz have nothing above {} Hz",
                front_end.rate_hz,
                0.5 * front_end.rate_hz
            );
        }
        let largest = f64::from(format::MAX_VELOCITY);
        if self.limits[2] > largest || unit > f64::from(format::MAX_UNIT) {
            bail!("`limits`, `unit`: at most {largest} mm/s and {} m/s²", format::MAX_UNIT);
        }
        Ok(SeverityParameters {
            low_hz: low as f32,
            high_hz: high as f32,
            unit: unit as f32,
            limits: self.limits.map(|limit| limit as f32),
        })
    }
}

//! A finding as one line of text, for a serial port, RTT or a file, with a checksum at its end.
//!
//! ```text
//! rb1 report 14 label=1:InnerRace p=0,1000,0 gate=-48.12,-9.50 ll=-3.20,-8.00 … crc=1a2b3c4d
//! ```
//!
//! `docs/report-lines.md` specifies the lines, and `rebearing watch` and `rebearing emulate` read
//! them. They are words and decimal numbers, so that people can search and read them without a tool.
//! They have a checksum, because a line that lost a digit on its way would otherwise still be valid.
//! They are written digit by digit, because `core` formats floats with code that can panic.

mod about;
mod line;

use core::fmt::{self, Write};

use crate::model::{AnyModel, Body, Decimal, Numbers, Places};
use crate::monitor::{AnyClassification, AnyFinding};
use crate::operation::alarm::AlarmState;
use line::{CRC, Checked};

pub use crate::model::DECIBELS_OFFSET;
pub use about::{EndLine, ModelLine, MonitorLine};

/// The first word of every line; the version of the format is in it.
pub(crate) const MARK: &str = "rb1";

/// CRC-32 (ISO-HDLC, as in zlib) of the part of a line before ` crc=`.
pub fn checksum(line: &[u8]) -> u32 {
    CRC.checksum(line)
}

/// The finding of a window as a line. `Display` writes it, without an end of line.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::operation::ReportLine;
/// use rebearing::{AnyMonitor, Model, Monitor, SensorFault};
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let finding = monitor.discard(SensorFault::LostSamples);
/// let line = ReportLine::new(&model, &finding);
/// assert_eq!(line.to_string(), "rb1 report 0 fault=lost_samples crc=28ded0ab");
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReportLine<'a, 'm, B: Body<'m>, const AXES: usize, const CLASSES: usize> {
    model: &'a AnyModel<'m, B>,
    finding: &'a AnyFinding<B::Numbers, AXES, CLASSES>,
    alarm: Option<&'a AlarmState>,
    drift: Option<bool>,
    features: Option<&'a [<B::Numbers as Numbers>::Feature]>,
    exact: bool,
}

impl<'a, 'm, B: Body<'m>, const AXES: usize, const CLASSES: usize>
    ReportLine<'a, 'm, B, AXES, CLASSES>
{
    /// The line of a finding, by the model in use.
    pub fn new(
        model: &'a AnyModel<'m, B>,
        finding: &'a AnyFinding<B::Numbers, AXES, CLASSES>,
    ) -> Self {
        Self { model, finding, alarm: None, drift: None, features: None, exact: false }
    }

    /// Adds the state of the alarm after the finding.
    #[must_use]
    pub fn alarm(self, alarm: &'a AlarmState) -> Self {
        Self { alarm: Some(alarm), ..self }
    }

    /// Adds whether the drift watch asks for a new adaptation; `None` adds nothing.
    #[must_use]
    pub fn drift(self, raised: Option<bool>) -> Self {
        Self { drift: raised, ..self }
    }

    /// Adds the spectrum, from [`AnyMonitor::features`](crate::AnyMonitor::features) of this window.
    #[must_use]
    pub fn features(self, features: &'a [<B::Numbers as Numbers>::Feature]) -> Self {
        Self { features: Some(features), ..self }
    }

    /// Adds the exact bits of all numbers, to compare two processors.
    #[must_use]
    pub fn exact(self) -> Self {
        Self { exact: true, ..self }
    }

    /// Writes the line, without an end of line; fails only if `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let mut line = Checked::start(out, " report ")?;
        line.decimal(self.finding.index)?;
        match &self.finding.result {
            Ok(found) => self.found(&mut line, found)?,
            Err(fault) => {
                line.text(" fault=")?;
                line.text(fault.name())?;
            }
        }
        if let Some(alarm) = self.alarm {
            line.alarm(self.model, alarm)?;
        }
        if let Some(raised) = self.drift {
            line.text(if raised { " drift=1" } else { " drift=0" })?;
        }
        if let (Ok(found), Some(features)) = (&self.finding.result, self.features) {
            self.bands(&mut line, found, features)?;
        }
        let level = self.alarm.and_then(|alarm| alarm.level).map(u32::from);
        // A sensor fault has no numbers, but the alarm may have a level.
        if self.exact && (self.finding.result.is_ok() || level.is_some()) {
            line.text(" bits=")?;
            match &self.finding.result {
                Ok(found) => bits(&mut line, found)?,
                Err(_) => line.text("-/-/-/-")?,
            }
            line.text("/")?;
            line.word(level)?;
        }
        line.end()
    }

    fn found(
        &self,
        line: &mut Checked<'_>,
        found: &AnyClassification<B::Numbers, AXES, CLASSES>,
    ) -> fmt::Result {
        line.text(" label=")?;
        line.label(self.model, found.label)?;
        line.list(" p=", &found.posterior, |line, p| line.decimal(B::Numbers::permille(*p)))?;
        let body = self.model.body();
        for (name, value, least) in [
            (" gate=", found.gate_log_likelihood, body.gate_log_likelihood_min()),
            (" ll=", found.log_likelihood, Some(body.log_likelihood_min())),
        ] {
            if let (Some(value), Some(least)) = (value, least) {
                line.list(name, &[value, least], |line, nats| {
                    line.fixed(B::Numbers::nats(*nats, Places::Two), Places::Two)
                })?;
            }
        }
        line.list(" rms=", &found.statistics, |line, axis| {
            line.fixed(B::Numbers::rms_decimal(axis, Places::Six), Places::Six)
        })?;
        if let Some(severity) = &found.severity {
            line.text(" zone=")?;
            line.text(severity.zone.name())?;
            line.list(" velocity=", &severity.velocity, |line, axis| {
                line.fixed(Decimal::of_magnitude(*axis, Places::Three), Places::Three)
            })?;
        }
        Ok(())
    }

    /// Writes the mean square of each band in Hz in decibels, a byte each, axis by axis.
    fn bands(
        &self,
        line: &mut Checked<'_>,
        found: &AnyClassification<B::Numbers, AXES, CLASSES>,
        features: &[<B::Numbers as Numbers>::Feature],
    ) -> fmt::Result {
        let front_end = self.model.front_end();
        line.text(" bands=")?;
        for (axis, statistics) in found.statistics.iter().enumerate() {
            line.text(if axis == 0 { "" } else { "," })?;
            let first = axis * front_end.axis_features();
            for feature in first..first + front_end.bands() {
                let byte = self.model.body().decibels(feature, features, statistics);
                line.hexadecimal(u32::from(byte), 2)?;
            }
        }
        Ok(())
    }
}

impl<'m, B: Body<'m>, const AXES: usize, const CLASSES: usize> fmt::Display
    for ReportLine<'_, 'm, B, AXES, CLASSES>
{
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

/// Writes the exact bits in hexadecimal words: both log-likelihoods, posterior, statistics and
/// velocity, with a slash between and a dash for a number that is absent.
fn bits<N: Numbers, const AXES: usize, const CLASSES: usize>(
    line: &mut Checked<'_>,
    found: &AnyClassification<N, AXES, CLASSES>,
) -> fmt::Result {
    let likelihoods = [found.gate_log_likelihood, found.log_likelihood];
    line.list("", &likelihoods, |line, nats| line.word(nats.map(N::log_likelihood_bits)))?;
    line.list("/", &found.posterior, |line, p| line.word(Some(N::probability_bits(*p))))?;
    line.text("/")?;
    for (axis, statistics) in found.statistics.iter().enumerate() {
        let bits = N::statistics_bits(statistics);
        line.list(if axis == 0 { "" } else { "," }, &bits, |line, bits| line.word(Some(*bits)))?;
    }
    match &found.severity {
        Some(severity) => {
            line.list("/", &severity.velocity, |line, axis| line.word(Some(axis.to_bits())))?;
        }
        None => line.text("/-")?,
    }
    Ok(())
}

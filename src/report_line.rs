//! A report as one line of text, for a serial port, RTT or a file, with a checksum at its end.
//!
//! ```text
//! rb1 report 14 label=1:InnerRace p=0,1000,0 gate=-48.12,-9.50 ll=-3.20,-8.00 … crc=1a2b3c4d
//! ```
//!
//! `docs/report-lines.md` specifies the lines; `rebearing watch` reads them. Words and decimal
//! numbers, so that they can be searched and read without a tool; a checksum, because a line that
//! lost a digit on its way would otherwise still be one. Written digit by digit: `core` formats
//! floats with code that can panic.

use core::fmt::{self, Write};

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

use crate::decision::{Alarm, ONE, State, Verdict};
use crate::label::Label;
use crate::model::{FrontEnd, Model};
use crate::monitor::{Finding, Report};

/// What every line begins with: the version of the format is in it.
pub const MARK: &str = "rb1";
/// What the byte of a band stands for: decibels of its mean square, this many added.
pub const DECIBELS_OFFSET: f32 = 128.0;

/// 10/ln 10: a natural logarithm to decibels.
const DECIBELS: f32 = 4.342_945;
const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// CRC-32 (ISO-HDLC, as in zlib) of what stands before ` crc=` in a line.
pub fn checksum(line: &[u8]) -> u32 {
    CRC.checksum(line)
}

/// The result of a decision window as a line. `Display` writes it, without an end of line.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::report_line::ReportLine;
/// use rebearing::{Model, Monitor, SensorFault};
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let report = monitor.discard(SensorFault::LostSamples);
/// let line =
///     ReportLine { model: &model, report: &report, verdict: None, drift: None, features: None };
/// assert_eq!(line.to_string(), "rb1 report 0 fault=lost_samples crc=28ded0ab");
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ReportLine<'a, const AXES: usize, const CLASSES: usize> {
    /// The model in use.
    pub model: &'a Model<'a>,
    /// The report.
    pub report: &'a Report<AXES, CLASSES>,
    /// What was decided after it, by those who decide.
    pub verdict: Option<&'a Verdict>,
    /// Whether the drift watch asks for a new adaptation; `None` without one.
    pub drift: Option<bool>,
    /// [`Monitor::features`](crate::Monitor::features) of this window, for the spectrum.
    pub features: Option<&'a [f32]>,
}

/// What a reader needs to know of the model, as a line: sent once, at the start.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelLine<'a>(pub &'a Model<'a>);

impl<const AXES: usize, const CLASSES: usize> ReportLine<'_, AXES, CLASSES> {
    /// Writes the line, without an end of line; fails only where `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let mut line = Checked::start(out, " report ")?;
        line.decimal(self.report.index)?;
        match &self.report.finding {
            Ok(finding) => self.finding(&mut line, finding)?,
            Err(fault) => {
                line.text(" fault=")?;
                line.text(fault.name())?;
            }
        }
        if let Some(verdict) = self.verdict {
            line.verdict(self.model, verdict)?;
        }
        if let Some(raised) = self.drift {
            line.text(if raised { " drift=1" } else { " drift=0" })?;
        }
        if let (Ok(finding), Some(features)) = (&self.report.finding, self.features) {
            self.bands(&mut line, finding, features)?;
        }
        line.end()
    }

    fn finding(&self, line: &mut Checked<'_>, finding: &Finding<AXES, CLASSES>) -> fmt::Result {
        line.text(" label=")?;
        line.label(self.model, finding.label)?;
        line.list(" p=", &finding.posterior, |line, p| line.decimal((1e3 * p + 0.5) as u32))?;
        let gate = self.model.gate().map_or(0.0, |gate| gate.log_likelihood_min);
        for (name, value, least) in [
            (" gate=", finding.gate_log_likelihood, gate),
            (" ll=", finding.log_likelihood, self.model.log_likelihood_min()),
        ] {
            if let Some(value) = value {
                line.list(name, &[value, least], |line, nats| line.fixed(*nats, Places::Two))?;
            }
        }
        line.list(" rms=", &finding.statistics, |line, axis| line.fixed(axis.rms, Places::Six))?;
        if let Some(severity) = &finding.severity {
            line.text(" zone=")?;
            line.text(severity.zone.name())?;
            let three = Places::Three;
            line.list(" velocity=", &severity.velocity, |line, axis| line.fixed(*axis, three))?;
        }
        Ok(())
    }

    /// The mean square of each band in Hz in decibels, a byte each, axis by axis.
    fn bands(
        &self,
        line: &mut Checked<'_>,
        finding: &Finding<AXES, CLASSES>,
        features: &[f32],
    ) -> fmt::Result {
        let front_end = self.model.front_end();
        let per_axis = front_end.axis_features().max(1);
        let axes = features.chunks_exact(per_axis).zip(self.model.shift().chunks_exact(per_axis));
        let axes = axes.zip(self.model.scale().chunks_exact(per_axis)).zip(&finding.statistics);
        line.text(" bands=")?;
        for (axis, (((features, shift), scale), statistics)) in axes.enumerate() {
            line.text(if axis == 0 { "" } else { "," })?;
            let bands = features.iter().zip(shift).zip(scale).take(front_end.bands());
            for ((feature, shift), scale) in bands {
                // What `features::standardise` did, undone.
                let logarithm = feature / scale + shift + statistics.level;
                // A cast cuts to what a byte holds.
                let byte = (DECIBELS * logarithm + DECIBELS_OFFSET + 0.5) as u8;
                line.hexadecimal(u32::from(byte), 2)?;
            }
        }
        Ok(())
    }
}

impl<const AXES: usize, const CLASSES: usize> fmt::Display for ReportLine<'_, AXES, CLASSES> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

impl ModelLine<'_> {
    /// Writes the line, without an end of line; fails only where `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let Self(model) = self;
        let FrontEnd { rate_hz, axes, fft_len, hop, segments, band_edges, .. } = model.front_end();
        let mut line = Checked::start(out, " model bytes=")?;
        line.decimal(model.bytes().len() as u32)?;
        line.text(" rate=")?;
        line.fixed(*rate_hz, Places::Two)?;
        for (name, count) in
            [(" fft=", fft_len), (" hop=", hop), (" segments=", segments), (" axes=", axes)]
        {
            line.text(name)?;
            line.decimal(*count as u32)?;
        }
        line.text(" classes=")?;
        for class in 0..model.classes() {
            line.text(if class == 0 { "" } else { "," })?;
            line.name(model.class_name(class).unwrap_or("?"))?;
        }
        if let Some(healthy) = model.healthy() {
            line.text(" healthy=")?;
            line.decimal(healthy as u32)?;
        }
        line.list(" edges=", band_edges, |line, bin| line.decimal(*bin))?;
        line.end()
    }
}

impl fmt::Display for ModelLine<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

/// Digits behind the point.
#[derive(Clone, Copy)]
enum Places {
    Two = 100,
    Three = 1000,
    Six = 1_000_000,
}

/// A line in the making, and the checksum so far.
///
/// Over `dyn`, and its parts never inlined: a line has many of them and is not written often, so
/// that size counts for more than speed.
struct Checked<'w> {
    out: &'w mut dyn Write,
    digest: Digest<'static, u32, Table<1>>,
}

impl<'w> Checked<'w> {
    fn start(out: &'w mut dyn Write, kind: &str) -> Result<Self, fmt::Error> {
        let mut line = Self { out, digest: CRC.digest() };
        line.text(MARK)?;
        line.text(kind)?;
        Ok(line)
    }

    fn end(mut self) -> fmt::Result {
        let checksum = self.digest.clone().finalize();
        self.text(" crc=")?;
        self.hexadecimal(checksum, 8)
    }

    #[inline(never)]
    fn text(&mut self, text: &str) -> fmt::Result {
        self.digest.update(text.as_bytes());
        self.out.write_str(text)
    }

    fn ascii(&mut self, byte: u8) -> fmt::Result {
        self.digest.update(&[byte]);
        self.out.write_char(char::from(byte))
    }

    fn decimal(&mut self, number: u32) -> fmt::Result {
        self.digits(number, 1)
    }

    /// A decimal number with at least so many digits.
    #[inline(never)]
    fn digits(&mut self, mut number: u32, least: usize) -> fmt::Result {
        let mut digits = [b'0'; 10];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            if number == 0 && count >= least {
                break;
            }
            // One digit, so nothing is cut off.
            *digit += (number % 10) as u8;
            number /= 10;
            count += 1;
        }
        digits.iter().skip(10 - count.min(10)).try_for_each(|digit| self.ascii(*digit))
    }

    /// A number, rounded; `nan` for what is none, and 4294967295 and a bit for all that is larger.
    #[inline(never)]
    fn fixed(&mut self, number: f32, places: Places) -> fmt::Result {
        if number.is_nan() {
            return self.text("nan");
        }
        if number < 0.0 {
            self.text("-")?;
        }
        let (unit, least) = match places {
            Places::Two => (places as u32, 2),
            Places::Three => (places as u32, 3),
            Places::Six => (places as u32, 6),
        };
        let number = number.abs() + 0.5 / unit as f32;
        // Casts round down, and cut off.
        let whole = number as u32;
        let rest = ((number - whole as f32) * unit as f32) as u32;
        self.decimal(whole)?;
        self.text(".")?;
        self.digits(rest.min(unit - 1), least)
    }

    #[inline(never)]
    fn hexadecimal(&mut self, number: u32, digits: u32) -> fmt::Result {
        for place in (0..digits).rev() {
            let digit = (number >> ((4 * place) & 31) & 15) as u8;
            self.ascii(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 })?;
        }
        Ok(())
    }

    /// `name`, and the items with commas between.
    fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut item: impl FnMut(&mut Self, &T) -> fmt::Result,
    ) -> fmt::Result {
        self.text(name)?;
        for (index, each) in items.iter().enumerate() {
            self.text(if index == 0 { "" } else { "," })?;
            item(self, each)?;
        }
        Ok(())
    }

    #[inline(never)]
    fn label(&mut self, model: &Model<'_>, label: Label) -> fmt::Result {
        match label {
            Label::Class(class) => {
                self.decimal(class as u32)?;
                self.text(":")?;
                self.name(model.class_name(class).unwrap_or("?"))
            }
            Label::Unknown => self.text("unknown"),
            Label::UnknownFault => self.text("unknown_fault"),
        }
    }

    /// A class name; what would end a word or a line as `%` and two digits.
    #[inline(never)]
    fn name(&mut self, name: &str) -> fmt::Result {
        for character in name.chars() {
            match character {
                '\0'..=' ' | '%' | ',' | ':' | '=' | '\x7f' => {
                    self.text("%")?;
                    self.hexadecimal(u32::from(character), 2)?;
                }
                // Their first byte in UTF-8 is C2, and their second their number.
                '\u{80}'..='\u{9f}' => {
                    self.text("%c2%")?;
                    self.hexadecimal(u32::from(character), 2)?;
                }
                _ => {
                    self.digest.update(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.out.write_char(character)?;
                }
            }
        }
        Ok(())
    }

    fn verdict(&mut self, model: &Model<'_>, verdict: &Verdict) -> fmt::Result {
        self.text(" state=")?;
        self.text(verdict.state.name())?;
        if let State::SensorFault(fault) = verdict.state {
            self.text(":")?;
            self.text(fault.name())?;
        }
        if let Some(level) = verdict.level {
            self.text(" level=")?;
            self.fixed(f32::from(level) / f32::from(ONE), Places::Three)?;
        }
        if let Some(Alarm { label, active, acknowledged }) = verdict.alarm {
            self.text(" alarm=")?;
            self.label(model, label)?;
            self.text(if active { ",on" } else { ",latched" })?;
            self.text(if acknowledged { ",acknowledged" } else { ",new" })?;
        }
        Ok(())
    }
}

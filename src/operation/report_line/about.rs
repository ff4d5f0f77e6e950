//! The lines around the reports: they say what runs, and how it ended.

use core::fmt::{self, Write};

use super::line::Checked;
use crate::model::{AnyModel, Body, Decimal, Places};
use crate::monitor::{Capacities, Samples};
use crate::operation::drift::DriftWatch;
use crate::signal::FrontEnd;

/// The facts of a model that a reader of the lines needs. Sent as one line at the start.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct ModelLine<'a, 'm, B>(pub &'a AnyModel<'m, B>);

/// The type of a firmware's monitor and its RAM, as a line.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct MonitorLine {
    /// The monitor's capacities.
    pub capacities: Capacities,
    /// Bytes of RAM that the monitor takes.
    pub ram: usize,
}

/// The number of findings and the counts of the drift watch. It is the last line of a run that
/// ends.
///
/// ```
/// use rebearing::operation::report_line::EndLine;
///
/// let end = EndLine { findings: 3, drift: None };
/// assert_eq!(end.to_string(), "rb1 end findings=3 crc=304eccbb");
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct EndLine<'a, 'm> {
    /// Number of findings in the run.
    pub findings: u32,
    /// The drift watch, if the model has a reference.
    pub drift: Option<&'a DriftWatch<'m>>,
}

impl<'m, B: Body<'m>> ModelLine<'_, 'm, B> {
    /// Writes the line, without an end of line; fails only if `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let Self(model) = self;
        let FrontEnd { rate_hz, axes, fft_len, hop, segments, band_edges, .. } = model.front_end();
        let mut line = Checked::start(out, " model bytes=")?;
        line.decimal(model.bytes().len() as u32)?;
        line.text(" rate=")?;
        line.fixed(Decimal::of_magnitude(*rate_hz, Places::Two), Places::Two)?;
        line.counts(&[(" fft=", *fft_len), (" hop=", *hop), (" segments=", *segments)])?;
        line.counts(&[(" axes=", *axes)])?;
        line.text(" classes=")?;
        for class in 0..model.classes() {
            line.text(if class == 0 { "" } else { "," })?;
            line.name(model.class_name(class).unwrap_or("?"))?;
        }
        if let Some(healthy) = model.healthy() {
            line.counts(&[(" healthy=", healthy)])?;
        }
        line.list(" edges=", band_edges, |line, bin| line.decimal(*bin))?;
        line.end()
    }
}

impl<'m, B: Body<'m>> fmt::Display for ModelLine<'_, 'm, B> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

impl MonitorLine {
    /// Writes the line, without an end of line; fails only if `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let Capacities { encoding, samples, fft, axes, dims, components, classes } =
            self.capacities;
        let mut line = Checked::start(out, " monitor model=")?;
        line.text(encoding.name())?;
        line.text(match samples {
            Samples::Floats => " samples=f32",
            Samples::Counts => " samples=i16",
        })?;
        line.counts(&[(" fft=", fft), (" axes=", axes), (" features=", dims)])?;
        line.counts(&[(" components=", components), (" classes=", classes), (" ram=", self.ram)])?;
        line.end()
    }
}

impl fmt::Display for MonitorLine {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

impl EndLine<'_, '_> {
    /// Writes the line, without an end of line; fails only if `out` does.
    pub fn write_to(&self, out: &mut impl Write) -> fmt::Result {
        let mut line = Checked::start(out, " end findings=")?;
        line.decimal(self.findings)?;
        if let Some(watch) = self.drift {
            let counts = [watch.blocks(), watch.drifted(), watch.windows()];
            line.list(" drift=", &counts, |line, count| line.decimal(*count))?;
        }
        line.end()
    }
}

impl fmt::Display for EndLine<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_to(f)
    }
}

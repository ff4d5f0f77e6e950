//! A recording of the host run through a monitor; each finding is printed as a report line.
//!
//! The samples come from a file of the host, little-endian throughout: for each stretch the number
//! of its frames as u32, then the frames, each one sample of every axis as f32 or i16. The command
//! line is `qemu f32|i16 SHAFT FILE`. SHAFT has the bits of the shaft speed in turns per second, an
//! f32 in hexadecimal; zero if it is not known. The lines carry the exact bits of all numbers, so
//! that `rebearing emulate` can compare them with the host's.

use core::fmt::Write as _;

use rebearing::acquisition::Sample;
use rebearing::monitor::Samples;
use rebearing::operation::report_line::{EndLine, MonitorLine};
use rebearing::operation::{DriftWatch, ModelLine, ReportLine};
use rebearing::{Alarm, AnyMonitor, ModelError};

use crate::line::Line;
use crate::semihosting::{Console, File, command_line};

/// What a board has room for.
#[cfg(fpu)]
mod room {
    use rebearing::model::format::MAX_AVERAGE;

    /// Windows that an alarm averages.
    pub(super) const WINDOWS: usize = MAX_AVERAGE as usize;
    /// Bytes read from the host at a time: whole frames of one to three axes.
    pub(super) const CHUNK: usize = 12 * 1024;
    /// Longest command line.
    pub(super) const COMMAND_LINE: usize = 4096;
}

/// What a board with 16 KiB of RAM has room for.
#[cfg(not(fpu))]
mod room {
    pub(super) const WINDOWS: usize = 16;
    pub(super) const CHUNK: usize = 192;
    pub(super) const COMMAND_LINE: usize = 256;
}

use room::{CHUNK, COMMAND_LINE, WINDOWS};

/// Why the run ended without a result.
pub enum Failure {
    /// The command line is not as it should be.
    CommandLine,
    /// The host cannot open the file.
    CannotOpen,
    /// The file has no stretch.
    NoStretch,
    /// The file ends inside a stretch.
    CutShort,
    /// The model is refused.
    Model(ModelError),
    /// An i16 model, and samples that are f32.
    NotCounts,
    /// Points of the FFT that the firmware has no monitor for.
    Points(usize),
    /// Axes that the firmware has no monitor for.
    Axes(usize),
}

impl From<ModelError> for Failure {
    fn from(error: ModelError) -> Self {
        Self::Model(error)
    }
}

impl Failure {
    /// Prints what went wrong.
    pub fn explain(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("error: ");
        match self {
            Self::CommandLine => line.text("the command line is: qemu f32|i16 SHAFT FILE"),
            Self::CannotOpen => line.text("cannot open the file of samples"),
            Self::NoStretch => line.text("the file of samples is empty"),
            Self::CutShort => line.text("the file of samples ends inside a stretch"),
            Self::NotCounts => line.text("an i16 model takes i16 samples"),
            Self::Points(points) => {
                line.text("this firmware has no monitor of ").decimal(*points).text(" points")
            }
            Self::Axes(axes) => {
                line.text("this firmware has no monitor of ").decimal(*axes).text(" axes")
            }
            Self::Model(error) => {
                // A line takes whatever is written to it.
                let _ = write!(line, "model refused: {error}");
                &mut line
            }
        };
        line.end();
    }
}

/// A sample as it stands in the file.
pub trait Raw: Sample {
    /// The sample in as many bytes as it has; the caller rules out any other number of them.
    fn decode(bytes: &[u8]) -> Self;
}

impl Raw for f32 {
    fn decode(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0.0, Self::from_le_bytes)
    }
}

impl Raw for i16 {
    fn decode(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, Self::from_le_bytes)
    }
}

/// A recording to run through a monitor.
pub struct Recording<'c> {
    console: &'c Console,
    file: File,
    /// The type of its samples.
    pub samples: Samples,
    /// Turns per second; zero if it is not known.
    shaft_hz: f32,
}

impl<'c> Recording<'c> {
    /// The recording that the command line names.
    pub fn open(console: &'c Console) -> Result<Self, Failure> {
        let mut buffer = [0; COMMAND_LINE];
        let words = command_line(&mut buffer).ok_or(Failure::CommandLine)?;
        // The name of the file is the rest of the line: it may contain blanks.
        let mut words = words.splitn(4, |byte| *byte == b' ').skip(1);
        let samples = match words.next() {
            Some(b"f32") => Samples::Floats,
            Some(b"i16") => Samples::Counts,
            _ => return Err(Failure::CommandLine),
        };
        let (shaft, name) = words.next().zip(words.next()).ok_or(Failure::CommandLine)?;
        let shaft_hz = shaft_speed(shaft).ok_or(Failure::CommandLine)?;
        let file = File::open(name).ok_or(Failure::CannotOpen)?;
        Ok(Self { console, file, samples, shaft_hz })
    }

    /// Runs the whole recording through `monitor` and prints each finding.
    pub fn run<'m, M, const AXES: usize, const CLASSES: usize>(
        &self,
        monitor: &mut M,
    ) -> Result<(), Failure>
    where
        M: AnyMonitor<'m, AXES, CLASSES>,
        M::Sample: Raw,
    {
        // A speed that is zero, or that the model cannot be used at, is a fault in every finding.
        let _ = monitor.set_shaft_speed(self.shaft_hz);
        let model = *monitor.model();
        let mut alarm = Alarm::<CLASSES, WINDOWS>::of_model(&model)?;
        let mut watch = model.drift().map(DriftWatch::new);
        let line = &mut Line::new(self.console);
        // A line takes whatever is written to it, here and below.
        let _ = ModelLine(&model).write_to(line);
        line.end();
        let _ = MonitorLine { capacities: M::CAPACITIES, ram: size_of::<M>() }.write_to(line);
        line.end();

        let (mut findings, mut stretches) = (0, 0_u32);
        while let Some(frames) = self.stretch_frames()? {
            // The samples of one stretch do not meet those of the next in a window.
            monitor.clear();
            stretches += 1;
            self.read_frames(frames, |sample| {
                let Some(finding) = monitor.push(sample) else { return };
                let state = alarm.update(&finding);
                if let Some(watch) = &mut watch {
                    watch.update(&finding);
                }
                let drift = watch.as_ref().map(DriftWatch::raised);
                let report = ReportLine::new(&model, &finding).alarm(&state).drift(drift).exact();
                let _ = report.write_to(line);
                line.end();
                findings += 1;
            })?;
        }
        if stretches == 0 {
            return Err(Failure::NoStretch);
        }
        let _ = EndLine { findings, drift: watch.as_ref() }.write_to(line);
        line.end();
        Ok(())
    }

    /// Frames in the next stretch; `None` at the end of the file.
    fn stretch_frames(&self) -> Result<Option<usize>, Failure> {
        match self.file.read(&mut [0; 4]) {
            Some(&[a, b, c, d]) => Ok(Some(u32::from_le_bytes([a, b, c, d]) as usize)),
            Some([]) => Ok(None),
            _ => Err(Failure::CutShort),
        }
    }

    /// Hands the next `frames` frames of the file to `take`.
    fn read_frames<S: Raw, const AXES: usize>(
        &self,
        mut frames: usize,
        mut take: impl FnMut([S; AXES]),
    ) -> Result<(), Failure> {
        let frame_size = size_of::<[S; AXES]>();
        let mut bytes = [0; CHUNK];
        while frames > 0 {
            let chunk = frames.min(CHUNK / frame_size);
            let buffer = bytes.get_mut(..chunk * frame_size);
            let filled = buffer.and_then(|buffer| self.file.read(buffer));
            let filled = filled.filter(|filled| filled.len() == chunk * frame_size);
            for frame in filled.ok_or(Failure::CutShort)?.chunks_exact(frame_size) {
                let mut samples = frame.chunks_exact(size_of::<S>()).map(S::decode);
                // The frame has AXES samples, so the zero is never asked for.
                take([(); AXES].map(|()| samples.next().unwrap_or(S::ZERO)));
            }
            frames -= chunk;
        }
        Ok(())
    }
}

/// The float whose bits eight hexadecimal digits give.
fn shaft_speed(digits: &[u8]) -> Option<f32> {
    let mut bits = 0_u32;
    for digit in digits {
        bits = bits << 4 | char::from(*digit).to_digit(16)?;
    }
    (digits.len() == 8).then_some(f32::from_bits(bits))
}

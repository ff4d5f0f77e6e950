//! Runs a host's recording through a monitor and prints each finding as a report line.
//!
//! The samples come from a file on the host, little-endian throughout. For each stretch it holds
//! the number of frames as u32, then the frames. A frame is one sample of every axis as f32 or i16.
//! The command line is `qemu f32|i16 SHAFT FILE`. SHAFT is the shaft speed in turns per second: the
//! bits of an f32 in hexadecimal, or zero if it is not known. The lines carry the exact bits of all
//! numbers, so `rebearing emulate` can compare them with the host's.

use core::fmt::Write as _;

use rebearing::acquisition::Sample;
use rebearing::monitor::Samples;
use rebearing::operation::report_line::{EndLine, MonitorLine};
use rebearing::operation::{DriftWatch, ModelLine, ReportLine};
use rebearing::{Alarm, AnyMonitor, ModelError};

use crate::line::Line;
use crate::semihosting::{Console, File, command_line};

/// Sizes for a board with a floating-point unit.
#[cfg(fpu)]
mod room {
    use rebearing::model::format::MAX_AVERAGE;

    /// Largest number of windows that an alarm averages.
    pub(super) const WINDOWS: usize = MAX_AVERAGE as usize;
    /// Bytes read from the host at a time: whole frames of one to three axes.
    pub(super) const CHUNK: usize = 12 * 1024;
    /// Longest command line.
    pub(super) const COMMAND_LINE: usize = 4096;
}

/// Sizes for a board with 16 KiB of RAM.
#[cfg(not(fpu))]
mod room {
    pub(super) const WINDOWS: usize = 16;
    pub(super) const CHUNK: usize = 192;
    pub(super) const COMMAND_LINE: usize = 256;
}

use room::{CHUNK, COMMAND_LINE, WINDOWS};

/// Why the run ended without a result.
pub enum Failure {
    /// The command line is malformed.
    CommandLine,
    /// The host cannot open the file.
    CannotOpen,
    /// The file has no stretch.
    NoStretch,
    /// The file ends inside a stretch.
    CutShort,
    /// The model is refused.
    Model(ModelError),
    /// The model is i16, but the samples are f32.
    NotCounts,
    /// The firmware has no monitor for this number of FFT points.
    Points(usize),
    /// The firmware has no monitor for this number of axes.
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
                // Writing to a line cannot fail.
                let _ = write!(line, "model refused: {error}");
                &mut line
            }
        };
        line.end();
    }
}

/// A sample type as stored in the file.
pub trait Raw: Sample {
    /// Decodes a sample. The caller makes sure that the number of bytes is right.
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
    /// Shaft speed in turns per second; zero if it is not known.
    shaft_hz: f32,
}

impl<'c> Recording<'c> {
    /// Opens the recording named in the command line.
    pub fn open(console: &'c Console) -> Result<Self, Failure> {
        let mut buffer = [0; COMMAND_LINE];
        let words = command_line(&mut buffer).ok_or(Failure::CommandLine)?;
        // The file name is the rest of the line, because it may contain blanks.
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
        // If the speed is zero, or the model cannot be used at it, every finding reports a fault.
        let _ = monitor.set_shaft_speed(self.shaft_hz);
        let model = *monitor.model();
        let mut alarm = Alarm::<CLASSES, WINDOWS>::of_model(&model)?;
        let mut watch = model.drift().map(DriftWatch::new);
        let line = &mut Line::new(self.console);
        // Writing to a line cannot fail, here and below.
        let _ = ModelLine(&model).write_to(line);
        line.end();
        let _ = MonitorLine { capacities: M::CAPACITIES, ram: size_of::<M>() }.write_to(line);
        line.end();

        let (mut findings, mut stretches) = (0, 0_u32);
        while let Some(frames) = self.stretch_frames()? {
            // No window mixes samples of one stretch with samples of the next.
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
                // The frame has AXES samples, so the zero is never used.
                take([(); AXES].map(|()| samples.next().unwrap_or(S::ZERO)));
            }
            frames -= chunk;
        }
        Ok(())
    }
}

/// The float with the bits given by eight hexadecimal digits.
fn shaft_speed(digits: &[u8]) -> Option<f32> {
    let mut bits = 0_u32;
    for digit in digits {
        bits = bits << 4 | char::from(*digit).to_digit(16)?;
    }
    (digits.len() == 8).then_some(f32::from_bits(bits))
}

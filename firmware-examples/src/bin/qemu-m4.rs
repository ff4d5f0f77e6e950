//! The monitor on QEMU's mps2-an386 (Cortex-M4F).
//!
//! The model lies in the MODEL region, put there by QEMU as probe-rs would put it on a board. The
//! samples come from a file of the host, little-endian throughout: for each segment the number of
//! its frames as u32, then the frames, each one sample of every axis as f32 or i16. The command
//! line is `qemu-m4 f32|i16 SHAFT FILE`, SHAFT the bits of the shaft speed in turns per second as an
//! f32 in hexadecimal, zero if it is not known. Each report is printed with the exact bits of its numbers, so
//! that `rebearing emulate` can compare them with the host's.

#![no_std]
#![no_main]

use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{COMMAND_LINE, Console, File, command_line, exit};
use firmware_examples::verdict;
use panic_never as _;
use rebearing::decision::Verdict;
use rebearing::model::format::{MAX_AVERAGE, MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};
use rebearing::window::Sample;
use rebearing::{Decision, Label, Model, ModelError, Monitor, Report, Severity, Statistics};

/// Room for every model that the format allows: one firmware for all of them.
const FFT: usize = 4096;
const DIMS: usize = MAX_AXES * MAX_BANDS;
const COMPONENTS: usize = MAX_COMPONENTS;
const CLASSES: usize = MAX_CLASSES;
const WINDOWS: usize = MAX_AVERAGE as usize;

/// Frames read from the host at a time.
const CHUNK: usize = 1024;

/// Why the run ended without a result.
enum Failure {
    NoCommandLine,
    NoSuchSample,
    CannotOpen,
    NoSegment,
    CutShort,
    Model(ModelError),
    Axes(usize),
}

/// A sample as it stands in the file.
trait Raw: Sample {
    const NAME: &str;
    /// The sample in as many bytes as it has; the caller rules out any other number of them.
    fn decode(bytes: &[u8]) -> Self;
}

impl Raw for f32 {
    const NAME: &str = "f32";
    fn decode(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0.0, Self::from_le_bytes)
    }
}

impl Raw for i16 {
    const NAME: &str = "i16";
    fn decode(bytes: &[u8]) -> Self {
        bytes.try_into().map_or(0, Self::from_le_bytes)
    }
}

#[entry]
fn main() -> ! {
    // Without a console there is nobody to tell, but the exit code still says that it failed.
    let Some(console) = Console::open() else { exit(Err(())) };
    let result = run(&console);
    if let Err(failure) = &result {
        explain(&mut Line::new(&console), failure);
    }
    exit(result.map_err(drop))
}

fn run(console: &Console) -> Result<(), Failure> {
    let mut buffer = [0; COMMAND_LINE];
    let words = command_line(&mut buffer).ok_or(Failure::NoCommandLine)?;
    // The name of the file is the rest of the line: it may contain blanks.
    let mut words = words.splitn(4, |byte| *byte == b' ').skip(1);
    let (sample, shaft) = words.next().zip(words.next()).ok_or(Failure::NoCommandLine)?;
    let shaft_hz = shaft_speed(shaft).ok_or(Failure::NoCommandLine)?;
    let name = words.next().ok_or(Failure::NoCommandLine)?;
    let model = Model::from_region(model_region()).map_err(Failure::Model)?;
    let file = File::open(name).ok_or(Failure::CannotOpen)?;
    match (sample, model.front_end().axes) {
        (b"f32", 1) => monitor::<f32, 1>(console, &model, shaft_hz, &file),
        (b"f32", 2) => monitor::<f32, 2>(console, &model, shaft_hz, &file),
        (b"f32", 3) => monitor::<f32, 3>(console, &model, shaft_hz, &file),
        (b"i16", 1) => monitor::<i16, 1>(console, &model, shaft_hz, &file),
        (b"i16", 2) => monitor::<i16, 2>(console, &model, shaft_hz, &file),
        (b"i16", 3) => monitor::<i16, 3>(console, &model, shaft_hz, &file),
        (b"f32" | b"i16", axes) => Err(Failure::Axes(axes)),
        _ => Err(Failure::NoSuchSample),
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

/// Runs the whole file through a monitor, printing each report.
fn monitor<S: Raw, const AXES: usize>(
    console: &Console,
    model: &Model<'_>,
    shaft_hz: f32,
    file: &File,
) -> Result<(), Failure> {
    type Generous<'m, S, const AXES: usize> = Monitor<'m, S, FFT, AXES, DIMS, COMPONENTS, CLASSES>;
    let mut monitor = Generous::<S, AXES>::new(*model).map_err(Failure::Model)?;
    // A speed that is zero, or that the model cannot be used at, is in every report as its fault.
    let _ = monitor.set_shaft_speed(shaft_hz);
    let mut decision = Decision::<CLASSES, WINDOWS>::of_model(model).map_err(Failure::Model)?;
    announce::<S>(&mut Line::new(console), AXES, Generous::<S, AXES>::RAM);

    let mut reports = 0;
    let mut segments = 0;
    while let Some(frames) = segment_frames(file)? {
        // The samples of one segment do not meet those of the next in a window.
        monitor.clear();
        segments += 1;
        read_frames(file, frames, |sample| {
            if let Some(report) = monitor.push(sample) {
                print(&mut Line::new(console), &report, &decision.report(&report));
                reports += 1;
            }
        })?;
    }
    if segments == 0 {
        return Err(Failure::NoSegment);
    }
    Line::new(console).text("done reports=").decimal(reports).end();
    Ok(())
}

/// Frames in the next segment; `None` at the end of the file.
fn segment_frames(file: &File) -> Result<Option<usize>, Failure> {
    match file.read(&mut [0; 4]) {
        Some(&[a, b, c, d]) => Ok(Some(u32::from_le_bytes([a, b, c, d]) as usize)),
        Some([]) => Ok(None),
        _ => Err(Failure::CutShort),
    }
}

/// Hands the next `frames` frames of the file to `take`.
fn read_frames<S: Raw, const AXES: usize>(
    file: &File,
    mut frames: usize,
    mut take: impl FnMut([S; AXES]),
) -> Result<(), Failure> {
    let frame_size = size_of::<[S; AXES]>();
    let mut bytes = [[0; CHUNK]; size_of::<[f32; MAX_AXES]>()];
    while frames > 0 {
        let chunk = frames.min(CHUNK);
        let buffer = bytes.as_flattened_mut().get_mut(..chunk * frame_size);
        let filled = buffer.and_then(|buffer| file.read(buffer)).ok_or(Failure::CutShort)?;
        if filled.len() != chunk * frame_size {
            return Err(Failure::CutShort);
        }
        for frame in filled.chunks_exact(frame_size) {
            let mut samples = frame.chunks_exact(size_of::<S>()).map(S::decode);
            // The frame has AXES samples, so the zero is never asked for.
            take([(); AXES].map(|()| samples.next().unwrap_or(S::ZERO)));
        }
        frames -= chunk;
    }
    Ok(())
}

/// The monitor's type and the RAM it takes.
fn announce<S: Raw>(line: &mut Line<'_>, axes: usize, ram: usize) {
    line.text("monitor sample=").text(S::NAME);
    let sizes = [
        (" fft=", FFT),
        (" axes=", axes),
        (" dims=", DIMS),
        (" components=", COMPONENTS),
        (" classes=", CLASSES),
        (" ram=", ram),
    ];
    for (name, size) in sizes {
        line.text(name).decimal(size);
    }
    line.end();
}

fn print<const AXES: usize>(
    line: &mut Line<'_>,
    report: &Report<AXES, CLASSES>,
    verdict: &Verdict,
) {
    line.text("report ").decimal(report.index as usize);
    match &report.finding {
        Ok(finding) => {
            match finding.label {
                Label::Class(class) => line.text(" class=").decimal(class),
                Label::Unknown => line.text(" unknown"),
                Label::UnknownFault => line.text(" unknown_fault"),
            };
            optional(line.text(" gate_log_likelihood="), finding.gate_log_likelihood);
            optional(line.text(" log_likelihood="), finding.log_likelihood);
            line.text(" posterior=");
            for (class, probability) in finding.posterior.iter().enumerate() {
                line.text(if class == 0 { "" } else { "," }).bits(*probability);
            }
            line.text(" statistics=");
            for (axis, statistics) in finding.statistics.iter().enumerate() {
                let Statistics { level, rms, kurtosis, crest } = *statistics;
                line.text(if axis == 0 { "" } else { ";" }).bits(level);
                for number in [rms, kurtosis, crest] {
                    line.text(",").bits(number);
                }
            }
            if let Some(Severity { velocity, zone }) = finding.severity {
                line.text(" severity=").text(zone.name());
                for axis in velocity {
                    line.text(",").bits(axis);
                }
            }
        }
        Err(fault) => {
            line.text(" sensor_fault ").text(fault.name());
        }
    }
    verdict::print(line, verdict);
    line.end();
}

/// The bits of a number, or a dash for one that was not computed.
fn optional(line: &mut Line<'_>, number: Option<f32>) {
    match number {
        Some(number) => line.bits(number),
        None => line.text("-"),
    };
}

fn explain(line: &mut Line<'_>, failure: &Failure) {
    line.text("error: ");
    match failure {
        Failure::NoCommandLine => line.text("the command line is: qemu-m4 f32|i16 SHAFT FILE"),
        Failure::NoSuchSample => line.text("the samples are f32 or i16"),
        Failure::CannotOpen => line.text("cannot open the file of samples"),
        Failure::NoSegment => line.text("the file of samples is empty"),
        Failure::CutShort => line.text("the file of samples ends inside a segment"),
        Failure::Axes(axes) => {
            line.text("the model has ").decimal(*axes).text(" axes, this firmware one to three")
        }
        Failure::Model(error) => {
            line.text("model refused: ");
            // A line takes whatever is written to it.
            let _ = write!(line, "{error}");
            line.text("")
        }
    };
    line.end();
}

firmware_examples::semihosting_faults!();

//! The integer monitor on QEMU's microbit (Cortex-M0, 16 KiB of RAM).
//!
//! The model lies in the MODEL region, put there by QEMU as probe-rs would put it on a board. The
//! samples come from a file of the host, little-endian throughout: for each segment the number of
//! its frames as u32, then the frames, each one sample of every axis as i16. The command line is
//! `qemu-m0 FILE`. Each report is printed with its numbers as they are, in hexadecimal, so that the
//! host can compare them with its own.
//!
//! Nothing here is a floating-point operation, and a test looks into the ELF file to see that.

#![no_std]
#![no_main]

use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, File, command_line, exit};
use firmware_examples::verdict;
use panic_never as _;
use rebearing::decision::Verdict;
use rebearing::drift::DriftWatch;
use rebearing::integer::{IntegerModel, IntegerMonitor, IntegerReport, IntegerStatistics};
use rebearing::{Decision, Label, ModelError};

/// Capacities that leave room for a stack in 16 KiB.
const DIMS: usize = 64;
const COMPONENTS: usize = 40;
const CLASSES: usize = 16;
const WINDOWS: usize = 16;

/// Bytes read from the host at a time: whole frames of one to three axes.
const CHUNK: usize = 192;
/// Longest command line.
const COMMAND_LINE: usize = 256;

/// Why the run ended without a result.
enum Failure {
    NoCommandLine,
    CannotOpen,
    NoSegment,
    CutShort,
    Model(ModelError),
    Shape,
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
    let name = words.splitn(2, |byte| *byte == b' ').nth(1).ok_or(Failure::NoCommandLine)?;
    let model = IntegerModel::from_region(model_region()).map_err(Failure::Model)?;
    let file = File::open(name).ok_or(Failure::CannotOpen)?;
    match (model.front_end().fft_len, model.front_end().axes) {
        (256, 1) => monitor::<256, 1>(console, &model, &file),
        (512, 1) => monitor::<512, 1>(console, &model, &file),
        (256, 3) => monitor::<256, 3>(console, &model, &file),
        _ => Err(Failure::Shape),
    }
}

/// Runs the whole file through a monitor, printing each report. Never inlined, so that only one of
/// the monitors takes stack.
#[inline(never)]
fn monitor<const FFT: usize, const AXES: usize>(
    console: &Console,
    model: &IntegerModel<'_>,
    file: &File,
) -> Result<(), Failure> {
    type Small<'m, const FFT: usize, const AXES: usize> =
        IntegerMonitor<'m, FFT, AXES, DIMS, COMPONENTS, CLASSES>;
    // Used where it was made: there is no room to move it.
    let mut made = Small::<FFT, AXES>::new(*model);
    let monitor = made.as_mut().map_err(|error| Failure::Model(*error))?;
    let mut decision =
        Decision::<CLASSES, WINDOWS>::of_integer_model(model).map_err(Failure::Model)?;
    announce(&mut Line::new(console), FFT, AXES, Small::<FFT, AXES>::RAM);

    let mut watch = model.drift().map(DriftWatch::new);
    let mut reports = 0;
    let mut segments = 0;
    while let Some(frames) = segment_frames(file)? {
        // The samples of one segment do not meet those of the next in a window.
        monitor.clear();
        segments += 1;
        read_frames(file, frames, |sample| {
            if let Some(report) = monitor.push(sample) {
                print(&mut Line::new(console), &report, &decision.integer_report(&report));
                if let Some(watch) = &mut watch {
                    watch.integer_report(&report);
                }
                reports += 1;
            }
        })?;
    }
    if segments == 0 {
        return Err(Failure::NoSegment);
    }
    if let Some(watch) = &watch {
        let mut line = Line::new(console);
        line.text("drift blocks=").decimal(watch.blocks() as usize);
        line.text(" drifted=").decimal(watch.drifted() as usize);
        line.text(" windows=").decimal(watch.windows() as usize).end();
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
fn read_frames<const AXES: usize>(
    file: &File,
    mut frames: usize,
    mut take: impl FnMut([i16; AXES]),
) -> Result<(), Failure> {
    let frame_size = size_of::<[i16; AXES]>();
    let mut bytes = [0; CHUNK];
    while frames > 0 {
        let wanted = frames.min(CHUNK / frame_size) * frame_size;
        let buffer = bytes.get_mut(..wanted);
        let filled = buffer.and_then(|buffer| file.read(buffer)).ok_or(Failure::CutShort)?;
        if filled.len() != wanted {
            return Err(Failure::CutShort);
        }
        for frame in filled.chunks_exact(frame_size) {
            let (samples, _) = frame.as_chunks::<2>();
            let mut samples = samples.iter().map(|bytes| i16::from_le_bytes(*bytes));
            // The frame has AXES samples, so the zero is never asked for.
            take([(); AXES].map(|()| samples.next().unwrap_or(0)));
        }
        frames -= wanted / frame_size;
    }
    Ok(())
}

/// The monitor's type and the RAM it takes.
fn announce(line: &mut Line<'_>, fft: usize, axes: usize, ram: usize) {
    line.text("monitor sample=i16");
    let sizes = [
        (" fft=", fft),
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
    report: &IntegerReport<AXES, CLASSES>,
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
                line.text(if class == 0 { "" } else { "," }).hexadecimal(u32::from(*probability));
            }
            line.text(" statistics=");
            for (axis, statistics) in finding.statistics.iter().enumerate() {
                let IntegerStatistics { level, rms, kurtosis, crest } = *statistics;
                line.text(if axis == 0 { "" } else { ";" }).hexadecimal(level.cast_unsigned());
                for number in [rms, kurtosis, crest] {
                    line.text(",").hexadecimal(number);
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

/// A number, or a dash for one that was not computed.
fn optional(line: &mut Line<'_>, number: Option<i32>) {
    match number {
        Some(number) => line.hexadecimal(number.cast_unsigned()),
        None => line.text("-"),
    };
}

fn explain(line: &mut Line<'_>, failure: &Failure) {
    line.text("error: ");
    match failure {
        Failure::NoCommandLine => line.text("the command line is: qemu-m0 FILE"),
        Failure::CannotOpen => line.text("cannot open the file of samples"),
        Failure::NoSegment => line.text("the file of samples is empty"),
        Failure::CutShort => line.text("the file of samples ends inside a segment"),
        Failure::Shape => line
            .text("this firmware has room for 256 or 512 points of one axis, or 256 of three axes"),
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

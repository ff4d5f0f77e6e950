//! Instructions of each stage of a whole window in integers, and the stack that a push takes.
//!
//! The MODEL region holds five words (magic, bytes of the model, samples, features, classes), the
//! model, the samples of one window as i16, and as i32 what a reference in f64 makes of them: the
//! features in the order and unit of the model, the log-likelihood in nats Q8, the posterior Q15.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::integer_problem::agrees;
use firmware_examples::bench::{CORE, instructions, print_stack, print_stage, stack};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::Label;
use rebearing::integer::diagnosis::{normalise, write_limited, write_posterior};
use rebearing::integer::features::{log_bands, standardise};
use rebearing::integer::mixture::{energies_abandoning, weights};
use rebearing::integer::spectrum::{IntegerSpectrum, NO_POWER, add_aligned};
use rebearing::integer::statistics::IntegerMoments;
use rebearing::integer::transform::transform;
use rebearing::integer::window::{Block, taper};
use rebearing::integer::{IntegerModel, IntegerMonitor};
use rebearing::window::Window;
use zerocopy::FromBytes;

const FFT: usize = 2048;
const DIMS: usize = 32;
const COMPONENTS: usize = 40;
const CLASSES: usize = 8;
type Whole<'m> = IntegerMonitor<'m, FFT, 1, DIMS, COMPONENTS, CLASSES>;

/// Samples in a block, as a sensor's FIFO delivers them.
const BLOCK: usize = 128;

const MAGIC: u32 = u32::from_le_bytes(*b"WNDI");
/// Which loop over the dimensions the device crate was built with.
const KERNEL: &str = if cfg!(feature = "dsp") { "dsp" } else { "safe" };

/// A model, samples, and what must come of them.
struct Problem<'a> {
    model: IntegerModel<'a>,
    samples: &'a [i16],
    features: &'a [i32],
    log_likelihood: i32,
    posterior: &'a [i32],
}

#[entry]
fn main() -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    let result = run(&console);
    if let Err(text) = result {
        Line::new(&console).text("error: ").text(text).end();
    }
    exit(result.map_err(drop))
}

fn run(console: &Console) -> Result<(), &'static str> {
    let problem = read(model_region()).ok_or("no problem in the MODEL region")?;
    stages(console, &problem)?;
    // Beside a monitor of 13 KB, made on the stack, the smallest board has no room for its stack.
    if CORE == "cortex-m0" { Ok(()) } else { whole(console, &problem) }
}

fn read(region: &[u8]) -> Option<Problem<'_>> {
    let (header, rest) = region.split_at_checked(20)?;
    let &[MAGIC, model, samples, features, classes] = <[u32]>::ref_from_bytes(header).ok()? else {
        return None;
    };
    let (model, rest) = rest.split_at_checked(model as usize)?;
    let (samples, rest) = rest.split_at_checked(2 * samples as usize)?;
    let results = 4 * (features as usize + 1 + classes as usize);
    let results = <[i32]>::ref_from_bytes(rest.get(..results)?).ok()?;
    let (features, results) = results.split_at_checked(features as usize)?;
    let (log_likelihood, posterior) = results.split_first()?;
    Some(Problem {
        model: IntegerModel::parse(model).ok()?,
        samples: <[i16]>::ref_from_bytes(samples).ok()?,
        features,
        log_likelihood: *log_likelihood,
        posterior,
    })
}

/// Every stage by itself, with what the one before it made.
#[inline(never)]
fn stages(console: &Console, problem: &Problem<'_>) -> Result<(), &'static str> {
    let model = &problem.model;
    let edges = model.front_end().band_edges;
    let print = |stage, counted| print_stage(console, "i16", KERNEL, stage, counted);
    let mut window = Window::<i16, FFT, 1>::new(FFT, FFT);
    let frames = problem.samples.as_chunks().0;
    let push = instructions(|| {
        for block in black_box(frames).chunks_exact(BLOCK) {
            black_box(window.fill(block).0);
        }
    });
    let singly = instructions(|| {
        for frame in black_box(frames) {
            black_box(window.push(*frame));
        }
    });
    let mut scratch = [0; FFT];
    let tapering = instructions(|| {
        let _ = black_box(taper(black_box(&window), 0, &mut scratch));
    });
    // In place, so that each transform needs its window again, and each power its transform.
    let mut block = taper(&window, 0, &mut scratch).map_err(|_| "the samples are no signal")?.block;
    let transforming = instructions(|| {
        if let Ok(tapered) = taper(black_box(&window), 0, &mut scratch) {
            block = transform(&mut scratch, tapered.block);
        }
    });
    let mut sums = [0; DIMS];
    let all = instructions(|| {
        if let Ok(tapered) = taper(black_box(&window), 0, &mut scratch) {
            block = transform(&mut scratch, tapered.block);
        }
        sums.fill(0);
        add_bands(edges, &mut scratch, block, &mut sums);
    });
    let mean = taper(&window, 0, &mut scratch).map_err(|_| "the samples are no signal")?.mean;
    let statistics = instructions(|| {
        let mut moments = IntegerMoments::EMPTY;
        moments.add(black_box(problem.samples).iter().copied(), black_box(mean));
        black_box(moments.statistics(0));
    });
    let mut logs = [0; DIMS];
    let mut z = [0; DIMS];
    let mut x = [0; DIMS];
    let log = instructions(|| {
        let _ = black_box(log_bands(black_box(&sums), &mut logs));
        standardise(model, &logs, &mut z);
        write_limited(&z, &mut x);
    });
    for ((z, exact), scale) in z.iter().zip(problem.features).zip(model.scale()) {
        // A twentieth of a nat in the feature's unit, which is what 16 bits do to a quiet band.
        if z.abs_diff(*exact) > scale.unsigned_abs() / 3549 + 1 {
            return Err("a feature is not the reference's");
        }
    }
    let part = model.classes_part().ok_or("a model without classes")?;
    let mut scores = [0; COMPONENTS];
    let scores = scores.get_mut(..part.len()).ok_or("too many components")?;
    let mut log_likelihood = 0;
    let mixture = instructions(|| {
        energies_abandoning(black_box(&part), black_box(&x), scores);
        let found = weights(&part, scores);
        normalise(scores, found.total);
        log_likelihood = found.log_likelihood;
    });
    let mut posterior = [0; CLASSES];
    let posterior = posterior.get_mut(..model.classes()).ok_or("too many classes")?;
    let mut class = 0;
    let label = instructions(|| {
        class = black_box(write_posterior(black_box(scores), model.labels(), posterior));
    });
    check(problem, log_likelihood, posterior, class)?;
    print("push", push);
    print("push singly", singly);
    print("window", tapering);
    print("fft", transforming.saturating_sub(tapering));
    print("bands", all.saturating_sub(transforming));
    print("log", log);
    print("mixture", mixture);
    print("label", label);
    print("statistics", statistics);
    Ok(())
}

fn add_bands(edges: &[u32], scratch: &mut [i32; FFT], block: Block, sums: &mut [u64]) {
    let spectrum = IntegerSpectrum::power(scratch, block);
    let mut exponent = NO_POWER;
    let powers = edges.windows(2).map(|pair| match *pair {
        [low, high] => spectrum.band_power(low as usize, high as usize),
        _ => 0,
    });
    add_aligned(sums, &mut exponent, powers, spectrum.exponent);
}

fn check(
    problem: &Problem<'_>,
    log_likelihood: i32,
    posterior: &[u16],
    class: usize,
) -> Result<(), &'static str> {
    let mut exact = [0; CLASSES];
    for (exact, p) in exact.iter_mut().zip(problem.posterior) {
        *exact = p.unsigned_abs() as u16;
    }
    let exact = exact.get(..problem.posterior.len()).unwrap_or_default();
    if agrees(problem.log_likelihood, exact, log_likelihood, posterior, class) {
        Ok(())
    } else {
        Err("a posterior is not the reference's")
    }
}

/// A monitor over the whole window, and its stack.
#[inline(never)]
fn whole(console: &Console, problem: &Problem<'_>) -> Result<(), &'static str> {
    let mut made = Whole::new(problem.model);
    let monitor = made.as_mut().map_err(|_| "the model does not fit")?;
    let mut right = Err("no report");
    let mut feed = |monitor: &mut Whole<'_>| {
        for block in black_box(problem.samples.as_chunks().0).chunks_exact(BLOCK) {
            monitor.push_slice(block, |report| {
                right = match report.finding {
                    Ok(finding) => match (finding.label, finding.log_likelihood) {
                        (Label::Class(class), Some(log_likelihood)) => {
                            check(problem, log_likelihood, &finding.posterior, class)
                        }
                        _ => Err("the window has no class"),
                    },
                    Err(_) => Err("the samples are no signal"),
                };
            });
        }
    };
    let depth = stack::depth(|| feed(&mut *monitor));
    let counted = instructions(|| {
        monitor.clear();
        feed(black_box(&mut *monitor));
    });
    right?;
    let depth = depth.ok_or("the stack is deeper than what was painted")?;
    print_stage(console, "i16", KERNEL, "whole", counted);
    print_stack(console, "i16", KERNEL, depth, Whole::RAM);
    Ok(())
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

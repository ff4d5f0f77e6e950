//! Instructions of each stage of a whole window, and the stack that a monitor's push takes.
//!
//! The MODEL region holds five words (magic, bytes of the model, samples, features, classes), the
//! model, the samples of one window as i16, and as f32 the features, log-likelihood and posterior
//! that a reference in f64 makes of them.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::{CORE, instructions, print_stack, print_stage, stack};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::spectrum::Spectrum;
use rebearing::statistics::Moments;
use rebearing::window::{Sample, Window};
use rebearing::{Model, Monitor, features, label, mixture};
use zerocopy::FromBytes;

const FFT: usize = 2048;
const DIMS: usize = 32;
const COMPONENTS: usize = 40;
const CLASSES: usize = 8;
type Whole<'m> = Monitor<'m, f32, FFT, 1, DIMS, COMPONENTS, CLASSES>;

/// Samples in a block, as a sensor's FIFO delivers them.
const BLOCK: usize = 128;

const MAGIC: u32 = u32::from_le_bytes(*b"WNDW");
const KERNEL: &str = if cfg!(feature = "asm") { "asm" } else { "safe" };

/// A model, samples, and what must come of them.
struct Problem<'a> {
    model: Model<'a>,
    samples: &'a [i16],
    features: &'a [f32],
    log_likelihood: f32,
    posterior: &'a [f32],
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
    // The smallest board has 16 KiB of RAM in all: room for a window of counts and the FFT, and
    // not for building a monitor and moving it.
    if CORE == "cortex-m0" {
        return stages::<i16>(console, &problem, |count| count);
    }
    stages::<f32>(console, &problem, f32::from)?;
    whole(console, &problem)
}

fn read(region: &[u8]) -> Option<Problem<'_>> {
    let (header, rest) = region.split_at_checked(20)?;
    let &[MAGIC, model, samples, features, classes] = <[u32]>::ref_from_bytes(header).ok()? else {
        return None;
    };
    let (model, rest) = rest.split_at_checked(model as usize)?;
    let (samples, rest) = rest.split_at_checked(2 * samples as usize)?;
    let results = 4 * (features as usize + 1 + classes as usize);
    let results = <[f32]>::ref_from_bytes(rest.get(..results)?).ok()?;
    let (features, results) = results.split_at_checked(features as usize)?;
    let (log_likelihood, posterior) = results.split_first()?;
    Some(Problem {
        model: Model::parse(model).ok()?,
        samples: <[i16]>::ref_from_bytes(samples).ok()?,
        features,
        log_likelihood: *log_likelihood,
        posterior,
    })
}

fn near(a: f32, b: f32, bound: f32) -> bool {
    (a - b).abs() <= bound
}

/// Every stage by itself, with what the one before it made.
#[inline(never)]
fn stages<S: Sample>(
    console: &Console,
    problem: &Problem<'_>,
    sample: impl Fn(i16) -> S,
) -> Result<(), &'static str> {
    let model = &problem.model;
    let front_end = model.front_end();
    let print = |stage, counted| print_stage(console, "f32", KERNEL, stage, counted);
    let mut window = Window::<S, FFT, 1>::new(front_end.fft_len, front_end.fft_len);
    let mut block = [[S::ZERO]; BLOCK];
    for ([x], count) in block.iter_mut().zip(problem.samples) {
        *x = sample(*count);
    }
    let push = instructions(|| {
        for _ in 0..problem.samples.len() / BLOCK {
            black_box(window.fill(black_box(&block)).0);
        }
    });
    // Leaves the window that the stages below work on.
    let singly = instructions(|| {
        for count in problem.samples {
            black_box(window.push([sample(*count)]));
        }
    });
    let mut scratch = [0.0; FFT];
    let taper = instructions(|| {
        black_box(black_box(&window).taper(0, &mut scratch).is_ok());
    });
    // Made on the way through the window, so that what that takes by itself is taken off.
    let measured = instructions(|| {
        let mut moments = Moments::EMPTY;
        let window = black_box(&window);
        if let Ok(piece) = window.taper_and_measure(0, front_end.fft_len, &mut scratch) {
            moments.add(&piece);
        }
        black_box(moments.statistics(0.0));
    });
    // The transform is in place, so that each one needs its window again. It goes on to the power
    // of each bin, so that the bands only add.
    let fft = instructions(|| {
        black_box(black_box(&window).taper(0, &mut scratch).is_ok());
        black_box(Spectrum::transform(&mut scratch, front_end.fft_len));
    });
    window.taper(0, &mut scratch).map_err(|_| "the samples are no signal")?;
    let spectrum = Spectrum::transform(&mut scratch, front_end.fft_len);
    let mut sums = [0.0; DIMS];
    let bands = instructions(|| {
        sums.fill(0.0);
        features::add_band_power(black_box(&mut sums), front_end.band_edges, spectrum);
    });
    let mut z = [0.0; DIMS];
    let log = instructions(|| {
        black_box(features::log_bands(black_box(&sums), &mut z).is_ok());
        features::standardise(&mut z, model.shift(), model.scale());
    });
    for (z, exact) in z.iter().zip(problem.features) {
        if !near(*z, *exact, 1e-3) {
            return Err("a feature is not the reference's");
        }
    }
    let mut scores = [0.0; COMPONENTS];
    let mut log_likelihood = 0.0;
    let evaluate = instructions(|| {
        model.mixture().log_densities(black_box(&z), &mut scores);
        log_likelihood = black_box(mixture::responsibilities(&mut scores));
    });
    let mut posterior = [0.0; CLASSES];
    let posterior = posterior.get_mut(..model.classes()).ok_or("too many classes")?;
    let name = instructions(|| {
        label::posterior(black_box(&scores), model.labels(), posterior);
        black_box(label::map_class(posterior));
    });
    check(problem, log_likelihood, posterior)?;
    print("push", push);
    print("push singly", singly);
    print("window", taper);
    print("fft", fft.saturating_sub(taper));
    print("bands", bands);
    print("log", log);
    print("mixture", evaluate);
    print("label", name);
    print("statistics", measured.saturating_sub(taper));
    Ok(())
}

fn check(
    problem: &Problem<'_>,
    log_likelihood: f32,
    posterior: &[f32],
) -> Result<(), &'static str> {
    // The features carry the rounding of the transform.
    let bound = 1e-4 * (problem.log_likelihood.abs() + 10.0);
    let mut right = near(log_likelihood, problem.log_likelihood, bound);
    for (p, exact) in posterior.iter().zip(problem.posterior) {
        right &= near(*p, *exact, bound);
    }
    if right { Ok(()) } else { Err("a posterior is not the reference's") }
}

/// A monitor over the whole window, and its stack.
#[inline(never)]
fn whole(console: &Console, problem: &Problem<'_>) -> Result<(), &'static str> {
    let mut monitor = Whole::new(problem.model).map_err(|_| "the model does not fit")?;
    let mut samples = [[0.0]; FFT];
    for ([x], count) in samples.iter_mut().zip(problem.samples) {
        *x = f32::from(*count);
    }
    let mut right = Err("no report");
    let mut feed = |monitor: &mut Whole<'_>| {
        for block in black_box(&samples).chunks_exact(BLOCK) {
            monitor.push_slice(block, |report| {
                right = match report.finding {
                    Ok(finding) => {
                        let log_likelihood = finding.log_likelihood.unwrap_or(f32::NAN);
                        check(problem, log_likelihood, &finding.posterior)
                    }
                    Err(_) => Err("the samples are no signal"),
                };
            });
        }
    };
    let depth = stack::depth(|| feed(&mut monitor));
    let counted = instructions(|| {
        monitor.clear();
        feed(black_box(&mut monitor));
    });
    right?;
    let depth = depth.ok_or("the stack is deeper than what was painted")?;
    print_stage(console, "f32", KERNEL, "whole", counted);
    print_stack(console, "f32", KERNEL, depth, Whole::RAM);
    Ok(())
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

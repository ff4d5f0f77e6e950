//! Instructions of each stage of a whole window with an f32 model, and the stack and RAM that a
//! monitor needs.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use firmware_examples::bench::window::{self, BLOCK, CLASSES, COMPONENTS, DIMS, FFT};
use firmware_examples::bench::{self, CORE, instructions, print_stage};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;
use rebearing::acquisition::Sample;
use rebearing::features::bands;
use rebearing::model::FloatBody;
use rebearing::signal::statistics::Moments;
use rebearing::signal::{Segment, Spectrum};
use rebearing::{Monitor, classify};

type Whole<'m> = Monitor<'m, f32, FFT, 1, DIMS, COMPONENTS, CLASSES>;
type FloatProblem<'a> = window::Problem<'a, FloatBody<'a>, f32>;

const KERNEL: &str = if cfg!(feature = "asm") { "asm" } else { "safe" };

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let problem =
        &FloatProblem::read(model_region(), *b"WNDW").ok_or("no problem in the MODEL region")?;
    // The smallest board has 16 KiB of RAM in total: room for a segment of counts and the FFT.
    if CORE == "cortex-m0" {
        return stages::<i16>(console, problem, |count| count);
    }
    stages::<f32>(console, problem, f32::from)?;
    whole(console, problem)
}

fn near(a: f32, b: f32, bound: f32) -> bool {
    (a - b).abs() <= bound
}

/// Runs every stage by itself, on the output of the stage before it.
#[inline(never)]
fn stages<S: Sample>(
    console: &Console,
    problem: &FloatProblem<'_>,
    sample: impl Fn(i16) -> S,
) -> Result<(), &'static str> {
    let model = &problem.model;
    let front_end = model.front_end();
    let print = |stage, counted| print_stage(console, "f32", KERNEL, stage, counted);
    let mut segment = Segment::<S, FFT, 1>::new(front_end.fft_len, front_end.fft_len);
    let mut block = [[S::ZERO]; BLOCK];
    for ([x], count) in block.iter_mut().zip(problem.samples) {
        *x = sample(*count);
    }
    let push = instructions(|| {
        for _ in 0..problem.samples.len() / BLOCK {
            black_box(segment.fill(black_box(&block)).0);
        }
    });
    // This leaves the segment that the stages below work on.
    let singly = window::push_singly(&mut segment, problem.samples, &sample);
    let mut scratch = [0.0; FFT];
    let taper = instructions(|| {
        black_box(black_box(&segment).taper(0, &mut scratch).is_ok());
    });
    // The statistics are made in the same pass as the taper, so the taper's own cost is subtracted.
    let measured = instructions(|| {
        let mut moments = Moments::EMPTY;
        let segment = black_box(&segment);
        if let Ok(piece) = segment.taper_and_measure(0, front_end.fft_len, &mut scratch) {
            moments.add(&piece);
        }
        black_box(moments.statistics(0.0));
    });
    // The transform works in place, so each one needs its segment again. It also computes the power
    // of each bin, so the bands only add.
    let fft = instructions(|| {
        black_box(black_box(&segment).taper(0, &mut scratch).is_ok());
        black_box(Spectrum::transform(&mut scratch, front_end.fft_len));
    });
    segment.taper(0, &mut scratch).map_err(|_| "the samples are no signal")?;
    let spectrum = Spectrum::transform(&mut scratch, front_end.fft_len);
    let mut sums = [0.0; DIMS];
    let band_power = instructions(|| {
        sums.fill(0.0);
        bands::add_band_power(black_box(&mut sums), front_end.band_edges, spectrum);
    });
    let mut z = [0.0; DIMS];
    let log = instructions(|| {
        black_box(bands::log_bands(black_box(&sums), &mut z).is_ok());
        bands::standardise(&mut z, model.shift(), model.scale());
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
        log_likelihood = black_box(classify::responsibilities(&mut scores));
    });
    let mut posterior = [0.0; CLASSES];
    let posterior = posterior.get_mut(..model.classes()).ok_or("too many classes")?;
    let name = instructions(|| {
        classify::posterior(black_box(&scores), model.labels(), posterior);
        black_box(classify::map_class(posterior));
    });
    check(problem, log_likelihood, posterior)?;
    print("push", push);
    print("push singly", singly);
    print("window", taper);
    print("fft", fft.saturating_sub(taper));
    print("bands", band_power);
    print("log", log);
    print("mixture", evaluate);
    print("label", name);
    print("statistics", measured.saturating_sub(taper));
    Ok(())
}

fn check(
    problem: &FloatProblem<'_>,
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

/// Measures a monitor over the whole window, and its stack.
#[inline(never)]
fn whole(console: &Console, problem: &FloatProblem<'_>) -> Result<(), &'static str> {
    let mut room = Whole::vacant();
    let mut samples = [[0.0]; FFT];
    for ([x], count) in samples.iter_mut().zip(problem.samples) {
        *x = f32::from(*count);
    }
    let new = |model| {
        if let Ok(mut monitor) = Whole::new(model) {
            black_box(&mut monitor);
        }
    };
    window::whole(
        console,
        KERNEL,
        &mut room,
        problem.model,
        &samples,
        new,
        |finding| match &finding.result {
            Ok(found) => {
                let log_likelihood = found.log_likelihood.unwrap_or(f32::NAN);
                check(problem, log_likelihood, &found.posterior)
            }
            Err(_) => Err("the samples are no signal"),
        },
    )
}

firmware_examples::semihosting_faults!();

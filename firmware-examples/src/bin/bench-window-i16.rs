//! Instructions of each stage of a whole window with an i16 model, and the stack and RAM that a
//! monitor needs.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use firmware_examples::bench::problem::integer::agrees;
use firmware_examples::bench::window::{self, BLOCK, CLASSES, COMPONENTS, DIMS, FFT};
use firmware_examples::bench::{self, CORE, instructions, print_stage};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;
use rebearing::integer::classifier::{normalise, write_limited, write_posterior};
use rebearing::integer::features::{log_bands, standardise};
use rebearing::integer::mixture::{energies_with_early_drop, weights};
use rebearing::integer::spectrum::{IntegerSpectrum, NO_POWER, add_aligned};
use rebearing::integer::statistics::IntegerMoments;
use rebearing::integer::taper::{Block, taper};
use rebearing::integer::transform::transform;
use rebearing::model::IntegerBody;
use rebearing::signal::Segment;
use rebearing::{IntegerMonitor, Label};

type Whole<'m> = IntegerMonitor<'m, FFT, 1, DIMS, COMPONENTS, CLASSES>;
type IntegerProblem<'a> = window::Problem<'a, IntegerBody<'a>, i32>;

/// The loop over the dimensions that the device crate was built with.
const KERNEL: &str = if cfg!(feature = "dsp") { "dsp" } else { "safe" };

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let problem =
        &IntegerProblem::read(model_region(), *b"WNDI").ok_or("no problem in the MODEL region")?;
    stages(console, problem)?;
    // The smallest board has no room for these stages' stack and a monitor of 13 KB.
    if CORE == "cortex-m0" { Ok(()) } else { whole(console, problem) }
}

/// Runs every stage by itself, on the output of the stage before it.
#[inline(never)]
fn stages(console: &Console, problem: &IntegerProblem<'_>) -> Result<(), &'static str> {
    let model = &problem.model;
    let edges = model.front_end().band_edges;
    let print = |stage, counted| print_stage(console, "i16", KERNEL, stage, counted);
    let mut segment = Segment::<i16, FFT, 1>::new(FFT, FFT);
    let frames = problem.samples.as_chunks().0;
    let push = instructions(|| {
        for block in black_box(frames).chunks_exact(BLOCK) {
            black_box(segment.fill(block).0);
        }
    });
    let singly = window::push_singly(&mut segment, problem.samples, |count| count);
    let mut scratch = [0; FFT];
    let tapering = instructions(|| {
        let _ = black_box(taper(black_box(&segment), 0, &mut scratch));
    });
    // The stages work in place: each transform needs its segment again, and each power its
    // transform.
    let mut block =
        taper(&segment, 0, &mut scratch).map_err(|_| "the samples are no signal")?.block;
    let transforming = instructions(|| {
        if let Ok(tapered) = taper(black_box(&segment), 0, &mut scratch) {
            block = transform(&mut scratch, tapered.block);
        }
    });
    let mut sums = [0; DIMS];
    let all = instructions(|| {
        if let Ok(tapered) = taper(black_box(&segment), 0, &mut scratch) {
            block = transform(&mut scratch, tapered.block);
        }
        sums.fill(0);
        add_bands(edges, &mut scratch, block, &mut sums);
    });
    let mean = taper(&segment, 0, &mut scratch).map_err(|_| "the samples are no signal")?.mean;
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
        standardise(model.scaling(), &logs, &mut z);
        write_limited(&z, &mut x);
    });
    for ((z, exact), scale) in z.iter().zip(problem.features).zip(model.scaling().scale) {
        // A twentieth of a nat in the feature's unit: 16 bits cause that much error in a quiet
        // band.
        if z.abs_diff(*exact) > scale.unsigned_abs() / 3549 + 1 {
            return Err("a feature is not the reference's");
        }
    }
    let part = model.classes_part().ok_or("a model without classes")?;
    let mut scores = [0; COMPONENTS];
    let scores = scores.get_mut(..part.len()).ok_or("too many components")?;
    let mut log_likelihood = 0;
    let mixture = instructions(|| {
        energies_with_early_drop(black_box(&part), black_box(&x), scores);
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
    problem: &IntegerProblem<'_>,
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

/// Measures a monitor over the whole window, and its stack.
#[inline(never)]
fn whole(console: &Console, problem: &IntegerProblem<'_>) -> Result<(), &'static str> {
    let mut room = Whole::vacant();
    let samples = problem.samples.as_chunks().0;
    let new = |model| {
        if let Ok(mut monitor) = Whole::new(model) {
            black_box(&mut monitor);
        }
    };
    window::whole(console, KERNEL, &mut room, problem.model, samples, new, |finding| match &finding
        .result
    {
        Ok(found) => match (found.label, found.log_likelihood) {
            (Label::Class(class), Some(log_likelihood)) => {
                check(problem, log_likelihood, &found.posterior, class)
            }
            _ => Err("the window has no class"),
        },
        Err(_) => Err("the samples are no signal"),
    })
}

firmware_examples::semihosting_faults!();

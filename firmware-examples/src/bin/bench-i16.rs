//! Instructions of a mixture's evaluation in integers, and of every stage of a whole window, each
//! checked against the reference that comes with the problem or against the other kernel.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::integer_problem::{IntegerProblem, IntegerVector};
use firmware_examples::bench::{Row, instructions, print_stage};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::integer::IntegerPart;
use rebearing::integer::diagnosis::{normalise, write_posterior};
use rebearing::integer::features::log_bands;
use rebearing::integer::mixture::{energies, energies_abandoning, weights};
use rebearing::integer::spectrum::{IntegerSpectrum, NO_POWER, add_aligned};
use rebearing::integer::transform::transform;
use rebearing::integer::window::taper;
use rebearing::window::Window;

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;
/// The window whose stages are counted, with 40 components.
const FFT: usize = 2048;
const BANDS: usize = 32;

/// Which loop over the dimensions the device crate was built with.
const KERNEL: &str = if cfg!(feature = "dsp") { "dsp" } else { "safe" };

/// How a mixture is evaluated.
type Kernel = fn(&IntegerPart<'_>, &[i16], &mut [u32]);

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
    let problem = IntegerProblem::read(model_region()).ok_or("no problem in the MODEL region")?;
    check_kernel()?;
    mixtures(console, &problem)?;
    if problem.dims == BANDS && problem.part.len() == 40 && problem.case == "clustered" {
        stages(console, &problem)?;
    }
    Ok(())
}

/// The energies of a mixture as the model file defines them, for the kernel to be compared with.
fn by_definition(part: &IntegerPart<'_>, x: &[i16], energies: &mut [u32]) {
    for (energy, component) in energies.iter_mut().zip(part.components()) {
        let mut sum = u64::from(component.energy);
        for ((x, mean), scale) in x.iter().zip(component.means).zip(component.scales) {
            let t = ((i32::from(*x) - i32::from(*mean)) * i32::from(*scale) + 0x8000) >> 16;
            sum += u64::from(t.unsigned_abs().pow(2));
        }
        *energy = u32::try_from(sum).unwrap_or(u32::MAX);
    }
}

/// Compares the kernel with the definition where it has more than one way to go: dimensions that
/// are no whole blocks, numbers that do not begin on a word, sums that are cut off.
#[inline(never)]
fn check_kernel() -> Result<(), &'static str> {
    /// Most dimensions that are tried.
    const DIMS: usize = 41;
    let mut noise = 1_u32;
    for dims in 1..=DIMS {
        // Steps of a feature: with the largest, sums are cut off.
        for steps in [40, 1000, 16_383] {
            let mut next = || {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // 0…2·steps, less the middle.
                ((noise >> 16) * (2 * steps + 1) >> 16) as i16 - steps as i16
            };
            let x: [i16; DIMS + 1] = core::array::from_fn(|_| next());
            let mut rows = [0; 4 * (DIMS + 1)];
            let padded = dims.next_multiple_of(2);
            for row in rows.chunks_exact_mut((2 * padded).max(1)) {
                for (i, number) in row.iter_mut().enumerate() {
                    // Means, then scales, which are positive and up to twice as large.
                    *number = if i < padded { next() } else { 1 + 2 * next().abs() };
                }
            }
            let rows = rows.get(..4 * padded).unwrap_or_default();
            for (start, first_dims) in [(0, 8), (1, 8), (0, 3)] {
                let part = IntegerPart::new(&[0, 77], rows, dims, first_dims.min(dims), 12);
                let x = x.get(start..start + dims).unwrap_or_default();
                let (mut exact, mut found, mut dropped) = ([0; 2], [0; 2], [0; 2]);
                by_definition(&part, x, &mut exact);
                energies(&part, x, &mut found);
                energies_abandoning(&part, x, &mut dropped);
                let kept = dropped.iter().zip(&exact).all(|(a, b)| *a == u32::MAX || a == b);
                if found != exact || !kept || dropped.iter().min() != exact.iter().min() {
                    return Err("the kernel does not give the bits of the definition");
                }
            }
        }
    }
    Ok(())
}

#[inline(never)]
fn mixtures(console: &Console, problem: &IntegerProblem<'_>) -> Result<(), &'static str> {
    let mut scores = [0; COMPONENTS];
    let mut exact = [0; COMPONENTS];
    let mut posterior = [0; CLASSES];
    let scores = scores.get_mut(..problem.part.len()).ok_or("too many components")?;
    let exact = exact.get_mut(..problem.part.len()).ok_or("too many components")?;
    let posterior = posterior.get_mut(..problem.classes).ok_or("too many classes")?;
    let ram = size_of_val(scores) + size_of_val(posterior);
    let kernels: [(&str, Kernel); 2] = [("plain", energies), (problem.case, energies_abandoning)];
    for (case, evaluate) in kernels {
        let mut total = 0_u32;
        let mut vectors = 0;
        for vector in problem.vectors() {
            let log_likelihood = infer(problem, &vector, by_definition, exact, posterior);
            if infer(problem, &vector, evaluate, scores, posterior) != log_likelihood
                || scores != exact
            {
                return Err("the kernel does not give the bits of the definition");
            }
            if !vector.agrees(log_likelihood, posterior) {
                return Err("a result is not the reference's");
            }
            total += instructions(|| {
                let problem = black_box(problem);
                black_box(infer(problem, black_box(&vector), evaluate, scores, posterior));
            });
            vectors += 1;
        }
        Row {
            encoding: "i16",
            kernel: KERNEL,
            components: problem.part.len(),
            dims: problem.dims,
            case,
            instructions: total.checked_div(vectors).ok_or("a problem without vectors")?,
            parameters: problem.parameters,
            ram,
        }
        .print(console);
    }
    Ok(())
}

/// What is counted; a function of its own, so that its code has a size in the ELF file.
#[inline(never)]
fn infer(
    problem: &IntegerProblem<'_>,
    vector: &IntegerVector<'_>,
    evaluate: Kernel,
    scores: &mut [u32],
    posterior: &mut [u16],
) -> i32 {
    evaluate(&problem.part, vector.x, scores);
    let found = weights(&problem.part, scores);
    normalise(scores, found.total);
    black_box(write_posterior(scores, problem.labels, posterior));
    found.log_likelihood
}

/// Each stage of a window of noise.
#[inline(never)]
fn stages(console: &Console, problem: &IntegerProblem<'_>) -> Result<(), &'static str> {
    let mut window = Window::<i16, FFT, 1>::new(FFT, FFT);
    let mut noise = 1_u32;
    for _ in 0..FFT {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        window.push([(noise >> 17) as i16]);
    }
    let mut scratch = [0; FFT];
    let mut sums = [0; BANDS];
    let mut logs = [0; BANDS];
    // 13 of the Cortex-M0's 16 KiB are taken, so that no number is more than is needed.
    let mut scores = [0; 40];
    let mut posterior = [0; CLASSES];
    let scores = scores.get_mut(..problem.part.len()).ok_or("too many components")?;
    let posterior = posterior.get_mut(..problem.classes).ok_or("too many classes")?;
    let print = |stage, count| print_stage(console, "i16", KERNEL, stage, count);

    let count = instructions(|| {
        let _ = black_box(taper(black_box(&window), 0, &mut scratch));
    });
    print("window", count);
    let tapered = taper(&window, 0, &mut scratch).map_err(|_| "the noise is no signal")?;
    let mut block = tapered.block;
    // Whatever the numbers are, the work is the same.
    print("fft", instructions(|| block = transform(black_box(&mut scratch), tapered.block)));
    let count = instructions(|| {
        let spectrum = IntegerSpectrum::power(black_box(&mut scratch), block);
        let mut exponent = NO_POWER;
        let bands = (0..BANDS).map(|b| spectrum.band_power(b * FFT / 64, (b + 1) * FFT / 64));
        add_aligned(&mut sums, &mut exponent, bands, spectrum.exponent);
    });
    print("bands", count);
    let sums = [1_u64 << 40; BANDS];
    let count = instructions(|| {
        let _ = black_box(log_bands(black_box(&sums), &mut logs));
    });
    print("log", count);
    let vector = problem.vectors().next().ok_or("a problem without vectors")?;
    let count = instructions(|| {
        energies_abandoning(black_box(&problem.part), black_box(vector.x), scores);
        let found = weights(&problem.part, scores);
        normalise(scores, found.total);
    });
    print("mixture", count);
    let count = instructions(|| {
        black_box(write_posterior(black_box(scores), problem.labels, posterior));
    });
    print("label", count);
    Ok(())
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

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
    mixtures(console, &problem)?;
    if problem.dims == BANDS && problem.part.len() == 40 && problem.case == "clustered" {
        stages(console, &problem)?;
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
    let kernels: [(&str, &str, Kernel); 2] =
        [("safe", "plain", energies), ("abandoning", problem.case, energies_abandoning)];
    for (kernel, case, evaluate) in kernels {
        let mut total = 0_u32;
        let mut vectors = 0;
        for vector in problem.vectors() {
            let log_likelihood = infer(problem, &vector, energies, exact, posterior);
            if infer(problem, &vector, evaluate, scores, posterior) != log_likelihood
                || scores != exact
            {
                return Err("the kernels differ");
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
            kernel,
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
    let print = |stage, count| print_stage(console, "i16", "abandoning", stage, count);

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

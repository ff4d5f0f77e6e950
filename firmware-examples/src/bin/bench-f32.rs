//! Instructions of a mixture's evaluation in f32: log-likelihood, responsibilities, class
//! posterior and MAP class, each checked against the reference that comes with the problem.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::problem::{Problem, Vector};
use firmware_examples::bench::{Row, instructions};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::label;
use rebearing::mixture::{self, Mixture};

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;

/// The kernel that the crate was built with.
const KERNEL: &str = if cfg!(feature = "asm") { "asm" } else { "safe" };

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
    let problem = Problem::read(model_region()).ok_or("no problem in the MODEL region")?;
    let mut scores = [0.0; COMPONENTS];
    let mut posterior = [0.0; CLASSES];
    let scores = scores.get_mut(..problem.components).ok_or("too many components")?;
    let posterior = posterior.get_mut(..problem.classes).ok_or("too many classes")?;
    let ram = size_of_val(scores) + size_of_val(posterior);

    let mut total = 0;
    let mut vectors = 0;
    for vector in problem.vectors() {
        let (log_likelihood, class) = infer(&problem, &vector, scores, posterior);
        if !vector.agrees(log_likelihood, scores, posterior) || !vector.agrees_on_class(class) {
            return Err("a result is not the reference's");
        }
        total += instructions(|| {
            black_box(infer(black_box(&problem), black_box(&vector), scores, posterior));
        });
        vectors += 1;
    }
    Row {
        encoding: "f32",
        kernel: KERNEL,
        components: problem.components,
        dims: problem.dims,
        case: "plain",
        instructions: total.checked_div(vectors).ok_or("a problem without vectors")?,
        parameters: problem.parameters(),
        ram,
    }
    .print(console);
    Ok(())
}

/// What is counted; a function of its own, so that its code has a size in the ELF file.
#[inline(never)]
fn infer(
    problem: &Problem<'_>,
    vector: &Vector<'_>,
    scores: &mut [f32],
    posterior: &mut [f32],
) -> (f32, usize) {
    let mixture = Mixture::new(problem.constants, problem.whitening, problem.dims);
    mixture.log_densities(vector.x, scores);
    let log_likelihood = mixture::responsibilities(scores);
    label::posterior(scores, problem.labels, posterior);
    (log_likelihood, label::map_class(posterior))
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

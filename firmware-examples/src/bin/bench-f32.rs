//! Instructions of a mixture's evaluation in f32: log-likelihood, responsibilities, class
//! posterior and MAP class, each checked against the reference that comes with the problem.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::problem::{Problem, Vector};
use firmware_examples::bench::{Digest, Row, instructions};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::label;
use rebearing::mixture::{self, Mixture};

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;
const DIMS: usize = 1024;

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
    let mut x = [0.0; DIMS];
    let mut buffers = Buffers {
        scores: scores.get_mut(..problem.components).ok_or("too many components")?,
        posterior: posterior.get_mut(..problem.classes).ok_or("too many classes")?,
        x: x.get_mut(..problem.dims).ok_or("too many dims")?,
    };
    let results = size_of_val(buffers.scores) + size_of_val(buffers.posterior);
    // The full evaluation takes the more, the more components have a share in the vector.
    if problem.case == "worst" {
        let counted = count(&problem, &mut buffers, infer)?;
        row(&problem, "plain", counted, problem.parameters(), results).print(console);
    }
    if problem.lead > 0 {
        let counted = count(&problem, &mut buffers, infer_leading)?;
        let (parameters, ram) = (size_of_val(problem.order), size_of_val(buffers.x));
        let parameters = problem.parameters() + parameters;
        row(&problem, problem.case, counted, parameters, results + ram).print(console);
    }
    Ok(())
}

/// Room for what an inference writes.
struct Buffers<'b> {
    scores: &'b mut [f32],
    posterior: &'b mut [f32],
    x: &'b mut [f32],
}

fn row(
    problem: &Problem<'_>,
    case: &'static str,
    (instructions, bits): (u32, Digest),
    parameters: usize,
    ram: usize,
) -> Row {
    let (components, dims) = (problem.components, problem.dims);
    let (encoding, kernel, bits) = ("f32", KERNEL, Some(bits));
    Row { encoding, kernel, components, dims, case, instructions, parameters, ram, bits }
}

type Infer = fn(&Problem<'_>, &Vector<'_>, &mut Buffers<'_>) -> (f32, usize);

/// Instructions of `infer`, the mean over the problem's vectors, and the bits of all results.
fn count(
    problem: &Problem<'_>,
    buffers: &mut Buffers<'_>,
    infer: Infer,
) -> Result<(u32, Digest), &'static str> {
    let mut bits = Digest::EMPTY;
    let mut total = 0;
    let mut vectors = 0;
    for vector in problem.vectors() {
        // Without leading features a model needs no other order than its features have.
        mixture::reorder(vector.x, problem.order, buffers.x);
        let (log_likelihood, class) = infer(problem, &vector, buffers);
        if !vector.agrees(log_likelihood, buffers.scores, buffers.posterior)
            || !vector.agrees_on_class(class)
        {
            return Err("a result is not the reference's");
        }
        bits.add_floats(&[log_likelihood]);
        bits.add_floats(buffers.scores);
        bits.add_floats(buffers.posterior);
        bits.add(class as u32);
        total += instructions(|| {
            black_box(infer(black_box(problem), black_box(&vector), buffers));
        });
        vectors += 1;
    }
    let mean = total.checked_div(vectors).ok_or("a problem without vectors")?;
    Ok((mean, bits))
}

/// All components on all features; a function of its own, so that its code has a size.
#[inline(never)]
fn infer(problem: &Problem<'_>, _: &Vector<'_>, buffers: &mut Buffers<'_>) -> (f32, usize) {
    let mixture = Mixture::new(problem.constants, problem.whitening, problem.dims);
    mixture.log_densities(buffers.x, buffers.scores);
    finish(problem, buffers)
}

/// The leading features first.
#[inline(never)]
fn infer_leading(
    problem: &Problem<'_>,
    vector: &Vector<'_>,
    buffers: &mut Buffers<'_>,
) -> (f32, usize) {
    let mixture = Mixture::new(problem.constants, problem.whitening, problem.dims);
    mixture::reorder(vector.x, problem.order, buffers.x);
    mixture.leading_log_densities(buffers.x, problem.lead, buffers.scores);
    finish(problem, buffers)
}

#[inline]
fn finish(problem: &Problem<'_>, buffers: &mut Buffers<'_>) -> (f32, usize) {
    let log_likelihood = mixture::responsibilities(buffers.scores);
    label::posterior(buffers.scores, problem.labels, buffers.posterior);
    (log_likelihood, label::map_class(buffers.posterior))
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

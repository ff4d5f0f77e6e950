//! Instructions of a mixture's evaluation in integers: log-likelihood, responsibilities, class
//! posterior and MAP class, checked against the reference that comes with the problem, and with
//! components dropped early against the evaluation without, bit for bit.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::integer_problem::{IntegerProblem, IntegerVector};
use firmware_examples::bench::{Digest, Row, instructions};
use firmware_examples::line::Line;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::integer::IntegerPart;
use rebearing::integer::diagnosis::{normalise, write_posterior};
use rebearing::integer::mixture::{energies, energies_abandoning, weights};

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;

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
    let mut scores = [0; COMPONENTS];
    let mut exact = [0; COMPONENTS];
    let mut posterior = [0; CLASSES];
    let mut buffers = Buffers {
        scores: scores.get_mut(..problem.part.len()).ok_or("too many components")?,
        exact: exact.get_mut(..problem.part.len()).ok_or("too many components")?,
        posterior: posterior.get_mut(..problem.classes).ok_or("too many classes")?,
    };
    // The full evaluation takes the more, the more components have a share in the vector.
    if problem.case == "worst" {
        count(&problem, &mut buffers, "plain", energies)?.print(console);
    }
    count(&problem, &mut buffers, problem.case, energies_abandoning)?.print(console);
    Ok(())
}

/// Room for what an inference writes, and for what it must be.
struct Buffers<'b> {
    scores: &'b mut [u32],
    exact: &'b mut [u32],
    posterior: &'b mut [u16],
}

/// Instructions of an inference, the mean over the problem's vectors, as a row.
fn count(
    problem: &IntegerProblem<'_>,
    buffers: &mut Buffers<'_>,
    case: &'static str,
    evaluate: Kernel,
) -> Result<Row, &'static str> {
    let Buffers { scores, exact, posterior } = buffers;
    let mut bits = Digest::EMPTY;
    let mut total = 0_u32;
    let mut vectors = 0;
    for vector in problem.vectors() {
        let full = infer(problem, &vector, energies, exact, posterior);
        let (log_likelihood, class) = infer(problem, &vector, evaluate, scores, posterior);
        if (log_likelihood, class) != full || scores != exact {
            return Err("dropping components changed a result");
        }
        if !vector.agrees(log_likelihood, posterior, class) {
            return Err("a result is not the reference's");
        }
        bits.add(log_likelihood.cast_unsigned());
        scores.iter().for_each(|score| bits.add(*score));
        posterior.iter().for_each(|p| bits.add(u32::from(*p)));
        bits.add(class as u32);
        total += instructions(|| {
            let problem = black_box(problem);
            black_box(infer(problem, black_box(&vector), evaluate, scores, posterior));
        });
        vectors += 1;
    }
    Ok(Row {
        encoding: "i16",
        kernel: "safe",
        components: problem.part.len(),
        dims: problem.dims,
        case,
        instructions: total.checked_div(vectors).ok_or("a problem without vectors")?,
        parameters: problem.parameters,
        ram: size_of_val::<[u32]>(scores) + size_of_val::<[u16]>(posterior),
        bits: Some(bits),
    })
}

/// What is counted; a function of its own, so that its code has a size in the ELF file.
#[inline(never)]
fn infer(
    problem: &IntegerProblem<'_>,
    vector: &IntegerVector<'_>,
    evaluate: Kernel,
    scores: &mut [u32],
    posterior: &mut [u16],
) -> (i32, usize) {
    evaluate(&problem.part, vector.x, scores);
    let found = weights(&problem.part, scores);
    normalise(scores, found.total);
    (found.log_likelihood, write_posterior(scores, problem.labels, posterior))
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

//! Instructions to evaluate a mixture in integers: log-likelihood, responsibilities, class
//! posterior and MAP class. The results are checked against the reference that comes with the
//! problem. They are also compared bit for bit with the energies' definition, with and without the
//! early drop.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use firmware_examples::bench::problem::integer::{Problem, Vector};
use firmware_examples::bench::problem::{Header, Inference, count};
use firmware_examples::bench::{self, Digest};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;
use rebearing::integer::IntegerPart;
use rebearing::integer::classifier::{normalise, write_posterior};
use rebearing::integer::mixture::{energies, energies_with_early_drop, weights};

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;

/// A function that evaluates a mixture.
type Kernel = fn(&IntegerPart<'_>, &[i16], &mut [u32]);

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let problem = Problem::read(model_region()).ok_or("no problem in the MODEL region")?;
    check_kernel()?;
    let Header { components, classes, case, .. } = problem.header;
    let mut scores = [0; COMPONENTS];
    let mut exact = [0; COMPONENTS];
    let mut posterior = [0; CLASSES];
    let mut inference = Integers {
        problem,
        evaluate: energies,
        scores: scores.get_mut(..components).ok_or("too many components")?,
        exact: exact.get_mut(..components).ok_or("too many components")?,
        posterior: posterior.get_mut(..classes).ok_or("too many classes")?,
    };
    // The full evaluation costs more if more components have a share in the vector.
    if case == "worst" {
        count(&mut inference, "plain")?.print(console);
    }
    inference.evaluate = energies_with_early_drop;
    count(&mut inference, case)?.print(console);
    Ok(())
}

/// The energies of a mixture as the model file defines them, to compare with the kernel.
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

/// Compares the kernel with the definition in the cases where the kernel branches: dimensions that
/// do not fill whole blocks, numbers that do not begin on a word, and sums that saturate.
#[inline(never)]
fn check_kernel() -> Result<(), &'static str> {
    /// Largest number of dimensions to try.
    const DIMS: usize = 41;
    let mut noise = 1_u32;
    for dims in 1..=DIMS {
        // Range of a feature in steps. With the largest range, sums saturate.
        for steps in [40, 1000, 16_383] {
            let mut next = || {
                noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
                // 0…2·steps, minus the middle.
                (((noise >> 16) * (2 * steps + 1)) >> 16) as i16 - steps as i16
            };
            let x: [i16; DIMS + 1] = core::array::from_fn(|_| next());
            let mut rows = [0; 4 * (DIMS + 1)];
            let padded = dims.next_multiple_of(2);
            for row in rows.chunks_exact_mut((2 * padded).max(1)) {
                for (i, number) in row.iter_mut().enumerate() {
                    // Means come first, then scales. Scales are positive and up to twice as large.
                    *number = if i < padded { next() } else { 1 + 2 * next().abs() };
                }
            }
            let rows = rows.get(..4 * padded).unwrap_or_default();
            for (start, early_drop) in [(0, 8), (1, 8), (0, 3)] {
                let part = IntegerPart::new(&[0, 77], rows, dims, early_drop.min(dims), 12);
                let x = x.get(start..start + dims).unwrap_or_default();
                let (mut exact, mut found, mut dropped) = ([0; 2], [0; 2], [0; 2]);
                by_definition(&part, x, &mut exact);
                energies(&part, x, &mut found);
                energies_with_early_drop(&part, x, &mut dropped);
                let kept = dropped.iter().zip(&exact).all(|(a, b)| *a == u32::MAX || a == b);
                if found != exact || !kept || dropped.iter().min() != exact.iter().min() {
                    return Err("the kernel does not give the bits of the definition");
                }
            }
        }
    }
    Ok(())
}

/// An inference in integers, its working memory, and the expected results.
struct Integers<'b> {
    problem: Problem<'b>,
    evaluate: Kernel,
    scores: &'b mut [u32],
    exact: &'b mut [u32],
    posterior: &'b mut [u16],
}

impl<'b> Inference for Integers<'b> {
    const ENCODING: &'static str = "i16";
    const KERNEL: &'static str = if cfg!(feature = "dsp") { "dsp" } else { "safe" };
    type Vector = Vector<'b>;

    fn header(&self) -> Header {
        self.problem.header
    }

    fn vectors(&self) -> impl Iterator<Item = Vector<'b>> + use<'b> {
        self.problem.vectors()
    }

    fn check(&mut self, vector: &Vector<'b>, bits: &mut Digest) -> Result<(), &'static str> {
        let Self { problem, evaluate, scores, exact, posterior } = self;
        let full = infer(problem, vector, by_definition, exact, posterior);
        let (log_likelihood, class) = infer(problem, vector, *evaluate, scores, posterior);
        if (log_likelihood, class) != full || scores != exact {
            return Err("the kernel does not give the bits of the definition");
        }
        if !vector.agrees(log_likelihood, posterior, class) {
            return Err("a result is not the reference's");
        }
        bits.add(log_likelihood.cast_unsigned());
        scores.iter().for_each(|score| bits.add(*score));
        posterior.iter().for_each(|p| bits.add(u32::from(*p)));
        bits.add(class as u32);
        Ok(())
    }

    fn infer(&mut self, vector: &Vector<'b>) {
        let Self { problem, evaluate, scores, posterior, .. } = self;
        black_box(infer(black_box(problem), vector, *evaluate, scores, posterior));
    }

    fn parameters(&self) -> usize {
        self.problem.parameters
    }

    fn ram(&self) -> usize {
        size_of_val(self.scores) + size_of_val(self.posterior)
    }
}

/// The counted work. In its own function, so its code has a size in the ELF file.
#[inline(never)]
fn infer(
    problem: &Problem<'_>,
    vector: &Vector<'_>,
    evaluate: Kernel,
    scores: &mut [u32],
    posterior: &mut [u16],
) -> (i32, usize) {
    evaluate(&problem.part, vector.x, scores);
    let found = weights(&problem.part, scores);
    normalise(scores, found.total);
    (found.log_likelihood, write_posterior(scores, problem.labels, posterior))
}

firmware_examples::semihosting_faults!();

//! Instructions to evaluate a mixture in f32: log-likelihood, responsibilities, class posterior and
//! MAP class. Each result is checked against the reference that comes with the problem.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use firmware_examples::bench::problem::float::{Problem, Vector};
use firmware_examples::bench::problem::{Header, Inference, count};
use firmware_examples::bench::{self, Digest};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;
use rebearing::classify::{Mixture, map_class, posterior, reorder, responsibilities};

/// Room for the largest problem.
const COMPONENTS: usize = 128;
const CLASSES: usize = 16;
const DIMS: usize = 1024;

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let problem = Problem::read(model_region()).ok_or("no problem in the MODEL region")?;
    let Header { components, dims, classes, early_drop, case, .. } = problem.header;
    let mut scores = [0.0; COMPONENTS];
    let mut posterior = [0.0; CLASSES];
    let mut x = [0.0; DIMS];
    let mut inference = Floats {
        problem,
        infer,
        scores: scores.get_mut(..components).ok_or("too many components")?,
        posterior: posterior.get_mut(..classes).ok_or("too many classes")?,
        x: x.get_mut(..dims).ok_or("too many dims")?,
        reorders: false,
    };
    // The full evaluation costs more if more components have a share in the vector.
    if case == "worst" {
        count(&mut inference, "plain")?.print(console);
    }
    if early_drop > 0 {
        inference.infer = infer_with_early_drop;
        inference.reorders = true;
        count(&mut inference, case)?.print(console);
    }
    Ok(())
}

type Infer = fn(&mut Floats<'_>, &Vector<'_>) -> (f32, usize);

/// An inference in f32 and its working memory.
struct Floats<'b> {
    problem: Problem<'b>,
    infer: Infer,
    scores: &'b mut [f32],
    posterior: &'b mut [f32],
    x: &'b mut [f32],
    /// True if it needs the features in another order than they come in.
    reorders: bool,
}

impl<'b> Inference for Floats<'b> {
    const ENCODING: &'static str = "f32";
    const KERNEL: &'static str = if cfg!(feature = "asm") { "asm" } else { "safe" };
    type Vector = Vector<'b>;

    fn header(&self) -> Header {
        self.problem.header
    }

    fn vectors(&self) -> impl Iterator<Item = Vector<'b>> + use<'b> {
        self.problem.vectors()
    }

    fn check(&mut self, vector: &Vector<'b>, bits: &mut Digest) -> Result<(), &'static str> {
        // Without an early drop, a model uses its features in their own order.
        reorder(vector.x, self.problem.order, self.x);
        let (log_likelihood, class) = (self.infer)(self, vector);
        if !vector.agrees(log_likelihood, self.scores, self.posterior)
            || !vector.agrees_on_class(class)
        {
            return Err("a result is not the reference's");
        }
        bits.add_floats(&[log_likelihood]);
        bits.add_floats(self.scores);
        bits.add_floats(self.posterior);
        bits.add(class as u32);
        Ok(())
    }

    fn infer(&mut self, vector: &Vector<'b>) {
        let infer = self.infer;
        black_box(infer(self, vector));
    }

    fn parameters(&self) -> usize {
        let order = if self.reorders { size_of_val(self.problem.order) } else { 0 };
        self.problem.parameters() + order
    }

    fn ram(&self) -> usize {
        let x = if self.reorders { size_of_val(self.x) } else { 0 };
        size_of_val(self.scores) + size_of_val(self.posterior) + x
    }
}

/// Evaluates all components on all features. In its own function, so its code has a size.
#[inline(never)]
fn infer(floats: &mut Floats<'_>, _: &Vector<'_>) -> (f32, usize) {
    let Floats { problem, scores, x, .. } = floats;
    let mixture = Mixture::new(problem.constants, problem.whitening, problem.header.dims);
    mixture.log_densities(x, scores);
    finish(floats)
}

/// Evaluates some features first, and the rest only for components that may still matter.
#[inline(never)]
fn infer_with_early_drop(floats: &mut Floats<'_>, vector: &Vector<'_>) -> (f32, usize) {
    let Floats { problem, scores, x, .. } = floats;
    let Header { dims, early_drop, .. } = problem.header;
    let mixture = Mixture::new(problem.constants, problem.whitening, dims);
    reorder(vector.x, problem.order, x);
    mixture.log_densities_with_early_drop(x, early_drop, scores);
    finish(floats)
}

#[inline]
fn finish(floats: &mut Floats<'_>) -> (f32, usize) {
    let log_likelihood = responsibilities(floats.scores);
    posterior(floats.scores, floats.problem.labels, floats.posterior);
    (log_likelihood, map_class(floats.posterior))
}

firmware_examples::semihosting_faults!();

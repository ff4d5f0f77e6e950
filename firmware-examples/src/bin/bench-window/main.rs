//! Instructions of each stage of a whole window, and the stack and RAM that a monitor takes.
//!
//! The problem in the MODEL region tells whether the stages are those of f32 or of i16 models.

#![no_std]
#![no_main]

mod float;
mod integer;

use cortex_m_rt::entry;
use firmware_examples::bench;
use firmware_examples::bench::window::Problem;
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let region = model_region();
    if let Some(problem) = Problem::read(region, *b"WNDW") {
        float::run(console, &problem)
    } else if let Some(problem) = Problem::read(region, *b"WNDI") {
        integer::run(console, &problem)
    } else {
        Err("no problem in the MODEL region")
    }
}

firmware_examples::semihosting_faults!();

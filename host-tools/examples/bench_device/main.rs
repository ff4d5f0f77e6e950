//! The host side of `cargo xtask bench device`: writes the problems that the firmware evaluates,
//! each with the results of a reference in f64.
//!
//! `bench_device DIRECTORY` writes `f32-KxD-CASE.bin` and `i16-KxD-CASE.bin` for every shape and case
//! and `window.bin`, and prints the names.

mod draw;
mod integer;
mod problem;
mod window;

use std::path::Path;

use anyhow::Context;
use problem::{Case, Problem};

/// Components and dims of the table's columns.
const SHAPES: [(usize, usize); 6] =
    [(10, 16), (20, 32), (40, 64), (40, 128), (100, 128), (10, 1024)];

/// Memory that the boards have outside the chip; emlearn's numbers at (10, 1024) do not fit.
const EXTERNAL: usize = 15 << 20;

fn main() -> anyhow::Result<()> {
    let directory = std::env::args().nth(1).context("which directory?")?;
    let directory = Path::new(&directory);
    std::fs::create_dir_all(directory)?;
    for (components, dims) in SHAPES {
        for case in [Case::Clustered, Case::Worst] {
            let problem = Problem::draw(components, dims, case);
            let name = format!("f32-{components}x{dims}-{}.bin", case.name());
            std::fs::write(directory.join(&name), problem.f32_bytes())?;
            println!("{name}");
            let name = format!("i16-{components}x{dims}-{}.bin", case.name());
            std::fs::write(directory.join(&name), problem.i16_bytes()?)?;
            println!("{name}");
            if case == Case::Clustered && components * dims * dims * 4 < EXTERNAL {
                let name = format!("emlearn-{components}x{dims}.bin");
                std::fs::write(directory.join(&name), problem.emlearn_bytes())?;
                println!("{name}");
            }
        }
    }
    std::fs::write(directory.join("window.bin"), window::bytes()?)?;
    println!("window.bin");
    // The whole window in integers has this many components of 32 bands.
    let name = "i16-40x32-clustered.bin";
    let problem = Problem::draw(40, 32, Case::Clustered);
    std::fs::write(directory.join(name), problem.i16_bytes()?)?;
    println!("{name}");
    Ok(())
}

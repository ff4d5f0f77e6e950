//! The host side of `cargo xtask bench device`: writes the problems that the firmware evaluates,
//! each with the results of a reference in f64.
//!
//! `bench_device problems DIRECTORY` writes `f32-KxD-CASE.bin` and `i16-KxD-CASE.bin` for every
//! shape and case, `window-f32.bin` and `window-i16.bin`, and `receiver.bin` with signed models. It
//! prints the names.
//! `bench_device estimates` prints the estimates of `rebearing inspect` for the same problems.

mod draw;
mod estimates;
mod integer;
mod problem;
mod receiver;
mod window;

use std::path::Path;

use anyhow::bail;
use problem::{Case, Problem};

/// Components and dims of each column of the table.
pub(crate) const SHAPES: [(usize, usize); 6] =
    [(10, 16), (20, 32), (40, 64), (40, 128), (100, 128), (10, 1024)];

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match &words.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        ["problems", directory] => write_problems(Path::new(directory)),
        ["estimates"] => {
            estimates::print();
            Ok(())
        }
        _ => bail!("bench_device problems DIRECTORY, or bench_device estimates"),
    }
}

fn write_problems(directory: &Path) -> anyhow::Result<()> {
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
            if case == Case::Clustered {
                let name = format!("emlearn-{components}x{dims}.bin");
                std::fs::write(directory.join(&name), problem.emlearn_bytes())?;
                println!("{name}");
            }
        }
    }
    let window = window::draw(window::COMPONENTS)?;
    let files = [
        ("window-f32.bin", window.f32_bytes()),
        ("window-i16.bin", window.i16_bytes()?),
        ("receiver.bin", receiver::bytes()?),
    ];
    for (name, bytes) in files {
        std::fs::write(directory.join(name), bytes)?;
        println!("{name}");
    }
    Ok(())
}

//! `cargo xtask bench device`: instructions per inference and per stage, in QEMU.
//!
//! ```text
//!  bench_device (host) ─► problems ─┐
//!  bench-… (firmware) ──► ELF ──────┴─► boards (QEMU) ─► rows ─► report
//! ```
//!
//! The host draws the problems and computes what they must give in f64; the firmware evaluates
//! them, compares, and prints a line of JSON for each; a wrong result ends the bench. Instructions
//! are counted, cycles are not: QEMU has no model of the pipeline.

mod boards;
mod report;
mod rows;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::bench::json::Json;
use crate::firmware;
use crate::qemu;
use crate::run::{capture, root, target_dir};
use crate::toolchain::{TARGETS, Thumb};
use boards::{BOARDS, Board};
use rows::{Row, Stage};

/// A firmware binary of the bench in one build.
struct Program {
    binary: &'static str,
    features: &'static [&'static str],
    /// Whether a board has a use for it.
    suits: fn(Board) -> bool,
    /// Which of the host's files it evaluates.
    evaluates: fn(&str) -> bool,
    /// Parts of the names of the functions that an inference consists of.
    functions: &'static [&'static str],
}

/// All of them; another encoding or kernel is another entry.
const PROGRAMS: [Program; 2] = [
    Program {
        binary: "bench-f32",
        features: &[],
        suits: |_| true,
        evaluates: |file| file.starts_with("f32-"),
        functions: RUST_F32,
    },
    Program {
        binary: "bench-f32",
        features: &["asm"],
        suits: |board| board.floats_in_hardware,
        evaluates: |file| file.starts_with("f32-"),
        functions: RUST_F32,
    },
];

/// The functions of an inference by the device crate, those of soft floating point included.
const RUST_F32: &[&str] = &["infer", "rebearing", "libm", "__aeabi_f", "__aeabi_i2f"];

/// Builds and runs everything, and prints the tables or one JSON object.
pub(crate) fn bench(words: &[&str]) -> Result<(), Failure> {
    let json = match words {
        [] => false,
        ["--json"] => true,
        _ => return Err(Failure::Usage(format!("`bench device` cannot do `{}`", words.join(" ")))),
    };
    let emulator = qemu::find_or_install()?;
    let thumb = Thumb::for_targets(&TARGETS)?;
    let problems = Problems::write()?;
    let mut rows: Vec<Row> = Vec::new();
    let mut stages: Vec<Stage> = Vec::new();
    for board in BOARDS {
        for program in PROGRAMS.iter().filter(|program| (program.suits)(board)) {
            let elf = firmware::build_with(thumb, program.binary, board.target, program.features)?;
            let code = symbols::code_size(&elf, program.functions)?;
            for name in problems.names.iter().filter(|name| (program.evaluates)(name)) {
                for answer in board.run(&emulator, &elf, &problems.directory.join(name))? {
                    if answer.text("stage").is_ok() {
                        stages.push(Stage::read(&answer)?);
                    } else {
                        rows.push(Row::read(&answer, code)?);
                    }
                }
            }
        }
    }
    if json {
        let object = Json::object([
            ("mixtures", Json::list(rows.iter().map(Row::json))),
            ("stages", Json::list(stages.iter().map(Stage::json))),
        ]);
        println!("{object}");
    } else {
        print!("{}", report::text(&boards::version(&emulator), &rows, &stages));
    }
    Ok(())
}

/// The files that the host writes for the firmware.
struct Problems {
    directory: PathBuf,
    names: Vec<String>,
}

impl Problems {
    fn write() -> Result<Self, String> {
        let directory = target_dir("bench-device", "target/bench-device");
        let mut host = Command::new("cargo");
        host.current_dir(root()).args(["run", "--quiet", "--locked", "--release"]);
        host.args(["--package", "rebearing-host", "--example", "bench_device", "--"]);
        let names = capture(host.arg(&directory)).ok_or_else(|| {
            format!("the bench's problems cannot be written to {}", show(&directory))
        })?;
        Ok(Self { directory, names: names.lines().map(str::to_owned).collect() })
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

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
mod emlearn;
mod quoted;
mod report;
mod rows;
mod symbols;

use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::bench::json::{Answer, Json};
use crate::firmware;
use crate::qemu;
use crate::run::{capture, root, target_dir};
use crate::toolchain::{M4F, TARGETS, Thumb};
use boards::{BOARDS, Board};
use rows::{Row, Stack, Stage};

/// A firmware binary of the bench in one build.
struct Program {
    binary: &'static str,
    features: &'static [&'static str],
    /// Whether a board has a use for it.
    suits: fn(Board) -> bool,
    /// How the names of the host's files begin that it evaluates.
    files: &'static str,
    /// Parts of the names of the functions that an inference consists of.
    functions: &'static [&'static str],
}

/// All of ours; another encoding or kernel is another entry.
const PROGRAMS: [Program; 6] = [
    Program {
        binary: "bench-f32",
        features: &[],
        suits: |_| true,
        files: "f32-",
        functions: RUST_F32,
    },
    Program {
        binary: "bench-f32",
        features: &["asm"],
        suits: |board| board.floats,
        files: "f32-",
        functions: RUST_F32,
    },
    Program {
        binary: "bench-window",
        features: &[],
        suits: |_| true,
        files: "window",
        functions: RUST_F32,
    },
    Program {
        binary: "bench-window",
        features: &["asm"],
        suits: |board| board.floats,
        files: "window",
        functions: RUST_F32,
    },
    Program {
        binary: "bench-i16",
        features: &[],
        suits: |_| true,
        files: "i16-",
        functions: RUST_I16,
    },
    Program {
        binary: "bench-i16",
        features: &["dsp"],
        suits: |board| board.target == M4F,
        files: "i16-",
        functions: RUST_I16,
    },
];

/// The functions of an inference by the device crate, those of soft floating point included.
const RUST_F32: &[&str] = &["infer", "rebearing", "libm", "__aeabi_f", "__aeabi_i2f"];
/// The same in integers.
const RUST_I16: &[&str] = &["infer", "rebearing", "__aeabi_u", "__aeabi_l", "__clzsi2"];
/// The same of emlearn's.
const C_F32: &[&str] = &["eml_", "bench_emlearn", "expf", "logf", "__math", "__aeabi_"];

/// What was measured.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    stages: Vec<Stage>,
    stacks: Vec<Stack>,
}

impl Measured {
    fn add(&mut self, answers: &[Answer], code: u64) -> Result<(), String> {
        for answer in answers {
            if answer.text("stage").is_ok() {
                self.stages.push(Stage::read(answer)?);
            } else if answer.text("stack").is_ok() {
                self.stacks.push(Stack::read(answer)?);
            } else {
                self.rows.push(Row::read(answer, code)?);
            }
        }
        Ok(())
    }
}

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
    let peer = emlearn::Emlearn::fetch()?;
    let mut measured = Measured::default();
    for board in BOARDS {
        for program in PROGRAMS.iter().filter(|program| (program.suits)(board)) {
            let elf = firmware::build_with(thumb, program.binary, board.target, program.features)?;
            let code = symbols::code_size(&elf, program.functions)?;
            for problem in problems.of(program.files) {
                measured.add(&board.run(&emulator, &elf, &problem)?, code)?;
            }
        }
        let elf = firmware::build_emlearn(thumb, board.target, &peer.compile(board)?)?;
        let code = symbols::code_size(&elf, C_F32)?;
        for problem in problems.of("emlearn-") {
            measured.add(&board.run_external(&emulator, &elf, &problem)?, code)?;
        }
    }
    measured.rows.extend(quoted::rows());
    if json {
        let object = Json::object([
            ("mixtures", Json::list(measured.rows.iter().map(Row::json))),
            ("stages", Json::list(measured.stages.iter().map(Stage::json))),
            ("stacks", Json::list(measured.stacks.iter().map(Stack::json))),
        ]);
        println!("{object}");
    } else {
        print!("{}", report::text(&boards::version(&emulator), &measured));
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

    /// The files whose names begin so.
    fn of(&self, beginning: &str) -> impl Iterator<Item = PathBuf> {
        let names = self.names.iter().filter(move |name| name.starts_with(beginning));
        names.map(|name| self.directory.join(name))
    }
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

//! `cargo xtask bench device`: instructions per inference, per stage and per step of an update, in
//! QEMU.
//!
//! ```text
//!  bench_device (host) ─► problems ─┐
//!  bench-… (firmware) ──► ELF ──────┴─► boards (QEMU) ─► rows ─► report
//! ```
//!
//! The host draws the problems and computes the expected results in f64. The firmware evaluates the
//! problems, compares, and prints a line of JSON for each. The bench fails on any of these:
//!
//! - a wrong result;
//! - two kernels or cores that differ in a bit;
//! - a model that takes more than a quarter longer when nothing can be dropped;
//! - an estimate of `rebearing inspect` that is too far off.
//!
//! Instructions are counted, not cycles: QEMU has no model of the pipeline.

mod boards;
mod emlearn;
mod estimates;
mod quoted;
mod receiver;
mod report;
mod rows;
mod symbols;

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::Failure;
use crate::bench::json::{Answer, Json};
use crate::firmware;
use crate::qemu;
use crate::run::{capture, root, target_dir};
use crate::toolchain::{TARGETS, Thumb};
use boards::{BOARDS, Board};
use rows::{Function, Row, Stack, Stage};

/// A firmware binary of the bench in one build.
struct Program {
    binary: &'static str,
    features: &'static [&'static str],
    /// Whether a board can use it.
    suits: fn(Board) -> bool,
    /// Prefix of the names of the host's files that it evaluates.
    files: &'static str,
    /// Parts of the names of the functions that make up an inference.
    functions: &'static [&'static str],
}

/// All of our programs. Another encoding or kernel is another entry.
const PROGRAMS: [Program; 9] = [
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
        files: "window-f32",
        functions: RUST_F32,
    },
    Program {
        binary: "bench-window",
        features: &["asm"],
        suits: |board| board.floats,
        files: "window-f32",
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
        // The emulated Cortex-M33 has the DSP extension, like the M4F.
        suits: |board| board.floats,
        files: "i16-",
        functions: RUST_I16,
    },
    Program {
        binary: "bench-window-i16",
        features: &[],
        suits: |_| true,
        files: "window-i16",
        functions: RUST_I16,
    },
    Program {
        binary: "bench-window-i16",
        features: &["dsp"],
        suits: |board| board.floats,
        files: "window-i16",
        functions: RUST_I16,
    },
    Program {
        binary: "bench-math",
        features: &[],
        suits: |board| board.floats,
        // The program reads no file, but needs one to run once. Any file will do.
        files: "window-f32",
        functions: RUST_F32,
    },
];

/// Functions of an inference by the device crate, including those of soft floating point.
const RUST_F32: &[&str] = &["infer", "rebearing", "libm", "__aeabi_f", "__aeabi_i2f"];
/// Functions of an inference in integers.
const RUST_I16: &[&str] = &["infer", "rebearing", "__aeabi_u", "__aeabi_l", "__clzsi2"];
/// Functions of an inference by emlearn.
const C_F32: &[&str] = &["eml_", "bench_emlearn", "expf", "logf", "__math", "__aeabi_"];

/// All measurements.
#[derive(Default)]
struct Measured {
    rows: Vec<Row>,
    stages: Vec<Stage>,
    stacks: Vec<Stack>,
    functions: Vec<Function>,
    /// Problems without a row, because a board has too little memory for them.
    unfit: Vec<Unfit>,
}

/// A problem that is too large for a board.
struct Unfit {
    core: &'static str,
    /// The name of the problem's file, which shows kernel and shape.
    problem: String,
    bytes: u64,
    room: u64,
}

impl Unfit {
    fn json(&self) -> Json {
        Json::object([
            ("core", Json::text(self.core)),
            ("problem", Json::text(&self.problem)),
            ("bytes", Json::Number(self.bytes as f64)),
            ("room", Json::Number(self.room as f64)),
        ])
    }
}

impl Measured {
    /// Returns whether the file of a problem fits in the `room` of a board, and notes it if it does
    /// not.
    fn fits(&mut self, core: &'static str, problem: &Path, room: u64) -> Result<bool, String> {
        let file = std::fs::metadata(problem);
        let bytes = file.map_err(|error| format!("{}: {error}", show(problem)))?.len();
        if bytes > room {
            let problem = problem.file_stem().unwrap_or_default().to_string_lossy().into_owned();
            self.unfit.push(Unfit { core, problem, bytes, room });
        }
        Ok(bytes <= room)
    }

    /// Builds a program and runs it on a board, for all `problems` that fit.
    fn run(
        &mut self,
        emulator: &Path,
        thumb: Thumb,
        board: Board,
        program: &Program,
        problems: impl Iterator<Item = PathBuf>,
    ) -> Result<(), String> {
        let elf = firmware::build_with(thumb, program.binary, board.target, program.features)?;
        let code = symbols::code_size(&elf, program.functions)?;
        for problem in problems {
            if self.fits(board.core, &problem, board.model_room)? {
                self.add(&board.run(emulator, &elf, &problem)?, code)?;
            }
        }
        Ok(())
    }

    fn add(&mut self, answers: &[Answer], code: u64) -> Result<(), String> {
        for answer in answers {
            if answer.text("stage").is_ok() {
                self.stages.push(Stage::read(answer)?);
            } else if answer.text("stack").is_ok() {
                self.stacks.push(Stack::read(answer)?);
            } else if answer.text("function").is_ok() {
                self.functions.push(Function::read(answer)?);
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
        ["receiver"] => return Ok(receiver_alone(false)?),
        ["receiver", "--json"] => return Ok(receiver_alone(true)?),
        _ => return Err(Failure::Usage(format!("`bench device` cannot do `{}`", words.join(" ")))),
    };
    let emulator = qemu::find_or_install()?;
    let thumb = Thumb::for_targets(&TARGETS)?;
    let problems = Problems::write()?;
    let peer = emlearn::Emlearn::fetch()?;
    let mut measured = Measured::default();
    for board in BOARDS {
        for program in PROGRAMS.iter().filter(|program| (program.suits)(board)) {
            let problems = problems.of(program.files);
            measured.run(&emulator, thumb, board, program, problems)?;
        }
        let elf = firmware::build_emlearn(thumb, board.target, &peer.compile(board)?)?;
        let code = symbols::code_size(&elf, C_F32)?;
        for problem in problems.of("emlearn-") {
            if measured.fits(board.core, &problem, board.external_room())? {
                measured.add(&board.run_external(&emulator, &elf, &problem)?, code)?;
            }
        }
    }
    let receiver = receiver::measure(&emulator, thumb, &problems)?;
    rows::same_bits(&measured.rows)?;
    rows::worst_within_a_quarter(&measured.rows)?;
    let off = estimates::compare(&estimates()?, &measured);
    measured.rows.extend(quoted::rows());
    if json {
        let object = Json::object([
            ("mixtures", Json::list(measured.rows.iter().map(Row::json))),
            ("stages", Json::list(rows::leanest(&measured.stages).map(Stage::json))),
            ("stacks", Json::list(measured.stacks.iter().map(Stack::json))),
            ("functions", Json::list(measured.functions.iter().map(Function::json))),
            ("unfit", Json::list(measured.unfit.iter().map(Unfit::json))),
            ("receiver", receiver.json()),
        ]);
        println!("{object}");
    } else {
        print!("{}", report::text(&boards::version(&emulator), &measured));
        print!("\n{}", receiver.text());
    }
    // Last, because anyone who fits the estimates again needs the rows.
    eprint!("{}", off?);
    Ok(())
}

/// Measures the receiver of new models and nothing else, which needs no emlearn.
fn receiver_alone(json: bool) -> Result<(), String> {
    let emulator = qemu::find_or_install()?;
    let thumb = Thumb::for_targets(&TARGETS)?;
    let measured = receiver::measure(&emulator, thumb, &Problems::write()?)?;
    if json {
        println!("{}", measured.json());
    } else {
        print!("{}", measured.text());
    }
    Ok(())
}

/// Shapes that [`kernels`] runs: with and without leftover dimensions, and one where early drop
/// pays.
const CHECKED_SHAPES: [&str; 3] = ["-10x16-", "-20x32-", "-40x128-"];

/// Checks that every kernel gives the reference's results, and that all of them give the same bits.
/// This part of the bench is quick enough to be a test.
pub(crate) fn kernels() -> Result<(), String> {
    let emulator = qemu::find_or_install()?;
    let thumb = Thumb::for_targets(&TARGETS)?;
    let problems = Problems::write()?;
    let mut measured = Measured::default();
    for board in BOARDS {
        let mixtures = PROGRAMS.iter().filter(|program| !program.files.contains("window"));
        for program in mixtures.filter(|program| (program.suits)(board)) {
            let checked = problems.of(program.files).filter(|path| {
                let name = path.to_string_lossy();
                CHECKED_SHAPES.iter().any(|shape| name.contains(shape))
            });
            measured.run(&emulator, thumb, board, program, checked)?;
        }
    }
    let kernels: BTreeSet<_> =
        measured.rows.iter().map(|row| (&row.core, &row.encoding, &row.kernel)).collect();
    rows::same_bits(&measured.rows)?;
    eprintln!("{} rows of {} kernels agree in every bit", measured.rows.len(), kernels.len());
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
        let names = capture(host().arg("problems").arg(&directory)).ok_or_else(|| {
            format!("the bench's problems cannot be written to {}", show(&directory))
        })?;
        Ok(Self { directory, names: names.lines().map(str::to_owned).collect() })
    }

    /// Returns the files with names that begin with `beginning`.
    fn of(&self, beginning: &str) -> impl Iterator<Item = PathBuf> {
        let names = self.names.iter().filter(move |name| name.starts_with(beginning));
        names.map(|name| self.directory.join(name))
    }
}

/// Returns the estimates of `rebearing inspect` for the same mixtures and the window.
fn estimates() -> Result<Vec<Answer>, String> {
    let text = capture(host().arg("estimates")).ok_or("the host gives no estimates")?;
    text.lines().map(Answer::parse).collect()
}

/// The host's side of the bench, as the tests have already built it: in their profile, and of all
/// default members, so that dependencies have the same features and nothing is compiled again.
fn host() -> Command {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["run", "--quiet", "--locked", "--profile", "test"]);
    cargo.args(["--example", "bench_device", "--"]);
    cargo
}

fn show(path: &Path) -> String {
    path.display().to_string()
}

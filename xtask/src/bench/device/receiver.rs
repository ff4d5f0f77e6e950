//! `cargo xtask bench device receiver`: memory and time of the receiver of new models.
//!
//! Flash and RAM are those of `size-…` binaries, which differ in one part each. Instructions and
//! stack come from `bench-receiver` in QEMU, which has signed models in its slots.

use std::fmt::Write as _;
use std::path::Path;

use super::Problems;
use super::boards::{BOARDS, Board};
use crate::bench::json::{Answer, Json};
use crate::firmware::{self, Optimize};
use crate::size::{self, Size};
use crate::toolchain::{M0, M4F, Thumb};

/// The file of signed models.
const FILE: &str = "receiver.bin";
const BENCH: &str = "bench-receiver";
/// The binaries to compare. The first has no part of a receiver.
const BINARIES: [&str; 4] = ["size-newest", "size-bus", "size-unsigned", "size-signed"];
/// Clocks that instructions are converted to milliseconds for.
const MEGAHERTZ: [u64; 2] = [64, 168];

/// Memory of one binary.
struct Memory {
    core: &'static str,
    optimize: Optimize,
    binary: &'static str,
    size: Size,
}

/// A step of the receiver.
struct Step {
    core: String,
    optimize: Optimize,
    name: String,
    verifier: String,
    /// Bytes of the model.
    bytes: u64,
    instructions: u64,
    stack: u64,
}

impl Step {
    fn read(answer: &Answer, optimize: Optimize) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            optimize,
            name: answer.text("step")?.to_owned(),
            verifier: answer.text("verifier")?.to_owned(),
            bytes: answer.number("bytes")? as u64,
            instructions: answer.number("instructions")? as u64,
            stack: answer.number("stack")? as u64,
        })
    }
}

/// All measurements of the receiver.
pub(super) struct Measured {
    memory: Vec<Memory>,
    steps: Vec<Step>,
}

/// Builds and runs everything, optimised for speed and for size.
pub(super) fn measure(
    emulator: &Path,
    thumb: Thumb,
    problems: &Problems,
) -> Result<Measured, String> {
    let mut measured = Measured { memory: Vec::new(), steps: Vec::new() };
    let file = problems.of(FILE).next().ok_or("the host wrote no signed models")?;
    for board in BOARDS.iter().filter(|board| [M4F, M0].contains(&board.target)) {
        for optimize in [Optimize::Speed, Optimize::Size] {
            measured.add(emulator, thumb, *board, optimize, &file)?;
        }
    }
    Ok(measured)
}

impl Measured {
    fn add(
        &mut self,
        emulator: &Path,
        thumb: Thumb,
        board: Board,
        optimize: Optimize,
        file: &Path,
    ) -> Result<(), String> {
        for binary in BINARIES {
            let elf = firmware::build_for(thumb, binary, board.target, optimize)?;
            let size = size::size(&elf)?;
            self.memory.push(Memory { core: board.core, optimize, binary, size });
        }
        let elf = firmware::build_for(thumb, BENCH, board.target, optimize)?;
        for answer in board.run(emulator, &elf, file)? {
            self.steps.push(Step::read(&answer, optimize)?);
        }
        Ok(())
    }

    /// Returns both tables.
    pub(super) fn text(&self) -> String {
        let mut text = String::from(
            "| flash and RAM, bytes | | | flash | RAM | more flash | more RAM |\n\
             |---|---|---|---|---|---|---|\n",
        );
        for Memory { core, optimize, binary, size } in &self.memory {
            let Some(first) = self.first(core, *optimize) else { continue };
            let _ = writeln!(
                text,
                "| {core} | opt-level {} | {binary} | {} | {} | {} | {} |",
                optimize.level(),
                size.flash,
                size.ram,
                size.flash.saturating_sub(first.flash),
                size.ram.saturating_sub(first.ram),
            );
        }
        let [slow, fast] = MEGAHERTZ;
        let _ = writeln!(
            text,
            "\n| step | | | | model, bytes | instructions | ms at {slow} MHz | ms at {fast} MHz | stack, bytes |\n\
             |---|---|---|---|---|---|---|---|---|"
        );
        for step in &self.steps {
            let Step { core, optimize, name, verifier, bytes, instructions, stack } = step;
            let [slow, fast] = MEGAHERTZ.map(|clock| milliseconds(*instructions, clock));
            let _ = writeln!(
                text,
                "| {core} | opt-level {} | {verifier} | {name} | {bytes} | {instructions} | {slow:.1} | {fast:.1} | {stack} |",
                optimize.level(),
            );
        }
        text
    }

    /// Returns the memory of the binary that the others are compared with.
    fn first(&self, core: &str, optimize: Optimize) -> Option<&Size> {
        let same = |memory: &&Memory| {
            (memory.core, memory.optimize, memory.binary) == (core, optimize, BINARIES[0])
        };
        self.memory.iter().find(same).map(|memory| &memory.size)
    }

    /// Returns the measurements as JSON.
    pub(super) fn json(&self) -> Json {
        let number = |value: u64| Json::Number(value as f64);
        let memory = self.memory.iter().map(|memory| {
            Json::object([
                ("core", Json::text(memory.core)),
                ("opt_level", Json::text(memory.optimize.level())),
                ("binary", Json::text(memory.binary)),
                ("flash", number(memory.size.flash)),
                ("ram", number(memory.size.ram)),
            ])
        });
        let steps = self.steps.iter().map(|step| {
            Json::object([
                ("core", Json::text(&step.core)),
                ("opt_level", Json::text(step.optimize.level())),
                ("verifier", Json::text(&step.verifier)),
                ("step", Json::text(&step.name)),
                ("bytes", number(step.bytes)),
                ("instructions", number(step.instructions)),
                ("stack", number(step.stack)),
            ])
        });
        Json::object([("memory", Json::list(memory)), ("steps", Json::list(steps))])
    }
}

/// Returns the time of `instructions` in milliseconds, at one instruction a cycle.
fn milliseconds(instructions: u64, megahertz: u64) -> f64 {
    instructions as f64 / (1000.0 * megahertz as f64)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn memory(optimize: Optimize, binary: &'static str, flash: u64, ram: u64) -> Memory {
        Memory { core: "cortex-m0", optimize, binary, size: Size { flash, ram } }
    }

    #[test]
    fn a_binary_is_compared_with_the_first_of_its_own_build() {
        let [first, .., last] = BINARIES;
        let memory = vec![
            memory(Optimize::Speed, first, 1000, 100),
            memory(Optimize::Speed, last, 1700, 150),
            memory(Optimize::Size, first, 800, 100),
            memory(Optimize::Size, last, 1200, 145),
        ];
        let text = Measured { memory, steps: Vec::new() }.text();
        assert!(text.contains("| opt-level 3 | size-signed | 1700 | 150 | 700 | 50 |"), "{text}");
        assert!(text.contains("| opt-level s | size-signed | 1200 | 145 | 400 | 45 |"), "{text}");
    }

    #[test]
    fn a_step_has_its_time_at_both_clocks() {
        let line = r#"{"core":"cortex-m4f","step":"verify","verifier":"ed25519","bytes":5036,"instructions":3360000,"stack":9}"#;
        let step = Step::read(&Answer::parse(line).unwrap(), Optimize::Speed).unwrap();
        let text = Measured { memory: Vec::new(), steps: vec![step] }.text();
        assert!(text.contains("| verify | 5036 | 3360000 | 52.5 | 20.0 | 9 |"), "{text}");
    }
}

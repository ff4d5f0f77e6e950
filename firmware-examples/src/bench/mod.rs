//! Counts instructions in QEMU, and prints rows for `cargo xtask bench device`.
//!
//! With `-icount shift=0` an instruction takes one nanosecond of the machine's time, so that
//! `SysTick` counts instructions, 40 to a tick at 25 MHz. Work is repeated until a tick more or
//! less is under one in a thousand, and what the loop itself takes is measured and subtracted.

pub mod integer_problem;
pub mod problem;
pub mod stack;

use core::hint::black_box;
use core::ptr;

use crate::line::Line;
use crate::semihosting::Console;

/// The core that this firmware is built for, as the bench's rows name it.
pub const CORE: &str = env!("BOARD_CORE");

const CONTROL: *mut u32 = ptr::without_provenance_mut(0xE000_E010);
const RELOAD: *mut u32 = ptr::without_provenance_mut(0xE000_E014);
const CURRENT: *mut u32 = ptr::without_provenance_mut(0xE000_E018);

/// `SysTick` has 24 bits.
const TOP: u32 = 0x00FF_FFFF;
/// Enabled, from the processor's clock, without an interrupt.
const RUN: u32 = 0b101;

/// Ticks that a measurement should last, so that one more or less does not matter.
const ENOUGH: u32 = 2000;
/// Most repetitions of one measurement.
const MOST: u32 = 256;

/// Half-nanoseconds, which is half-instructions, of one tick: 16 MHz makes 62.5 instructions.
const HALVES_PER_TICK: u64 = 2000 / megahertz() as u64;

const fn megahertz() -> u32 {
    let mut value = 0;
    let mut digits = env!("BOARD_MEGAHERTZ").as_bytes();
    while let [digit, rest @ ..] = digits {
        value = value * 10 + (*digit - b'0') as u32;
        digits = rest;
    }
    value
}

/// The instructions that `work` takes, its call by the loop not counted.
///
/// `work` should take what it reads through `black_box`, or the compiler does it once for all.
pub fn instructions(mut work: impl FnMut()) -> u32 {
    start();
    let once = ticks(1, &mut work).max(1);
    let repeats = (ENOUGH / once).clamp(1, MOST);
    let total = ticks(repeats, &mut work);
    let overhead = ticks(repeats, &mut || {
        black_box(());
    });
    let net = u64::from(total.saturating_sub(overhead));
    // What the compiler cannot know: there is at least one repetition.
    (net * HALVES_PER_TICK / 2).checked_div(u64::from(repeats)).unwrap_or(0) as u32
}

fn start() {
    // SAFETY: every Cortex-M board that this runs on has SysTick at these addresses, and nothing
    // else here uses it.
    unsafe {
        RELOAD.write_volatile(TOP);
        CURRENT.write_volatile(0);
        CONTROL.write_volatile(RUN);
    }
}

fn now() -> u32 {
    // SAFETY: as above; reading has no effect.
    unsafe { CURRENT.read_volatile() }
}

fn ticks(repeats: u32, work: &mut impl FnMut()) -> u32 {
    let before = now();
    for _ in 0..repeats {
        work();
    }
    // It counts down, and 2²⁴ ticks (671 million instructions at 25 MHz) are more than any row has.
    before.wrapping_sub(now()) & TOP
}

/// One row of the table of mixtures.
pub struct Row {
    /// How the model's numbers are stored.
    pub encoding: &'static str,
    /// Which code evaluates them.
    pub kernel: &'static str,
    /// Components of the mixture.
    pub components: usize,
    /// Features.
    pub dims: usize,
    /// `plain`, `clustered` or `worst`.
    pub case: &'static str,
    /// Instructions of one inference.
    pub instructions: u32,
    /// Bytes of parameters in flash.
    pub parameters: usize,
    /// Bytes of buffers.
    pub ram: usize,
    /// The bits of all results; `None` where nothing else has to give the same.
    pub bits: Option<Digest>,
}

/// Tells results apart that differ in a bit, by FNV-1a over words.
#[derive(Clone, Copy)]
pub struct Digest(u32);

impl Digest {
    /// Of nothing.
    pub const EMPTY: Self = Self(0x811C_9DC5);

    /// Takes one more word of the results.
    pub fn add(&mut self, word: u32) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0193);
    }

    /// Takes the exact bits of floats.
    pub fn add_floats(&mut self, floats: &[f32]) {
        for x in floats {
            self.add(x.to_bits());
        }
    }
}

impl Row {
    /// Prints the row as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(self.encoding);
        line.text("\",\"kernel\":\"").text(self.kernel);
        line.text("\",\"components\":").decimal(self.components);
        line.text(",\"dims\":").decimal(self.dims);
        line.text(",\"case\":\"").text(self.case);
        line.text("\",\"instructions\":").decimal(self.instructions as usize);
        line.text(",\"parameters\":").decimal(self.parameters);
        line.text(",\"ram\":").decimal(self.ram);
        if let Some(Digest(bits)) = self.bits {
            line.text(",\"bits\":").decimal(bits as usize);
        }
        line.text("}").end();
    }
}

/// What a mathematical function takes, and how far off it is.
pub struct Function {
    /// Which function.
    pub name: &'static str,
    /// Whose.
    pub library: &'static str,
    /// Instructions of a call.
    pub instructions: u32,
    /// Largest error relative to the result, in 10⁻⁹.
    pub error_billionths: usize,
}

impl Function {
    /// Prints it as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"function\":\"").text(self.name);
        line.text("\",\"library\":\"").text(self.library);
        line.text("\",\"instructions\":").decimal(self.instructions as usize);
        line.text(",\"error_billionths\":").decimal(self.error_billionths).text("}").end();
    }
}

/// Prints what a monitor's push takes of the stack, and the monitor of RAM, as a line of JSON.
pub fn print_stack(console: &Console, encoding: &str, kernel: &str, stack: usize, ram: usize) {
    let mut line = Line::new(console);
    line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(encoding);
    line.text("\",\"kernel\":\"").text(kernel).text("\",\"stack\":").decimal(stack);
    line.text(",\"ram\":").decimal(ram).text("}").end();
}

/// Prints the instructions of one stage of a window as a line of JSON.
pub fn print_stage(
    console: &Console,
    encoding: &str,
    kernel: &str,
    stage: &str,
    instructions: u32,
) {
    let mut line = Line::new(console);
    line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(encoding);
    line.text("\",\"kernel\":\"").text(kernel).text("\",\"stage\":\"").text(stage);
    line.text("\",\"instructions\":").decimal(instructions as usize).text("}").end();
}

//! Counts instructions in QEMU, and prints rows for `cargo xtask bench device`.
//!
//! With `-icount shift=0` an instruction takes one nanosecond of the machine's time. So `SysTick`
//! counts instructions, 40 to a tick at 25 MHz. The work is repeated until an error of one tick is
//! under one in a thousand. The cost of the loop itself is measured and subtracted.

pub mod problem;
mod rows;
pub mod slots;
pub mod stack;
pub mod window;

use core::hint::black_box;
use core::ptr;

use crate::line::Line;
use crate::semihosting::{Console, exit};

pub use rows::{Digest, Function, Row, Stack, Step, print_stage};

/// The core that this firmware is built for, as named in the bench's rows.
pub const CORE: &str = env!("BOARD_CORE");

const CONTROL: *mut u32 = ptr::without_provenance_mut(0xE000_E010);
const RELOAD: *mut u32 = ptr::without_provenance_mut(0xE000_E014);
const CURRENT: *mut u32 = ptr::without_provenance_mut(0xE000_E018);

/// `SysTick` has 24 bits.
const TOP: u32 = 0x00FF_FFFF;
/// Enabled, from the processor's clock, without an interrupt.
const RUN: u32 = 0b101;

/// Ticks that a measurement should last, so an error of one tick does not matter.
const ENOUGH: u32 = 2000;
/// Largest number of repetitions of one measurement.
const MOST: u32 = 256;

/// Half-nanoseconds, and so half-instructions, of one tick: 16 MHz makes 62.5 instructions.
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

/// Number of instructions that `work` takes, without the loop's call.
///
/// `work` should read its inputs through `black_box`, or the compiler does the work only once.
pub fn instructions(mut work: impl FnMut()) -> u32 {
    start();
    let once = ticks(1, &mut work).max(1);
    let repeats = (ENOUGH / once).clamp(1, MOST);
    let total = ticks(repeats, &mut work);
    let overhead = ticks(repeats, &mut || {
        black_box(());
    });
    let net = u64::from(total.saturating_sub(overhead));
    // There is at least one repetition, but the compiler cannot know that.
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
    // It counts down. 2²⁴ ticks (671 million instructions at 25 MHz) are more than any row has.
    before.wrapping_sub(now()) & TOP
}

/// Runs a bench and ends the emulation. If the bench fails: a line `error: …` and exit code 1.
pub fn main(run: fn(&Console) -> Result<(), &'static str>) -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    let result = run(&console);
    if let Err(text) = result {
        Line::new(&console).text("error: ").text(text).end();
    }
    exit(result.map_err(drop))
}

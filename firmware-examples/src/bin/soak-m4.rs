//! Ten thousand decision windows on QEMU's mps2-an386 (Cortex-M4F), made and checked on the device.
//!
//! The model is linked in, so that this runs without anything beside it. `soak-m4.txt` beside
//! this file is what it prints; the host gets the same line from the same code (`tests/soak.rs`).

#![no_std]
#![no_main]

use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::bench::stack::Painted;
use firmware_examples::line::Line;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::soak::{self, grown};
use panic_never as _;
use rebearing::{Model, Monitor, include_model};

static MODEL: &[u8] =
    include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/model-v1-gate.rbm"));

#[entry]
fn main() -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    let model = Model::parse(MODEL);
    let Ok(mut monitor) = model.and_then(Monitor::<f32, 256, 1, 4, 8, 4>::new) else {
        Line::new(&console).text("error: model refused").end();
        exit(Err(()))
    };
    let front_end = *monitor.model().front_end();
    let painted = Painted::new();
    let mut settled = None;
    let summary = soak::soak(&mut monitor, &front_end, || settled = painted.depth());
    let grown = grown(settled, painted.depth());
    let mut line = Line::new(&console);
    // A line takes whatever is written to it.
    let _ = write!(line, "{summary} stack={}", if grown { "grown" } else { "settled" });
    line.end();
    exit(if grown || summary.wrong.is_some() { Err(()) } else { Ok(()) })
}

firmware_examples::semihosting_faults!();

//! Ten thousand windows in QEMU, made and checked on the device: with an f32 model on the
//! mps2-an386 (Cortex-M4F), with an i16 model on the microbit (Cortex-M0).
//!
//! The model is linked in, so this runs without any other file. The expected output is in
//! `soak-m4.txt` and `soak-m0.txt`, in the same folder. The host gets the same lines from the same
//! code (`tests/soak.rs`).

#![no_std]
#![no_main]

use core::fmt::Write as _;
use cortex_m_rt::entry;
use firmware_examples::bench::stack::Painted;
use firmware_examples::line::Line;
use firmware_examples::semihosting::{Console, exit};
use firmware_examples::soak::{self, grown};
use panic_never as _;
use rebearing::model::AnyModel;
use rebearing::{Vacant, include_model};

#[cfg(fpu)]
type Monitor = rebearing::monitor!(
    'static, model: f32, samples: f32, fft: 256, axes: 1, features: 4, components: 8, classes: 4
);
#[cfg(fpu)]
static MODEL: &[u8] =
    include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/model-v1-gate.rbm"));

#[cfg(not(fpu))]
type Monitor = rebearing::monitor!(
    'static, model: i16, fft: 256, axes: 1, features: 4, components: 8, classes: 4
);
#[cfg(not(fpu))]
static MODEL: &[u8] =
    include_model!(concat!(env!("CARGO_MANIFEST_DIR"), "/../tests/golden/model-v1-i16.rbm"));

#[entry]
fn main() -> ! {
    static mut ROOM: Vacant<Monitor> = Monitor::vacant();
    let Some(console) = Console::open() else { exit(Err(())) };
    let Ok(monitor) = AnyModel::parse(MODEL).and_then(|model| ROOM.start(model)) else {
        Line::new(&console).text("error: model refused").end();
        exit(Err(()))
    };
    let painted = Painted::new();
    let mut settled = None;
    let summary = soak::soak(monitor, || settled = painted.depth());
    let grown = grown(settled, painted.depth());
    let mut line = Line::new(&console);
    // Writing to a line cannot fail.
    let _ = write!(line, "{summary} stack={}", if grown { "grown" } else { "settled" });
    line.end();
    exit(if grown || summary.wrong.is_some() { Err(()) } else { Ok(()) })
}

firmware_examples::semihosting_faults!();

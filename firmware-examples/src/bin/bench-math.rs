//! Instructions and errors of exp and ln: the device crate's own beside those of `libm` and
//! `micromath`, over the range that a mixture asks for.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::{ExceptionFrame, entry, exception};
use firmware_examples::bench::{Function, instructions};
use firmware_examples::line::Line;
use firmware_examples::semihosting::{Console, exit};
use micromath::F32Ext as _;
use panic_never as _;
use rebearing::math;

/// Arguments of a function.
const POINTS: usize = 1024;
type Points = [f32; POINTS];

#[entry]
fn main() -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    // Scores under the best, in nats.
    let mut points = [0.0; POINTS];
    for (n, x) in points.iter_mut().enumerate() {
        *x = n as f32 * (-20.0 / POINTS as f32);
    }
    measure(&console, &points, "exp", "rebearing", math::exp, libm::exp);
    measure(&console, &points, "exp", "libm", libm::expf, libm::exp);
    measure(&console, &points, "exp", "micromath", |x| x.exp(), libm::exp);
    // Band power and sums of weights: sixteen octaves either side of one.
    for (n, x) in points.iter_mut().enumerate() {
        let octave = 1 << (n % 16);
        let mantissa = 1.0 + n as f32 / POINTS as f32;
        *x = if n % 32 < 16 { octave as f32 * mantissa } else { mantissa / octave as f32 };
    }
    measure(&console, &points, "ln", "rebearing", math::ln, libm::log);
    measure(&console, &points, "ln", "libm", libm::logf, libm::log);
    measure(&console, &points, "ln", "micromath", |x| x.ln(), libm::log);
    exit(Ok(()))
}

/// Prints what a call of `function` takes, and its largest error relative to `exact`; of a
/// logarithm near zero the absolute one.
fn measure(
    console: &Console,
    points: &Points,
    name: &'static str,
    library: &'static str,
    function: impl Fn(f32) -> f32,
    exact: impl Fn(f64) -> f64,
) {
    let all = |call: &dyn Fn(f32) -> f32| {
        instructions(|| {
            for x in black_box(points) {
                black_box(call(black_box(*x)));
            }
        })
    };
    let counted = all(&function).saturating_sub(all(&|x| x));
    let mut error = 0.0;
    for x in points {
        let exact = exact(f64::from(*x));
        let size = if name == "ln" && exact.abs() < 1.0 { 1.0 } else { exact.abs() };
        let off = (f64::from(function(*x)) - exact).abs() / size;
        if off > error {
            error = off;
        }
    }
    Function {
        name,
        library,
        instructions: counted / POINTS as u32,
        error_billionths: (error * 1e9) as usize,
    }
    .print(console);
}

#[exception]
unsafe fn HardFault(frame: &ExceptionFrame) -> ! {
    if let Some(console) = Console::open() {
        Line::new(&console).text("error: HardFault at ").hexadecimal(frame.pc()).end();
    }
    exit(Err(()))
}

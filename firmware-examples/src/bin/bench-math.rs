//! Instructions and errors of exp and ln: the device crate's own, `libm`'s and `micromath`'s, over
//! the range that a mixture uses.

#![no_std]
#![no_main]

use core::hint::black_box;
use cortex_m_rt::entry;
use firmware_examples::bench::{Function, instructions};
use firmware_examples::semihosting::{Console, exit};
use micromath::F32Ext;
use panic_never as _;
use rebearing::math;

/// Number of arguments for a function.
const POINTS: u16 = 1024;
type Points = [f32; POINTS as usize];

#[entry]
fn main() -> ! {
    let Some(console) = Console::open() else { exit(Err(())) };
    // Distances of scores from the best score, in nats.
    let mut points = [0.0; POINTS as usize];
    for (x, n) in points.iter_mut().zip(0_u16..) {
        *x = f32::from(n) * (-20.0 / f32::from(POINTS));
    }
    measure(&console, &points, "exp", "rebearing", math::exp, libm::exp);
    measure(&console, &points, "exp", "libm", libm::expf, libm::exp);
    measure(&console, &points, "exp", "micromath", F32Ext::exp, libm::exp);
    // Band powers and sums of weights: sixteen octaves on either side of one.
    for (x, n) in points.iter_mut().zip(0_u16..) {
        let octave = f32::from(1_u16 << (n % 16));
        let mantissa = 1.0 + f32::from(n) / f32::from(POINTS);
        *x = if n % 32 < 16 { octave * mantissa } else { mantissa / octave };
    }
    measure(&console, &points, "ln", "rebearing", math::ln, libm::log);
    measure(&console, &points, "ln", "libm", libm::logf, libm::log);
    measure(&console, &points, "ln", "micromath", F32Ext::ln, libm::log);
    exit(Ok(()))
}

/// Prints the cost of one call of `function`, and its largest error relative to `exact`. For a
/// logarithm near zero it is the absolute error.
#[expect(clippy::cast_sign_loss, reason = "an error is not negative")]
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
        instructions: counted / u32::from(POINTS),
        error_billionths: (error * 1e9) as usize,
    }
    .print(console);
}

firmware_examples::semihosting_faults!();

//! The Hann window, computed at compile time.

use core::f64::consts::FRAC_PI_2;

/// The periodic Hann window of `FFT` points, computed at compile time. A shorter power of two takes
/// every second, fourth, … point of it.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Hann<const FFT: usize>;

impl<const FFT: usize> Hann<FFT> {
    /// w(n) = sin²(πn/FFT), each point the f32 nearest to the exact value.
    pub const TABLE: &'static [f32; FFT] = &Self::table();

    const fn table() -> [f32; FFT] {
        let mut table = [0.0; FFT];
        let mut n = 0;
        while n < FFT {
            let folded = if n > FFT / 2 { FFT - n } else { n };
            let s = sine(2.0 * FRAC_PI_2 * folded as f64 / FFT as f64);
            table[n] = (s * s) as f32;
            n += 1;
        }
        table
    }
}

/// Sine on 0…π/2 by its Taylor series (const evaluation has no sine); error under 1e-16.
pub(crate) const fn sine(x: f64) -> f64 {
    let mut term = x;
    let mut sum = x;
    let mut k = 1.0;
    while k < 14.0 {
        term = -term * x * x / ((2.0 * k) * (2.0 * k + 1.0));
        sum += term;
        k += 1.0;
    }
    sum
}

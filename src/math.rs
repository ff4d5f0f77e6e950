//! ln, exp and sqrt, in one place, with their error bounds asserted.
//!
//! They come from `libm`: pure Rust, so the host and every Cortex-M compute the same bits.
//! The standard library's versions call whatever C library the host has and would not.

/// Natural logarithm of a positive, normal number; within 1e-7 relative (or absolute near 1).
pub fn ln(x: f32) -> f32 {
    libm::logf(x)
}

/// Exponential; within 1.2e-7 relative for arguments in −87…0, the range log-sum-exp uses.
pub fn exp(x: f32) -> f32 {
    libm::expf(x)
}

/// Square root, correctly rounded.
pub fn sqrt(x: f32) -> f32 {
    libm::sqrtf(x)
}

#[cfg(test)]
mod tests {
    use super::{exp, ln, sqrt};

    #[test]
    fn sqrt_is_correctly_rounded() {
        for step in 0..2_000_000_u32 {
            let x = f32::from_bits(step * 1063);
            assert_eq!(sqrt(x), f64::from(x).sqrt() as f32, "{x:e}");
        }
    }

    #[test]
    fn ln_keeps_its_bound_over_all_exponents() {
        let mut worst: f64 = 0.0;
        // Every exponent of a normal f32, and mantissas spread over each.
        for exponent in 1..=254_u32 {
            for step in 0..512_u32 {
                let x = f32::from_bits(exponent << 23 | step << 14 | step);
                let truth = f64::from(x).ln();
                let error = (f64::from(ln(x)) - truth).abs() / truth.abs().max(1.0);
                worst = worst.max(error);
            }
        }
        assert!(worst < 1e-7, "ln is off by {worst:e}");
    }

    #[test]
    fn exp_keeps_its_bound_over_the_range_of_log_sum_exp() {
        let mut worst: f64 = 0.0;
        for step in 0..=870_000_u32 {
            let x = -(step as f32) * 1e-4;
            let truth = f64::from(x).exp();
            worst = worst.max((f64::from(exp(x)) - truth).abs() / truth);
        }
        assert!(worst < 1.2e-7, "exp is off by {worst:e}");
    }
}

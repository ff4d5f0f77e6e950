//! Overrelaxation of Sinkhorn iterations: the same limit with far fewer iterations.
//!
//! Near the limit the marginal error of plain iterations falls by a constant factor η, which is
//! close to one for small epsilon. Overrelaxation makes each step ω times as long in the log
//! domain, with `ω = 2 / (1 + √(1 − η))`. The factor is then ω − 1 (Lehmann et al. 2021). Plain
//! iterations need about 1/(1 − η) iterations; these need about the square root of that.
//!
//! η is estimated from the observed errors. If ω is below the best value, the error falls by a
//! factor λ with `(λ + ω − 1)² = η ω² λ`. So each estimate can improve on the one before.

/// Number of plain iterations between two estimates.
const SPAN: usize = 8;
/// Below this error, iterations are close enough to the limit for the theory to hold.
const NEAR: f64 = 0.1;
/// Two successive estimates of 1 − η are accepted if they differ by less than this factor.
const AGREEMENT: f64 = 1.25;
/// If the error grows to this multiple of its lowest value, plain iterations return. The value is
/// for ω = 1; longer steps may let the error grow for a while before it falls.
const GROWTH: f64 = 10.0;

/// Chooses ω from the errors of the iterations.
pub(super) struct Overrelaxation {
    omega: f64,
    /// Error at the start of the current span, and the number of iterations in it.
    span: Option<(f64, usize)>,
    /// The last estimate of 1 − η.
    gap: Option<f64>,
    /// The lowest error since ω was set.
    least: f64,
}

impl Overrelaxation {
    pub(super) fn new() -> Self {
        Self { omega: 1.0, span: None, gap: None, least: f64::INFINITY }
    }

    /// Length of the next step; 1 is a plain iteration.
    pub(super) fn omega(&self) -> f64 {
        self.omega
    }

    /// Takes note of the error of an iteration.
    pub(super) fn observe(&mut self, error: f64) {
        // The number of iterations over which an overrelaxed error fluctuates.
        let memory = 1.0 / (2.0 - self.omega);
        self.least = self.least.min(error);
        if error > GROWTH * memory * self.least {
            *self = Self::new();
            return;
        }
        match &mut self.span {
            None if error < NEAR => self.span = Some((error, 0)),
            None => {}
            Some((start, iterations)) => {
                *iterations += 1;
                if *iterations >= SPAN * memory as usize {
                    let factor = (error / *start).powf(1.0 / *iterations as f64);
                    self.span = Some((error, 0));
                    self.estimate(factor);
                }
            }
        }
    }

    /// Takes note of the factor λ by which the error fell.
    fn estimate(&mut self, factor: f64) {
        let shortfall = self.omega - 1.0;
        if factor <= shortfall || factor >= 1.0 {
            // The factor is as good as this ω allows, or the error did not fall: there is nothing
            // to learn.
            return;
        }
        let eta = (factor + shortfall).powi(2) / (self.omega * self.omega * factor);
        let gap = 1.0 - eta;
        let last = self.gap.replace(gap);
        let agrees = last.is_some_and(|last| gap < AGREEMENT * last && last < AGREEMENT * gap);
        if agrees && gap > 0.0 {
            self.omega = 2.0 / (1.0 + gap.sqrt());
            self.least = f64::INFINITY;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Feeds errors that fall by a constant factor until ω changes.
    fn fed(pace: &mut Overrelaxation, factor: f64) -> f64 {
        let before = pace.omega();
        let mut error = 0.05;
        for _ in 0..1000 {
            pace.observe(error);
            error *= factor;
            if pace.omega() > before {
                break;
            }
        }
        pace.omega()
    }

    #[test]
    fn omega_is_the_best_for_the_factor_seen() {
        let omega = fed(&mut Overrelaxation::new(), 0.99);
        assert!((omega - 2.0 / (1.0 + 0.01_f64.sqrt())).abs() < 1e-9);
    }

    #[test]
    fn a_first_guess_is_corrected_from_overrelaxed_errors() {
        let mut pace = Overrelaxation::new();
        let first = fed(&mut pace, 0.9);
        // The factor of ω = `first` if plain iterations have η = 0.999: the larger root λ of (λ + ω
        // − 1)² = η ω² λ.
        let (eta, shortfall) = (0.999, first - 1.0);
        let half = eta * first * first / 2.0 - shortfall;
        let factor = half + (half * half - shortfall * shortfall).sqrt();
        let second = fed(&mut pace, factor);
        assert!((second - 2.0 / (1.0 + 0.001_f64.sqrt())).abs() < 1e-9, "{first} then {second}");
    }

    #[test]
    fn errors_that_grow_bring_back_plain_iterations() {
        let mut pace = Overrelaxation::new();
        assert!(fed(&mut pace, 0.99) > 1.0);
        pace.observe(1e-6);
        pace.observe(1e-2);
        assert_eq!(pace.omega().to_bits(), 1.0_f64.to_bits());
    }
}

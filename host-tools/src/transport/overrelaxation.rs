//! Overrelaxation of Sinkhorn iterations: the same limit in far fewer of them.
//!
//! Near the limit the marginal error of plain iterations falls by a constant factor η, close to one
//! for small epsilon. Taking each step ω times as long (in the log domain), with
//! `ω = 2 / (1 + √(1 − η))`, makes the factor ω − 1 (Lehmann et al. 2021): where plain iterations take
//! 1/(1 − η), these take about the square root of that. η is estimated from the errors seen.

/// Plain iterations between two estimates of the factor.
const SPAN: usize = 8;
/// Error at which iterations are near enough to the limit for the theory to hold.
const NEAR: f64 = 0.1;
/// Two estimates of 1 − η in a row that differ by less than this factor are believed.
const AGREEMENT: f64 = 1.25;
/// Growth of the error over its least value at which to go back to plain iterations.
const GROWTH: f64 = 10.0;

/// Chooses ω from the errors of the iterations.
pub(super) struct Overrelaxation {
    omega: f64,
    /// Error at the start of the present span, and iterations in it.
    span: Option<(f64, usize)>,
    last_gap: Option<f64>,
    least: f64,
}

impl Overrelaxation {
    pub(super) fn new() -> Self {
        Self { omega: 1.0, span: None, last_gap: None, least: f64::INFINITY }
    }

    /// Length of the next step; one is a plain iteration.
    pub(super) fn omega(&self) -> f64 {
        self.omega
    }

    /// Takes the error of an iteration into account.
    pub(super) fn observe(&mut self, error: f64) {
        if self.omega > 1.0 {
            self.least = self.least.min(error);
            if error > GROWTH * self.least {
                *self = Self::new();
            }
            return;
        }
        match &mut self.span {
            None if error < NEAR => self.span = Some((error, 0)),
            None => {}
            Some((start, iterations)) => {
                *iterations += 1;
                if *iterations == SPAN {
                    let gap = 1.0 - (error / *start).powf(1.0 / SPAN as f64);
                    self.span = Some((error, 0));
                    self.estimate(gap);
                }
            }
        }
    }

    /// Takes an estimate of 1 − η.
    fn estimate(&mut self, gap: f64) {
        let agrees =
            self.last_gap.is_some_and(|last| gap < AGREEMENT * last && last < AGREEMENT * gap);
        self.last_gap = Some(gap);
        if agrees && gap > 0.0 && gap < 1.0 {
            self.omega = 2.0 / (1.0 + gap.sqrt());
            self.least = f64::INFINITY;
        }
    }
}

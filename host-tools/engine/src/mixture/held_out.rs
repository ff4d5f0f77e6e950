//! Windows that a mixture was not fitted on: what thresholds and drift references come from.

/// Held-out windows that a threshold or a reference needs at least.
pub const LEAST_HELD_OUT: usize = 8;

/// Windows that a mixture was not fitted on, and what it makes of them.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldOut {
    /// Rows of the target's features.
    pub rows: Vec<usize>,
    /// Log-likelihood of each, in nats.
    pub log_likelihoods: Vec<f64>,
}

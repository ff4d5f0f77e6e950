//! Windows that a mixture was not fitted on. Thresholds and drift references come from them.

/// Smallest number of held-out windows for a threshold or a reference.
pub const LEAST_HELD_OUT: usize = 8;

/// Windows that a mixture was not fitted on, with their likelihoods under it.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct HeldOut {
    /// Their row numbers in the target's features.
    pub rows: Vec<usize>,
    /// Log-likelihood of each window, in nats.
    pub log_likelihoods: Vec<f64>,
}

//! Options for the mixtures of all methods.

use clap::Args;

/// Options for the mixtures of source and target.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct EmArgs {
    /// Components per class, of source and target
    #[arg(long, value_name = "N", default_value_t = 2)]
    pub(crate) components: usize,
    /// Value to add to every variance of a component, in units of each feature's variance
    #[arg(long, value_name = "V", default_value_t = 0.01)]
    pub(crate) variance_floor: f64,
    /// Starts of each EM; the likeliest fit is kept
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub(crate) restarts: usize,
}

//! Options for the transport plan.

use clap::Args;
use rebearing_host::adapt::plan::{PlanSettings, Solver};

use super::choice::{Choice as _, choice};

/// Options for the transport plan between mixtures.
#[derive(Debug, Clone, Copy, Args)]
pub(crate) struct SolverArgs {
    /// Solver of the transport plan.
    #[arg(long, value_parser = choice::<Solver>(), default_value = PlanSettings::default().solver.choice_name())]
    pub(crate) solver: Solver,
    /// Entropy of an entropic plan, relative to the largest cost.
    #[arg(long, value_name = "E", default_value_t = PlanSettings::default().epsilon)]
    epsilon: f64,
    /// How strongly the relaxed solver keeps the source's class shares, relative to the largest
    /// cost.
    #[arg(long, value_name = "T", default_value_t = PlanSettings::default().tau)]
    tau: f64,
}

impl SolverArgs {
    pub(crate) fn settings(self) -> PlanSettings {
        PlanSettings { solver: self.solver, epsilon: self.epsilon, tau: self.tau }
    }
}

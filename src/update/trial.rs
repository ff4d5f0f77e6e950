//! The trial of a new model: what it must show before the old one is given up.

use super::outcome::Outcome;
use crate::model::Numbers;
use crate::monitor::AnyFinding;
use crate::operation::DriftWatch;

/// The rules of a trial.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct TrialRules {
    /// Windows without a sensor fault before the model is confirmed. A model with a drift watch needs
    /// a whole block too.
    pub windows: u32,
    /// Windows with a sensor fault before the old model returns.
    pub sensor_faults: u32,
    /// Starts without confirmation before the old model returns.
    pub starts: u8,
}

impl Default for TrialRules {
    fn default() -> Self {
        Self { windows: 64, sensor_faults: 64, starts: 3 }
    }
}

/// Counts what the model on trial shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(super) struct Trial {
    rules: TrialRules,
    good: u32,
    sensor_faults: u32,
}

impl Trial {
    pub(super) fn new(rules: TrialRules) -> Self {
        Self { rules, good: 0, sensor_faults: 0 }
    }

    pub(super) fn rules(&self) -> &TrialRules {
        &self.rules
    }

    /// Takes a window; returns how the trial ends, if it does.
    ///
    /// A drift flag ends it at once. A window with a sensor fault says nothing for the model.
    pub(super) fn window<N: Numbers, const AXES: usize, const CLASSES: usize>(
        &mut self,
        finding: &AnyFinding<N, AXES, CLASSES>,
        watch: Option<&DriftWatch<'_>>,
    ) -> Option<Outcome> {
        if finding.result.is_ok() {
            self.good = self.good.saturating_add(1);
        } else {
            self.sensor_faults = self.sensor_faults.saturating_add(1);
        }
        if watch.is_some_and(DriftWatch::raised) {
            return Some(Outcome::Drift);
        }
        let seen = watch.is_none_or(|watch| watch.blocks() > 0);
        if self.good >= self.rules.windows && seen {
            return Some(Outcome::Confirmed);
        }
        (self.sensor_faults >= self.rules.sensor_faults).then_some(Outcome::SensorFaults)
    }
}

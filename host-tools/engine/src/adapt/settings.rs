//! Settings of an adaptation.

use anyhow::{Result, bail};
use serde::Serialize;

use super::false_alarms::FalseAlarms;
use super::plan::PlanSettings;
use super::transfer::TransferSettings;
use crate::source::SourceSettings;

/// The user's knowledge about the target's recordings.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Pool {
    /// The recordings hold every class of the source.
    All,
    /// The machine was healthy throughout.
    Healthy,
    /// Nothing is known.
    Unknown,
}

/// Settings of an adaptation.
#[derive(Debug, Clone)]
pub struct AdaptSettings {
    /// The user's knowledge about the target's recordings.
    pub pool_is: Pool,
    /// The accuracy from which carried labels are trusted.
    pub promise: f64,
    /// The false alarms that the gate aims at.
    pub false_alarms: FalseAlarms,
    /// Whether the model names classes although the verdict is to abstain.
    pub force: bool,
    /// Settings of the plan.
    pub plan: PlanSettings,
    /// Target components per source class.
    pub components: usize,
    /// Variance floor, restarts and seed of the target's EM.
    pub em: SourceSettings,
}

impl Default for AdaptSettings {
    fn default() -> Self {
        Self {
            pool_is: Pool::Unknown,
            promise: 0.9,
            false_alarms: FalseAlarms::default(),
            force: false,
            plan: PlanSettings::default(),
            components: 2,
            em: SourceSettings::default(),
        }
    }
}

impl AdaptSettings {
    /// Refuses settings out of their range.
    pub fn check(&self) -> Result<()> {
        if !(self.promise > 0.0 && self.promise <= 1.0) {
            bail!(
                "`promise` {}: must be an accuracy above 0 and at most 1, for example 0.9",
                self.promise
            );
        }
        self.false_alarms.check()
    }

    pub(crate) fn transfer(&self) -> TransferSettings<'_> {
        TransferSettings { components: self.components, em: &self.em, plan: &self.plan }
    }
}

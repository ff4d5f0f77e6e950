//! Settings of the methods on matrices.

use super::{MatrixError, Scale};
use crate::adapt::settings::Pool;
use crate::baselines;

/// Settings of the methods on matrices.
#[derive(Debug, Clone, PartialEq)]
pub struct MatrixSettings {
    /// The constants by which the matrices are standardised.
    pub scale: Scale,
    /// Settings of all methods. Here the variance floor is relative to the mean variance of the
    /// source's columns after scaling, so that features may have any unit.
    pub methods: baselines::Settings,
    /// The user's knowledge about the target's rows, for `guarded`.
    pub pool_is: Pool,
    /// The accuracy from which `guarded` trusts carried labels.
    pub promise: f64,
    /// Whether `guarded` names classes although its verdict is to abstain.
    pub force: bool,
}

impl Default for MatrixSettings {
    /// Every class of the source is in the target.
    fn default() -> Self {
        Self {
            scale: Scale::default(),
            methods: baselines::Settings::default(),
            pool_is: Pool::All,
            promise: 0.9,
            force: false,
        }
    }
}

impl MatrixSettings {
    /// Refuses settings that are out of their range.
    pub fn check(&self) -> Result<(), MatrixError> {
        let refuse =
            |name, value: String, problem| Err(MatrixError::Setting { name, value, problem });
        let baselines::Settings { variance_floor, components_per_class, restarts, .. } =
            self.methods;
        if !(self.promise > 0.0 && self.promise <= 1.0) {
            let problem = "must be an accuracy above 0 and at most 1, for example 0.9";
            return refuse("promise", self.promise.to_string(), problem);
        }
        if !(variance_floor.is_finite() && variance_floor > 0.0) {
            return refuse("variance_floor", variance_floor.to_string(), "must be above 0");
        }
        if components_per_class == 0 {
            return refuse("components", "0".into(), "must be at least 1");
        }
        if restarts == 0 {
            return refuse("restarts", "0".into(), "must be at least 1");
        }
        if self.pool_is == Pool::Healthy {
            let problem = "a gate counts false alarms in time, and rows of a matrix have none; say all or unknown, or \
                           adapt to recordings";
            return refuse("pool_is", "healthy".into(), problem);
        }
        Ok(())
    }

    /// The settings for columns with this mean variance.
    pub(super) fn in_units(&self, mean_variance: f64) -> baselines::Settings {
        let mut settings = self.methods.clone();
        settings.variance_floor *= mean_variance;
        settings
    }
}

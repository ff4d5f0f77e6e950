//! Methods that use mixtures: source only, GMM-OTDA MAP and GMM-OTDA T.

use std::time::Instant;

use ndarray::{Array2, ArrayView2};

use super::task::check_rows;
use super::{BaselineError, Classifier, Fitted, Seconds, Settings, Task};
use crate::adapt::{
    mapped::MappedSamples, maps::ComponentMaps, plan, propagate::propagate, softmax::Softmax,
};
use crate::mixture::{
    ComponentCount, EmSettings, LabelledMixture, Mixture, Sample, fit, fit_conditional,
};

/// The source mixture's MAP classifier, applied to the target without adaptation.
pub(super) fn source_only<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<Fitted, BaselineError> {
    let start = Instant::now();
    let source = source_mixture(task, settings)?;
    let fit_source = start.elapsed().as_secs_f64();
    Ok(Fitted {
        classifier: Classifier::Mixture(source),
        seconds: Seconds { fit_source, ..Seconds::default() },
    })
}

/// Both mixtures and the plan between them.
#[derive(Debug, Clone, PartialEq)]
pub struct Joined {
    /// The source's mixture, with its labels.
    pub source: LabelledMixture,
    /// The target's mixture.
    pub target: Mixture,
    /// The plan from the source's components (rows) to the target's (columns).
    pub plan: Array2<f64>,
    /// The time spent.
    pub seconds: Seconds,
}

impl Joined {
    /// Fits both mixtures and computes the plan.
    pub fn new<T: Sample>(task: &Task<'_, T>, settings: &Settings) -> Result<Self, BaselineError> {
        let start = Instant::now();
        let source = source_mixture(task, settings)?;
        let fit_source = start.elapsed().as_secs_f64();
        let mut joined = Self::from_mixture(source, task.pool, settings)?;
        joined.seconds.fit_source = fit_source;
        Ok(joined)
    }

    /// Fits the target's mixture to `pool` and computes the plan from a source that is a mixture
    /// already.
    pub fn from_mixture<T: Sample>(
        source: LabelledMixture,
        pool: ArrayView2<'_, T>,
        settings: &Settings,
    ) -> Result<Self, BaselineError> {
        check_rows("pool", pool, source.mixture.dimensions())?;
        let start = Instant::now();
        let classes = source.labels.ncols();
        let components = settings.target_components.unwrap_or(2 * classes).min(pool.nrows());
        let target = fit(pool, None, &em(settings, components), &|_| ())?.mixture;
        let fit_target = start.elapsed().as_secs_f64();

        let start = Instant::now();
        let plan = plan::between(&source.mixture, &target, &settings.plan)?.plan;
        let transport = start.elapsed().as_secs_f64();
        Ok(Self {
            source,
            target,
            plan,
            seconds: Seconds { fit_source: 0.0, fit_target, transport },
        })
    }

    /// `h(x) = Σ_k r_k(x) ν_T[k]`: the target mixture, with labels propagated along the plan.
    pub fn map(self) -> Result<Fitted, BaselineError> {
        let start = Instant::now();
        let labels = propagate(&self.plan, &self.source.labels)?;
        let transport = self.seconds.transport + start.elapsed().as_secs_f64();
        Ok(Fitted {
            classifier: Classifier::Mixture(LabelledMixture { mixture: self.target, labels }),
            seconds: Seconds { transport, ..self.seconds },
        })
    }

    /// A softmax trained on the source samples that `T_weight` carries over, with their weights.
    pub fn carried<T: Sample>(
        self,
        task: &Task<'_, T>,
        settings: &Settings,
    ) -> Result<Fitted, BaselineError> {
        let start = Instant::now();
        let maps = ComponentMaps::new(&self.source.mixture, &self.target, &self.plan)?
            .without_negligible();
        let samples = MappedSamples::new(&maps, task.source, task.labels)?;
        let transport = self.seconds.transport + start.elapsed().as_secs_f64();
        let start = Instant::now();
        let softmax = Softmax::train_on(&samples, task.classes, &settings.softmax)?;
        let fit_source = self.seconds.fit_source + start.elapsed().as_secs_f64();
        Ok(Fitted {
            classifier: Classifier::Softmax(softmax),
            seconds: Seconds { fit_source, transport, ..self.seconds },
        })
    }
}

fn source_mixture<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<LabelledMixture, BaselineError> {
    let names: Vec<String> = (0..task.classes).map(|class| class.to_string()).collect();
    let count = ComponentCount::PerClass(settings.components_per_class);
    let em = em(settings, settings.components_per_class);
    Ok(fit_conditional(task.source, task.labels, &names, None, &count, &em, &|_| ())?.mixture)
}

fn em(settings: &Settings, components: usize) -> EmSettings {
    EmSettings {
        covariance: settings.covariance,
        variance_floor: settings.variance_floor,
        restarts: settings.restarts,
        seed: settings.seed,
        ..EmSettings::new(components)
    }
}

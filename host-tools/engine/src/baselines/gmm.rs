//! Methods that use mixtures: source only, GMM-OTDA MAP and GMM-OTDA T.

use std::time::Instant;

use ndarray::Array2;

use super::{BaselineError, Prediction, Seconds, Settings, Task, to_f64};
use crate::adapt::{maps::ComponentMaps, plan, propagate::propagate, softmax::Softmax};
use crate::mixture::{
    ComponentCount, EmSettings, LabelledMixture, Mixture, Sample, fit, fit_conditional,
};

/// The source mixture's MAP classifier, applied to the target without adaptation.
pub(super) fn source_only<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<Prediction, BaselineError> {
    let start = Instant::now();
    let source = source_mixture(task, settings)?;
    let fit_source = start.elapsed().as_secs_f64();
    let posterior = source.mixture.responsibilities(task.test)?.dot(&source.labels);
    Ok(Prediction { posterior, seconds: Seconds { fit_source, ..Seconds::default() } })
}

/// `h(x) = Σ_k r_k(x) ν_T[k]`, with the target mixture and labels propagated along the plan.
pub(super) fn map<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<Prediction, BaselineError> {
    let Joined { source, target, plan, seconds } = join(task, settings)?;
    let start = Instant::now();
    let labels = propagate(&plan, &source.labels)?;
    let transport = seconds.transport + start.elapsed().as_secs_f64();
    let posterior = target.responsibilities(task.test)?.dot(&labels);
    Ok(Prediction { posterior, seconds: Seconds { transport, ..seconds } })
}

/// A softmax trained on the source samples that `T_weight` carries over, with their weights.
pub(super) fn carried<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
) -> Result<Prediction, BaselineError> {
    let Joined { source, target, plan, seconds } = join(task, settings)?;
    let start = Instant::now();
    let maps = ComponentMaps::new(&source.mixture, &target, &plan)?;
    let carried = maps.weighted(task.source, 0.0)?;
    let transport = seconds.transport + start.elapsed().as_secs_f64();
    let start = Instant::now();
    let labels: Vec<usize> = carried.origin.iter().map(|&row| task.labels[row]).collect();
    let softmax = Softmax::train(
        &carried.samples,
        &labels,
        &carried.weights.to_vec(),
        task.classes,
        &settings.softmax,
    )?;
    let posterior = softmax.posterior(&to_f64(&task.test, None));
    let fit_source = seconds.fit_source + start.elapsed().as_secs_f64();
    Ok(Prediction { posterior, seconds: Seconds { fit_source, transport, ..seconds } })
}

/// Both mixtures and the plan between them.
struct Joined {
    source: LabelledMixture,
    target: Mixture,
    plan: Array2<f64>,
    seconds: Seconds,
}

fn join<T: Sample>(task: &Task<'_, T>, settings: &Settings) -> Result<Joined, BaselineError> {
    let start = Instant::now();
    let source = source_mixture(task, settings)?;
    let fit_source = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let components = settings.target_components.unwrap_or(2 * task.classes).min(task.pool.nrows());
    let target = fit(task.pool, None, &em(settings, components), &|_| ())?.mixture;
    let fit_target = start.elapsed().as_secs_f64();

    let start = Instant::now();
    let plan = plan::between(&source.mixture, &target, &settings.plan)?;
    let transport = start.elapsed().as_secs_f64();
    Ok(Joined {
        source,
        target,
        plan: plan.plan,
        seconds: Seconds { fit_source, fit_target, transport },
    })
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

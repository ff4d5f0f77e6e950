//! Labels every test window with a method.

use std::time::Instant;

use ndarray::Array2;
use rebearing::{Label, Model};
use thiserror::Error;

use super::{EvaluateSettings, EvaluatedMethod, Task};
use crate::adapt;
use crate::adapt::choose::{self, Candidate};
use crate::adapt::leave_one_out;
use crate::adapt::plausible::Plausibility;
use crate::adapt::transfer::Support;
use crate::adapt::verdict::{self, AdaptSettings, Pool, Verdict};
use crate::baselines::{self, BaselineError, Method, Seconds};
use crate::features::standardise::{standardisation, standardised};
use crate::mixture::largest;
use crate::model::file::ModelFileError;
use crate::model::findings::findings;
use crate::source::SourceSettings;
use crate::source::library::Library;
use crate::words::with_causes;

/// A method's result on the test windows.
#[derive(Debug, Clone)]
pub struct Prediction {
    /// The label of each window.
    pub labels: Vec<Label>,
    /// The label that the source's model gives each window, for `guarded`.
    pub source_only: Option<Vec<Label>>,
    /// The label that was carried to each window, whether it was used or not, for `guarded`.
    pub carried: Option<Vec<Label>>,
    /// The predicted accuracy of the carried labels.
    pub predicted: Option<adapt::curve::Prediction>,
    /// How well the carried labels agree with what is known of the machines.
    pub plausibility: Option<Plausibility>,
    /// The machine or machines that the labels come from.
    pub chosen: Option<String>,
    /// Every machine of the library, and how well it suits the target.
    pub candidates: Vec<Candidate>,
    /// Whether classes were named although the verdict is to abstain.
    pub forced: bool,
    /// Contradictions between the pool and what was said about it.
    pub warnings: Vec<String>,
    /// The evidence for the plan that `guarded` made.
    pub support: Option<Support>,
    /// The verdict of `guarded`.
    pub verdict: Option<Verdict>,
    /// The reasons for the verdict.
    pub reasons: Vec<String>,
    /// The time spent.
    pub seconds: Seconds,
}

/// Why a method gave no labels.
#[derive(Debug, Error)]
pub enum PredictError {
    /// A compared method failed.
    #[error(transparent)]
    Baseline(#[from] BaselineError),
    /// Fitting or adapting failed.
    #[error("{}", with_causes(.0.as_ref()))]
    Guarded(#[from] anyhow::Error),
    /// The device would not accept the adapted model.
    #[error(transparent)]
    ModelFile(#[from] ModelFileError),
}

/// The known machines of a task, fitted once for all its pools.
#[derive(Debug, Clone)]
pub struct Fitted {
    library: Library,
    /// Seconds for the fit and for trying the machines on one another.
    seconds: f64,
}

impl Fitted {
    /// Fits the library of a task. A single source of a compared method needs none of it, so that
    /// costs little.
    pub fn new(task: &Task, settings: &EvaluateSettings, seed: u64) -> Result<Self, PredictError> {
        let start = Instant::now();
        let em = em(settings, seed);
        let mut library = Library::fit(&task.known, &em)?;
        for source in &mut library.sources {
            source.healthy = task.healthy.filter(|class| *class < source.classes.len());
        }
        // Only the predicted accuracy needs the transfers.
        if settings.method == EvaluatedMethod::Guarded && settings.pool_is != Pool::Healthy {
            let adapt = adapt_settings(settings, seed);
            library.transfers =
                leave_one_out::transfers(&library, &task.known.known, &adapt.transfer())?;
        }
        Ok(Self { library, seconds: start.elapsed().as_secs_f64() })
    }
}

fn em(settings: &EvaluateSettings, seed: u64) -> SourceSettings {
    SourceSettings {
        components: settings.components,
        variance_floor: settings.variance_floor,
        restarts: settings.restarts,
        seed,
        healthy: None,
    }
}

fn adapt_settings(settings: &EvaluateSettings, seed: u64) -> AdaptSettings {
    AdaptSettings {
        pool_is: settings.pool_is,
        promise: settings.promise,
        false_alarms: settings.false_alarms,
        force: settings.force,
        plan: settings.plan,
        components: settings.components,
        em: em(settings, seed),
    }
}

/// Adapts to the pool and labels the test.
pub fn predict(
    task: &Task,
    fitted: &Fitted,
    settings: &EvaluateSettings,
    seed: u64,
) -> Result<Prediction, PredictError> {
    match settings.method {
        EvaluatedMethod::Guarded => guarded(task, fitted, settings, seed),
        EvaluatedMethod::Baseline(method) => baseline(method, task, fitted, settings, seed),
    }
}

/// Does the same as `rebearing fit` and `rebearing adapt`, up to the bytes of the model file to
/// deploy.
fn guarded(
    task: &Task,
    fitted: &Fitted,
    settings: &EvaluateSettings,
    seed: u64,
) -> Result<Prediction, PredictError> {
    let library = &fitted.library;
    let adaptation = verdict::adapt(library, &task.pool, &adapt_settings(settings, seed))?;
    let model = adaptation.model(&task.target, library.hash()?)?;
    let carried = match &adaptation.carried {
        Some(carried) => {
            let classes = carried.classes(&task.test.x).map_err(anyhow::Error::new)?;
            Some(classes.into_iter().map(Label::Class).collect())
        }
        None => None,
    };
    let heaviest = adaptation.candidates.iter().max_by(|a, b| a.weight.total_cmp(&b.weight));
    let source = heaviest.and_then(|candidate| library.source(&candidate.domain));
    let source = source.unwrap_or(library.first());
    let verdict::Seconds { fit_target, transport } = adaptation.seconds;
    Ok(Prediction {
        labels: device_labels(&model.model(), &task.test.x),
        source_only: Some(device_labels(&source.model(false)?.model(), &task.test.x)),
        carried,
        predicted: adaptation.prediction,
        plausibility: adaptation.plausibility,
        chosen: Some(adaptation.source.domain),
        candidates: adaptation.candidates,
        forced: adaptation.forced,
        warnings: adaptation.warnings,
        support: adaptation.support,
        verdict: Some(adaptation.verdict),
        reasons: adaptation.reasons,
        seconds: Seconds { fit_source: fitted.seconds, fit_target, transport },
    })
}

/// The label that the device gives each row of features (not standardised).
fn device_labels(model: &Model<'_>, x: &Array2<f32>) -> Vec<Label> {
    findings(model, x).rows.into_iter().map(|finding| finding.label).collect()
}

/// Runs a compared method on features that are standardised with the source's constants.
///
/// Of several sources it takes the one that `guarded` would choose.
fn baseline(
    method: Method,
    task: &Task,
    fitted: &Fitted,
    settings: &EvaluateSettings,
    seed: u64,
) -> Result<Prediction, PredictError> {
    let (chosen, candidates) = if fitted.library.sources.len() > 1 {
        let adapt = adapt_settings(settings, seed);
        let choice = choose::choose(&fitted.library, &task.pool, &adapt.transfer())
            .map_err(anyhow::Error::new)?;
        (choice.chosen, choice.candidates)
    } else {
        (0, Vec::new())
    };
    let known = &task.known.known[chosen];
    let (shift, scale) = standardisation(&known.features.x);
    let standardise = |x: &Array2<f32>| standardised(x, &shift, &scale);
    let [source, pool, test] =
        [&known.features, &task.pool, &task.test].map(|features| standardise(&features.x));
    let classes = known.classes.len();
    let given = baselines::Task {
        source: source.view(),
        labels: &known.labels,
        classes,
        pool: pool.view(),
    };
    let settings = baselines::Settings {
        seed,
        components_per_class: settings.components,
        target_components: Some(settings.components * classes),
        variance_floor: settings.variance_floor,
        restarts: settings.restarts,
        plan: settings.plan,
        ..baselines::Settings::default()
    };
    let baselines::Fitted { classifier, seconds } = method.fit(&given, &settings)?;
    let posterior = classifier.posterior(test.view())?;
    let labels = posterior.rows().into_iter().map(|row| Label::Class(largest(row))).collect();
    Ok(Prediction {
        labels,
        source_only: None,
        carried: None,
        predicted: None,
        plausibility: None,
        chosen: Some(known.domain.clone()),
        candidates,
        forced: false,
        warnings: Vec::new(),
        support: None,
        verdict: None,
        reasons: Vec::new(),
        seconds,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::data::domain::Domain;
    use crate::data::manifest::Manifest;
    use crate::device;
    use crate::features::extract::extract;
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::simulate::{Class, SimulateSettings, simulate};
    use crate::source::Source;

    #[test]
    fn rows_get_the_labels_that_the_monitor_gives() {
        let folder = tempfile::tempdir().unwrap();
        let settings = SimulateSettings {
            seconds: 2.0,
            classes: vec![Class::ALL[0], Class::ALL[1]],
            ..SimulateSettings::default()
        };
        let simulated = simulate(&settings, folder.path(), &|_, _| ()).unwrap();
        let manifest = Manifest::read(&simulated.manifest).unwrap();
        let [known, new] =
            ["motor-a", "motor-b"].map(|name| Domain::read(&manifest, name).unwrap());
        let segments = 3;
        let front_end = FrontEndSettings::equal_bands(EqualBands {
            segments,
            ..EqualBands::usual(known.rate_hz, 1)
        })
        .unwrap();
        let source = Source::fit(&known, &front_end, &SourceSettings::default()).unwrap();
        // The unadapted source, so that some windows are unknown.
        let bytes = source.model(true).unwrap();
        let mut seen = Vec::new();
        for recording in known.recordings.iter().chain(&new.recordings) {
            let recordings = std::slice::from_ref(recording);
            let parts = crate::data::split::whole(&[recording.stretch_frames()]);
            let features = extract(recordings, &parts, &front_end).unwrap();
            let rows = device_labels(&bytes.model(), &features.x);
            let findings = device::run(bytes.model(), recording).unwrap();
            let end_to_end: Vec<Label> = rows.into_iter().step_by(segments).collect();
            let reported: Vec<Label> =
                findings.into_iter().map(|finding| finding.result.unwrap().label).collect();
            assert_eq!(end_to_end, reported);
            seen.extend(reported);
        }
        for label in [Label::Class(0), Label::Class(1), Label::Unknown] {
            assert!(seen.contains(&label), "{label:?} is not put to the test: {seen:?}");
        }
    }
}

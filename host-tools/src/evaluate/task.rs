//! What one pair of domains is compared on: classes, pool, test.

use ndarray::Axis;
use thiserror::Error;

use super::{EvaluateSettings, EvaluatedMethod, PoolChoice, SourceDomain, TargetDomain};
use crate::adapt::verdict::Pool;
use crate::domain::healthy_class;
use crate::extract::Features;
use crate::front_end::FrontEndSettings;
use crate::source::LabelledFeatures;

/// What a method is given, and what it is scored by.
#[derive(Debug, Clone)]
pub struct Task {
    /// The source's windows with their classes.
    pub known: LabelledFeatures,
    /// Name of the target.
    pub target: String,
    /// How samples became features, in both domains.
    pub front_end: FrontEndSettings,
    /// Target windows to adapt on; of a label nothing is left but that it selected them.
    pub pool: Features,
    /// Target windows to label.
    pub test: Features,
    /// True label of each test window, as an index into `labels`.
    pub truth: Vec<usize>,
    /// The source's classes, then the labels that only the target has.
    pub labels: Vec<String>,
    /// The healthy one, as an index into `labels`.
    pub healthy: Option<usize>,
    /// Labels of either domain that are not compared.
    pub left_out: Vec<String>,
}

/// Why a pair of domains cannot be compared as asked.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// The domains were sampled differently.
    #[error(
        "the source has {source_axes} axes at {source_hz} Hz, the target {target_axes} at {target_hz} Hz; \
         resample one of them, or name the same channels in both"
    )]
    Sampling {
        /// Rate of the source.
        source_hz: f64,
        /// Axes of the source.
        source_axes: usize,
        /// Rate of the target.
        target_hz: f64,
        /// Axes of the target.
        target_axes: usize,
    },
    /// Fewer than two classes are left in the source.
    #[error(
        "there is nothing to tell apart: the labels compared leave the source {left} (the source has {source_labels}; \
         the target has {target_labels}); choose domains with at least two labels in common, or name labels with --labels"
    )]
    TooFewLabels {
        /// Classes left, in words.
        left: String,
        /// Labels of the source.
        source_labels: String,
        /// Labels of the target.
        target_labels: String,
    },
    /// No recording of the target has a label that is compared.
    #[error(
        "no recording of the target is left to test; it has {target_labels}, name some of them in --labels"
    )]
    NoTest {
        /// Labels of the target.
        target_labels: String,
    },
    /// The pool names a label that the target does not have, or that is left out.
    #[error(
        "--pool {label}: no target recording that is compared has this label; those compared are {compared} \
         (name a label in --labels to compare it although only one domain has it)"
    )]
    PoolLabel {
        /// The label.
        label: String,
        /// Labels of the target that are compared.
        compared: String,
    },
    /// The healthy class is needed and not known.
    #[error(
        "{flag} healthy needs to know which label is the healthy machine's, and none of {compared} is called \
         healthy or normal; name it with --healthy LABEL"
    )]
    NoHealthy {
        /// What needs it.
        flag: &'static str,
        /// Labels that are compared.
        compared: String,
    },
}

impl Task {
    /// Selects classes, pool and test of a pair.
    pub fn select(
        source: &SourceDomain,
        target: &TargetDomain,
        settings: &EvaluateSettings,
    ) -> Result<Self, TaskError> {
        let (one, other) = (&source.front_end, &target.front_end);
        if one != other {
            return Err(TaskError::Sampling {
                source_hz: one.rate_hz,
                source_axes: one.axes,
                target_hz: other.rate_hz,
                target_axes: other.axes,
            });
        }
        let source_labels = distinct(&source.labels);
        let target_labels = distinct(&target.labels);
        let compared = |label: &&String| match &settings.labels {
            Some(labels) => labels.contains(label),
            None => source_labels.contains(label) && target_labels.contains(label),
        };
        let classes: Vec<String> = source_labels.iter().filter(compared).cloned().collect();
        if classes.len() < 2 {
            return Err(TaskError::TooFewLabels {
                left: classes.first().map_or("no label".into(), |label| format!("only {label}")),
                source_labels: source_labels.join(", "),
                target_labels: target_labels.join(", "),
            });
        }
        let tested: Vec<String> = target_labels.iter().filter(compared).cloned().collect();
        if tested.is_empty() {
            return Err(TaskError::NoTest { target_labels: target_labels.join(", ") });
        }
        let labels = distinct(classes.iter().chain(&tested));
        let left_out = distinct(source_labels.iter().chain(&target_labels))
            .into_iter()
            .filter(|label| !labels.contains(label))
            .collect();
        // A healthy label that this pair lacks leaves it without one.
        let healthy = match &settings.healthy {
            Some(name) => labels.iter().position(|label| label == name),
            None => healthy_class(&labels, None).ok().flatten(),
        };
        let no_healthy = |flag| TaskError::NoHealthy { flag, compared: labels.join(", ") };
        if settings.method == EvaluatedMethod::Guarded
            && settings.pool_is == Pool::Healthy
            && healthy.is_none_or(|class| class >= classes.len())
        {
            return Err(no_healthy("--pool-is"));
        }
        let pooled: Vec<&String> = match &settings.pool {
            PoolChoice::All => tested.iter().collect(),
            PoolChoice::Healthy => vec![&labels[healthy.ok_or_else(|| no_healthy("--pool"))?]],
            PoolChoice::Labels(labels) => labels.iter().collect(),
        };
        if let Some(label) = pooled.iter().find(|label| !tested.contains(label)) {
            let (label, compared) = ((*label).clone(), tested.join(", "));
            return Err(TaskError::PoolLabel { label, compared });
        }

        let (features, known_labels) = selected(&source.features, &source.labels, &classes);
        let (pool, _) = selected(&target.first, &target.labels, &pooled);
        let (test, truth) = selected(&target.last, &target.labels, &labels);
        Ok(Self {
            known: LabelledFeatures {
                domain: source.name.clone(),
                classes,
                features,
                labels: known_labels,
                hash: source.hash,
            },
            target: target.name.clone(),
            front_end: source.front_end.clone(),
            pool,
            test,
            truth,
            labels,
            healthy,
            left_out,
        })
    }
}

/// The labels in order of first appearance.
fn distinct<'a>(labels: impl IntoIterator<Item = &'a String>) -> Vec<String> {
    let mut distinct: Vec<String> = Vec::new();
    for label in labels {
        if !distinct.contains(label) {
            distinct.push(label.clone());
        }
    }
    distinct
}

/// The windows whose recording's label is in `wanted`, and its index there.
fn selected(
    features: &Features,
    labels: &[String],
    wanted: &[impl AsRef<str>],
) -> (Features, Vec<usize>) {
    let class: Vec<Option<usize>> = labels
        .iter()
        .map(|label| wanted.iter().position(|wanted| wanted.as_ref() == label.as_str()))
        .collect();
    let windows = features.recording.iter().enumerate();
    let (rows, classes): (Vec<usize>, Vec<usize>) =
        windows.filter_map(|(row, &recording)| Some((row, class[recording]?))).unzip();
    let x = features.x.select(Axis(0), &rows);
    let recording = rows.iter().map(|row| features.recording[*row]).collect();
    (Features { x, recording }, classes)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;

    fn front_end(rate_hz: f64) -> FrontEndSettings {
        FrontEndSettings::equal_bands(rate_hz, 1, 256, 128, 1, 2).unwrap()
    }

    /// A window a recording whose features are the recording's index plus `offset`.
    fn features(recordings: usize, offset: f32) -> Features {
        let x = Array2::from_shape_fn((recordings, 2), |(row, _)| row as f32 + offset);
        Features { x, recording: (0..recordings).collect() }
    }

    fn source(labels: &[&str]) -> SourceDomain {
        SourceDomain {
            name: "a".into(),
            front_end: front_end(100.0),
            labels: labels.iter().map(ToString::to_string).collect(),
            features: features(labels.len(), 0.0),
            hash: [0; 32],
            seconds: 0.0,
        }
    }

    fn target(labels: &[&str]) -> TargetDomain {
        TargetDomain {
            name: "b".into(),
            front_end: front_end(100.0),
            labels: labels.iter().map(ToString::to_string).collect(),
            first: features(labels.len(), 0.25),
            last: features(labels.len(), 0.5),
            seconds: 0.0,
        }
    }

    fn settings(pool: &str) -> EvaluateSettings {
        EvaluateSettings {
            method: EvaluatedMethod::Guarded,
            pool: pool.parse().unwrap(),
            pool_is: Pool::Unknown,
            labels: None,
            healthy: None,
            components: 1,
            variance_floor: 0.01,
            restarts: 1,
        }
    }

    fn select(
        source_labels: &[&str],
        target_labels: &[&str],
        settings: &EvaluateSettings,
    ) -> Result<Task, TaskError> {
        Task::select(&source(source_labels), &target(target_labels), settings)
    }

    const SOURCE: &[&str] = &["Ball", "Normal", "Crack", "Ball"];
    const TARGET: &[&str] = &["Normal", "Gear", "Ball"];

    #[test]
    fn common_labels_are_compared_and_the_others_named() {
        let task = select(SOURCE, TARGET, &settings("Ball")).unwrap();
        assert_eq!(task.labels, ["Ball", "Normal"]);
        assert_eq!(task.left_out, ["Crack", "Gear"]);
        assert_eq!(task.healthy, Some(1));
        assert_eq!(task.known.labels, [0, 1, 0]);
        assert_eq!(task.known.features.recording, [0, 1, 3]);
        assert_eq!(task.pool.x.column(0).to_vec(), [2.25], "the pool is before the cut");
        assert_eq!(task.test.x.column(0).to_vec(), [0.5, 2.5], "the test is after the cut");
        assert_eq!(task.truth, [1, 0]);
    }

    #[test]
    fn named_labels_may_be_in_one_domain_alone() {
        let labels = ["Gear", "Crack", "Normal"].map(String::from).to_vec();
        let settings = EvaluateSettings { labels: Some(labels), ..settings("all") };
        let task = select(SOURCE, TARGET, &settings).unwrap();
        assert_eq!(task.known.classes, ["Normal", "Crack"]);
        assert_eq!(task.labels, ["Normal", "Crack", "Gear"]);
        assert_eq!(task.truth, [0, 2]);
        assert_eq!(task.left_out, ["Ball"]);
        assert_eq!(task.pool.recording, [0, 1]);
    }

    #[test]
    fn what_cannot_be_compared_is_refused() {
        let message = |result: Result<Task, TaskError>| result.map(|_| ()).unwrap_err().to_string();
        let one = message(select(SOURCE, &["Ball", "Gear"], &settings("all")));
        assert!(one.contains("only Ball") && one.contains("Ball, Gear"), "{one}");
        let none = message(select(SOURCE, &["Gear"], &settings("all")));
        assert!(none.contains("no label"), "{none}");
        let pool = message(select(SOURCE, TARGET, &settings("Gear")));
        assert!(pool.contains("Gear") && pool.contains("Normal, Ball"), "{pool}");
        let faults = &["Ball", "Crack"];
        let healthy = message(select(faults, faults, &settings("healthy")));
        assert!(healthy.contains("--healthy LABEL"), "{healthy}");
        let pool_is = EvaluateSettings { pool_is: Pool::Healthy, ..settings("all") };
        let healthy = message(select(faults, faults, &pool_is));
        assert!(healthy.contains("--pool-is"), "{healthy}");
        let crack = Some(vec!["Crack".to_owned(), "Ball".to_owned()]);
        let untested = EvaluateSettings { labels: crack, ..settings("all") };
        let untested = message(select(SOURCE, &["Normal"], &untested));
        assert!(untested.contains("left to test"), "{untested}");
        let slow = TargetDomain { front_end: front_end(50.0), ..target(TARGET) };
        let rates = message(Task::select(&source(SOURCE), &slow, &settings("all")));
        assert!(rates.contains("100") && rates.contains("50"), "{rates}");
    }
}

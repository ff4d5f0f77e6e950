//! The data for comparing one pair of domains: classes, pool, test.

use std::collections::BTreeMap;
use std::sync::Arc;

use thiserror::Error;

use super::pools;
use super::{
    EvaluateSettings, EvaluatedMethod, LeaveOut, PoolChoice, SourceDomain, Sources, TargetDomain,
};
use crate::adapt::verdict::Pool;
use crate::data::domain::healthy_class;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::features::rates::same_bands;
use crate::source::LabelledFeatures;
use crate::source::library::{LeftOut, Shared, distinct};
use crate::words::plural;

/// The input of a method, and the data to score it with.
#[derive(Debug, Clone)]
pub struct Task {
    /// The sources' windows with their classes. Tasks of one pair share them.
    pub known: Arc<Shared>,
    /// The sources, as they were requested.
    pub source: String,
    /// Name of the target.
    pub target: String,
    /// Settings that turned the target's samples into features. The source's bands are the same in
    /// hertz.
    pub front_end: FrontEndSettings,
    /// Target windows to adapt on. Labels only select the windows; no method sees them.
    pub pool: Features,
    /// Number of windows of each label in the pool.
    pub pool_windows: BTreeMap<String, usize>,
    /// Target windows to label.
    pub test: Features,
    /// True label of each test window, as an index into `labels`.
    pub truth: Vec<usize>,
    /// The source's classes, then the labels that only the target has.
    pub labels: Vec<String>,
    /// The healthy label, as an index into `labels`.
    pub healthy: Option<usize>,
    /// Labels of either domain that are not compared.
    pub left_out: Vec<String>,
}

/// Why a pair of domains cannot be compared with these settings.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum TaskError {
    /// The domains were sampled differently.
    #[error(
        "the source has {} at {source_hz} Hz, the target {target_axes} at {target_hz} Hz, and \
         their bands are not the same; name the same channels in both",
        plural(*source_axes, "axis", "axes")
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
         the target has {target_labels}); choose domains with at least two labels in common, or name labels with `labels`"
    )]
    TooFewLabels {
        /// The remaining classes, in words.
        left: String,
        /// Labels of the source.
        source_labels: String,
        /// Labels of the target.
        target_labels: String,
    },
    /// No recording of the target has a compared label.
    #[error(
        "no recording of the target is left to test; it has {target_labels}, name some of them in `labels`"
    )]
    NoTest {
        /// Labels of the target.
        target_labels: String,
    },
    /// The pool names a label that the target does not have, or that is left out.
    #[error(
        "`pool` {label}: no target recording that is compared has this label; those compared are {compared} \
         (name a label in `labels` to compare it although only one domain has it)"
    )]
    PoolLabel {
        /// The label.
        label: String,
        /// Compared labels of the target.
        compared: String,
    },
    /// The healthy class is needed but not known.
    #[error(
        "`{field}` healthy needs to know which label is the healthy machine's, and none of {compared} is called \
         healthy or normal; name it with `healthy` LABEL"
    )]
    NoHealthy {
        /// The setting that needs it.
        field: &'static str,
        /// The compared labels.
        compared: String,
    },
}

impl Task {
    /// The classes that the sources have.
    pub fn classes(&self) -> &[String] {
        self.known.known.first().map_or(&[], |known| &known.classes)
    }

    /// Selects classes, pool and test of a pair. Returns one task for each pool that the settings
    /// request and each label that they leave out.
    pub fn select(
        sources: &Sources<'_>,
        target: &TargetDomain,
        settings: &EvaluateSettings,
        seed: u64,
    ) -> Result<Vec<Self>, TaskError> {
        for source in &sources.domains {
            let (one, other) = (&source.front_end, &target.front_end);
            if !same_bands(one, other) {
                return Err(TaskError::Sampling {
                    source_hz: one.rate_hz,
                    source_axes: one.axes,
                    target_hz: other.rate_hz,
                    target_axes: other.axes,
                });
            }
        }
        let left_out: Vec<Vec<String>> = match &settings.leave_out {
            None => vec![Vec::new()],
            Some(LeaveOut::Labels(labels)) => vec![labels.clone()],
            Some(LeaveOut::Each) => {
                let compared = Compared::new(sources, target, settings, &[])?;
                let healthy = compared.healthy.map(|class| &compared.labels[class]);
                let faults = compared.classes.iter().filter(|class| Some(*class) != healthy);
                faults
                    .filter(|class| compared.tested.contains(class))
                    .map(|c| vec![c.clone()])
                    .collect()
            }
        };
        let mut tasks = Vec::new();
        for left_out in &left_out {
            let compared = Compared::new(sources, target, settings, left_out)?;
            tasks.extend(compared.tasks(sources, target, settings, seed)?);
        }
        Ok(tasks)
    }
}

/// The labels of a pair, by their role.
struct Compared<'a> {
    /// The sources that are used: those with the healthy class, if one of them has it.
    used: Vec<&'a SourceDomain>,
    /// Classes of every source that is used.
    classes: Vec<String>,
    /// Labels of the test.
    tested: Vec<String>,
    /// The classes, then the labels that only the test has.
    labels: Vec<String>,
    /// Index of the healthy label in `labels`.
    healthy: Option<usize>,
    /// Labels of either domain that are not compared.
    passed_over: Vec<String>,
}

impl<'a> Compared<'a> {
    fn new(
        sources: &Sources<'a>,
        target: &TargetDomain,
        settings: &EvaluateSettings,
        left_out: &[String],
    ) -> Result<Self, TaskError> {
        let all_labels = distinct(sources.domains.iter().flat_map(|source| &source.labels));
        let target_labels = distinct(&target.labels);
        let named = settings.healthy.as_deref();
        // As in a library: the healthy class is not given up for a machine that lacks it.
        let healthy = healthy_class(&target_labels, named).ok().flatten();
        let healthy = healthy.map(|class| &target_labels[class]);
        let has = |source: &SourceDomain, label: &String| source.labels.contains(label);
        let with_healthy = |source: &&'a SourceDomain| {
            healthy.is_none_or(|label| !all_labels.contains(label) || has(source, label))
        };
        let used: Vec<&SourceDomain> =
            sources.domains.iter().copied().filter(with_healthy).collect();
        let source_labels: Vec<String> = all_labels
            .iter()
            .filter(|label| used.iter().all(|source| has(source, label)))
            .cloned()
            .collect();
        let compared = |label: &&String| match &settings.labels {
            Some(labels) => labels.contains(label),
            None => source_labels.contains(label) && target_labels.contains(label),
        };
        let classes: Vec<String> = source_labels
            .iter()
            .filter(compared)
            .filter(|label| !left_out.contains(label))
            .cloned()
            .collect();
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
        let passed_over = distinct(all_labels.iter().chain(&target_labels))
            .into_iter()
            .filter(|label| !labels.contains(label))
            .collect();
        // If this pair does not have the healthy label, it has no healthy class.
        let healthy = match &settings.healthy {
            Some(name) => labels.iter().position(|label| label == name),
            None => healthy_class(&labels, None).ok().flatten(),
        };
        let no_healthy = |field| TaskError::NoHealthy { field, compared: labels.join(", ") };
        if settings.method == EvaluatedMethod::Guarded
            && settings.pool_is == Pool::Healthy
            && healthy.is_none_or(|class| class >= classes.len())
        {
            return Err(no_healthy("pool_is"));
        }
        if settings.pool.needs_healthy()
            && healthy.is_none_or(|class| !tested.contains(&labels[class]))
        {
            return Err(no_healthy("pool"));
        }
        Ok(Self { used, classes, tested, labels, healthy, passed_over })
    }

    /// One task for each pool.
    fn tasks(
        &self,
        sources: &Sources<'_>,
        target: &TargetDomain,
        settings: &EvaluateSettings,
        seed: u64,
    ) -> Result<Vec<Task>, TaskError> {
        // A label left out of the source is also left out of the pool. A label that only the target
        // has is not.
        let known = |label: &String| self.used.iter().any(|source| source.labels.contains(label));
        let left_out = |label: &&String| !known(label) || self.classes.contains(label);
        let pooled: Vec<String> = self.tested.iter().filter(left_out).cloned().collect();
        if let PoolChoice::Labels(labels) = &settings.pool
            && let Some(label) = labels.iter().find(|label| !pooled.contains(label))
        {
            return Err(TaskError::PoolLabel { label: label.clone(), compared: pooled.join(", ") });
        }
        let (_, first) = selected(&target.first, &target.labels, &pooled);
        let count = |class: usize| first.iter().filter(|label| **label == class).count();
        let windows: Vec<(String, usize)> =
            pooled.iter().enumerate().map(|(class, label)| (label.clone(), count(class))).collect();
        let healthy = self.healthy.map(|class| &self.labels[class]);
        let healthy_pooled = pooled.iter().position(|label| Some(label) == healthy);

        let known = |source: &&SourceDomain| {
            let (features, labels) = selected(&source.features, &source.labels, &self.classes);
            LabelledFeatures {
                domain: source.name.clone(),
                classes: self.classes.clone(),
                // The bands are the same in hertz, and the model runs at the target's rate.
                front_end: target.front_end.clone(),
                features,
                labels,
                hash: source.hash,
                unit: None,
                full_scale: None,
            }
        };
        let known = Arc::new(Shared {
            known: self.used.iter().map(known).collect(),
            left_out: LeftOut::default(),
        });
        let (test, truth) = selected(&target.last, &target.labels, &self.labels);
        let task = |pool: pools::Pool| Task {
            known: known.clone(),
            source: sources.name.clone(),
            target: target.name.clone(),
            front_end: target.front_end.clone(),
            pool: first_windows(&target.first, &target.labels, &pool.parts),
            pool_windows: pool.parts.into_iter().collect(),
            test: test.clone(),
            truth: truth.clone(),
            labels: self.labels.clone(),
            healthy: self.healthy,
            left_out: self.passed_over.clone(),
        };
        // The draws of one pair do not depend on which other pairs are evaluated.
        let names = sources.name.bytes().chain([0]).chain(target.name.bytes());
        let stream =
            names.fold(0, |hash: u64, byte| hash.wrapping_mul(31).wrapping_add(u64::from(byte)));
        let pools = pools::pools(&settings.pool, &windows, healthy_pooled, (seed, stream));
        Ok(pools.into_iter().map(task).collect())
    }
}

/// The first windows in time of each label, with the numbers given in `parts`.
fn first_windows(features: &Features, labels: &[String], parts: &[(String, usize)]) -> Features {
    let mut left: BTreeMap<&str, usize> =
        parts.iter().map(|(label, windows)| (label.as_str(), *windows)).collect();
    let rows: Vec<usize> = (0..features.recording.len())
        .filter(|row| match left.get_mut(labels[features.recording[*row]].as_str()) {
            Some(windows) if *windows > 0 => {
                *windows -= 1;
                true
            }
            _ => false,
        })
        .collect();
    features.select(&rows)
}

/// The windows whose recording has a label in `wanted`, and the index of that label for each
/// window.
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
    (features.select(&rows), classes)
}

#[cfg(test)]
mod tests {
    use ndarray::Array2;

    use super::*;
    use crate::features::front_end::EqualBands;

    fn front_end(rate_hz: f64) -> FrontEndSettings {
        FrontEndSettings::equal_bands(EqualBands {
            rate_hz,
            axes: 1,
            fft_len: 256,
            hop: 128,
            segments: 1,
            bands: 2,
        })
        .unwrap()
    }

    /// One window per recording. Its features are the recording's index plus `offset`.
    fn features(recordings: usize, offset: f32) -> Features {
        let x = Array2::from_shape_fn((recordings, 2), |(row, _)| row as f32 + offset);
        Features { x, recording: (0..recordings).collect(), stride: 128 }
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
        EvaluateSettings { pool: pool.parse().unwrap(), ..EvaluateSettings::default() }
    }

    fn select(
        source_labels: &[&str],
        target_labels: &[&str],
        settings: &EvaluateSettings,
    ) -> Result<Task, TaskError> {
        let source = source(source_labels);
        let mut tasks = Task::select(&Sources::one(&source), &target(target_labels), settings, 0)?;
        assert_eq!(tasks.len(), 1);
        Ok(tasks.remove(0))
    }

    const SOURCE: &[&str] = &["Ball", "Normal", "Crack", "Ball"];
    const TARGET: &[&str] = &["Normal", "Gear", "Ball"];

    #[test]
    fn common_labels_are_compared_and_the_others_named() {
        let task = select(SOURCE, TARGET, &settings("Ball")).unwrap();
        assert_eq!(task.labels, ["Ball", "Normal"]);
        assert_eq!(task.left_out, ["Crack", "Gear"]);
        assert_eq!(task.healthy, Some(1));
        assert_eq!(task.known.known[0].labels, [0, 1, 0]);
        assert_eq!(task.known.known[0].features.recording, [0, 1, 3]);
        assert_eq!(task.pool.x.column(0).to_vec(), [2.25], "the pool is before the cut");
        assert_eq!(task.test.x.column(0).to_vec(), [0.5, 2.5], "the test is after the cut");
        assert_eq!(task.truth, [1, 0]);
    }

    #[test]
    fn several_sources_share_classes_and_never_give_up_the_healthy_one() {
        let [one, two, three] = [
            source(&["Normal", "Ball", "Crack"]),
            SourceDomain { name: "two".into(), ..source(&["Crack", "Gear", "Normal"]) },
            SourceDomain { name: "three".into(), ..source(&["Ball", "Crack"]) },
        ];
        let sources = Sources { name: "others".into(), domains: vec![&one, &two, &three] };
        let everything = target(&["Ball", "Normal", "Gear", "Crack"]);
        let task = Task::select(&sources, &everything, &settings("all"), 0).unwrap().remove(0);
        let names: Vec<&str> = task.known.known.iter().map(|known| known.domain.as_str()).collect();
        assert_eq!(names, ["a", "two"], "the third has no healthy class");
        assert_eq!(task.classes(), ["Normal", "Crack"]);
        assert_eq!(task.known.known[1].labels, [1, 0], "one order of classes for all");
        assert_eq!(task.left_out, ["Ball", "Gear"]);
        // Without a healthy label in the target, every source is used.
        let faults = target(&["Ball", "Gear", "Crack"]);
        let labels = Some(vec!["Crack".to_owned(), "Ball".to_owned()]);
        let settings = EvaluateSettings { labels, ..settings("all") };
        let pair = Sources { name: "others".into(), domains: vec![&one, &three] };
        let task = Task::select(&pair, &faults, &settings, 0).unwrap().remove(0);
        assert_eq!((task.known.known.len(), task.classes().len()), (2, 2));
    }

    #[test]
    fn named_labels_may_be_in_one_domain_alone() {
        let labels = ["Gear", "Crack", "Normal"].map(String::from).to_vec();
        let settings = EvaluateSettings { labels: Some(labels), ..settings("all") };
        let task = select(SOURCE, TARGET, &settings).unwrap();
        assert_eq!(task.classes(), ["Normal", "Crack"]);
        assert_eq!(task.labels, ["Normal", "Crack", "Gear"]);
        assert_eq!(task.truth, [0, 2]);
        assert_eq!(task.left_out, ["Ball"]);
        assert_eq!(task.pool.recording, [0, 1]);
    }

    #[test]
    fn what_is_left_out_is_in_the_test_alone() {
        let both = &["Normal", "Ball", "Crack", "Gear"];
        let each = EvaluateSettings { leave_out: Some(LeaveOut::Each), ..settings("all") };
        let tasks = Task::select(&Sources::one(&source(both)), &target(both), &each, 0).unwrap();
        assert_eq!(tasks.len(), 3, "each fault, not the healthy machine");
        let task = &tasks[1];
        assert_eq!(task.classes(), ["Normal", "Ball", "Gear"]);
        assert_eq!(task.labels, ["Normal", "Ball", "Gear", "Crack"]);
        assert_eq!(task.pool.recording, [0, 1, 3]);
        assert_eq!(task.truth, [0, 1, 3, 2]);
        let two = LeaveOut::Labels(vec!["Ball".into(), "Gear".into()]);
        let two = EvaluateSettings { leave_out: Some(two), ..settings("all") };
        let task = select(both, both, &two).unwrap();
        assert_eq!(task.classes(), ["Normal", "Crack"]);
        assert_eq!(task.pool.recording, [0, 2]);
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
        assert!(healthy.contains("`healthy` LABEL"), "{healthy}");
        let pool_is = EvaluateSettings { pool_is: Pool::Healthy, ..settings("all") };
        let healthy = message(select(faults, faults, &pool_is));
        assert!(healthy.contains("`pool_is`"), "{healthy}");
        let crack = Some(vec!["Crack".to_owned(), "Ball".to_owned()]);
        let untested = EvaluateSettings { labels: crack, ..settings("all") };
        let untested = message(select(SOURCE, &["Normal"], &untested));
        assert!(untested.contains("left to test"), "{untested}");
        let slow = TargetDomain { front_end: front_end(50.0), ..target(TARGET) };
        let rates = Task::select(&Sources::one(&source(SOURCE)), &slow, &settings("all"), 0);
        let rates = rates.map(|_| ()).unwrap_err().to_string();
        assert!(rates.contains("100") && rates.contains("50"), "{rates}");
    }
}

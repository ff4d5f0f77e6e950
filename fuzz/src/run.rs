//! Runs samples through a monitor of either kind, and uses everything around it.

use rebearing::acquisition::Sample;
use rebearing::model::format::{MAX_AVERAGE, MAX_AXES, MAX_BANDS};
use rebearing::model::{AnyModel, Body, Floats, Integers, Numbers, ONE};
use rebearing::monitor::AnyFinding;
use rebearing::operation::{DriftWatch, KeptAlarm, ReportLine, Snapshot};
use rebearing::{Alarm, AnyMonitor, IntegerStatistics, Label, Statistics, Vacant};

/// Number of windows that a snapshot keeps here.
const KEPT: usize = 2;

/// Checks on the numbers of a finding.
pub(crate) trait Meaningful: Numbers {
    /// Largest rounding error of the probabilities' sum.
    const OFF: f32;
    /// Returns true if a log-likelihood is a number.
    fn is_number(log_likelihood: Self::LogLikelihood) -> bool;
    /// The sum of the probabilities; `None` if one of them is not a probability.
    fn sum(posterior: &[Self::Probability]) -> Option<f32>;
    /// Returns true if level, rms, kurtosis and crest factor make sense.
    fn makes_sense(statistics: &Self::Statistics) -> bool;
}

impl Meaningful for Floats {
    const OFF: f32 = 1e-3;

    fn is_number(log_likelihood: f32) -> bool {
        log_likelihood.is_finite()
    }

    fn sum(posterior: &[f32]) -> Option<f32> {
        posterior.iter().all(|p| (0.0..=1.001).contains(p)).then(|| posterior.iter().sum())
    }

    fn makes_sense(statistics: &Statistics) -> bool {
        let Statistics { level, rms, kurtosis, crest } = *statistics;
        // A single outlier among n samples has a kurtosis of about n and a crest of √n.
        let shape = (0.99..1e9).contains(&kurtosis) && (0.99..1e5).contains(&crest);
        level.is_finite() && rms.is_finite() && rms > 0.0 && shape
    }
}

impl Meaningful for Integers {
    /// Each of up to 256 classes may be off by one part in 2¹⁵.
    const OFF: f32 = 1e-2;

    fn is_number(_: i32) -> bool {
        true
    }

    fn sum(posterior: &[u16]) -> Option<f32> {
        let sum: u32 = posterior.iter().map(|p| u32::from(*p)).sum();
        posterior.iter().all(|p| *p <= ONE).then_some(sum as f32 / f32::from(ONE))
    }

    fn makes_sense(statistics: &IntegerStatistics) -> bool {
        // The values are in Q8, and counts are at most 2¹⁵.
        let IntegerStatistics { rms, kurtosis, crest, .. } = *statistics;
        rms <= 1 << 24 && kurtosis >= 250 && crest >= 250
    }
}

/// Parts of a model that its findings must reflect.
#[derive(Clone, Copy)]
pub(crate) struct Parts {
    pub(crate) gate: bool,
    pub(crate) severity: bool,
}

/// Runs interleaved samples through the monitor of `room` and checks its findings.
///
/// # Panics
/// If the model does not fit, or a finding has meaningless numbers.
pub(crate) fn run<'m, M, N, const AXES: usize, const CLASSES: usize>(
    room: &mut Vacant<M>,
    model: AnyModel<'m, M::Body>,
    parts: Parts,
    mut samples: impl Iterator<Item = M::Sample>,
) where
    M: AnyMonitor<'m, AXES, CLASSES>,
    M::Body: Body<'m, Numbers = N>,
    N: Meaningful,
{
    let monitor = room.start(model).expect("it holds every model of its shape");
    // A model with orders up to the thousandth may refuse this speed as too fast. Its findings then
    // say so.
    let _ = monitor.set_shaft_speed(25.0);
    let mut alarm =
        Alarm::<CLASSES, { MAX_AVERAGE as usize }>::of_model(&model).expect("it holds every model");
    let mut watch = model.drift().map(DriftWatch::new);
    let mut snapshot =
        Snapshot::<{ MAX_AXES * MAX_BANDS }, KEPT>::new(&model).expect("it holds every model");
    loop {
        let mut frame = [M::Sample::ZERO; AXES];
        for place in &mut frame {
            let Some(sample) = samples.next() else { return };
            *place = sample;
        }
        let Some(finding) = monitor.push(frame) else { continue };
        check_finding(&finding, &model, parts);
        let state = alarm.update(&finding);
        assert!(state.level.is_none_or(|level| level <= ONE), "{state:?}");
        let kept = KeptAlarm::from_word(alarm.kept().to_word());
        assert_eq!(kept.map(KeptAlarm::raised), Some(state.alarm));
        if let Some(watch) = &mut watch {
            watch.update(&finding);
        }
        if finding.result.is_ok() {
            snapshot.record(monitor, finding.index, 0);
            assert_eq!(snapshot.bytes().len(), snapshot.bytes().count());
        }
        let line = ReportLine::new(&model, &finding).alarm(&state).features(monitor.features());
        assert!(line.exact().to_string().starts_with("rb1 report "));
    }
}

/// Checks that a finding is a sensor fault or has meaningful numbers.
fn check_finding<'m, B, N, const AXES: usize, const CLASSES: usize>(
    finding: &AnyFinding<N, AXES, CLASSES>,
    model: &AnyModel<'m, B>,
    parts: Parts,
) where
    B: Body<'m, Numbers = N>,
    N: Meaningful,
{
    let Ok(found) = &finding.result else { return };
    let asked = [found.gate_log_likelihood, found.log_likelihood];
    assert!(asked.into_iter().flatten().all(N::is_number), "log-likelihoods {asked:?}");
    assert_eq!(found.gate_log_likelihood.is_some(), parts.gate);
    assert_eq!(found.posterior.len(), model.classes());
    // If no mixture was evaluated for a fault, there is no posterior.
    let none = found.label == Label::UnknownFault && found.log_likelihood.is_none();
    let expected = if none { 0.0 } else { 1.0 };
    let near = |sum: f32| (sum - expected).abs() < N::OFF;
    assert!(N::sum(&found.posterior).is_some_and(near), "posterior {:?}", found.posterior);
    assert!(found.statistics.iter().all(N::makes_sense), "{:?}", found.statistics);
    assert_eq!(found.severity.is_some(), parts.severity);
    if let Some(severity) = found.severity {
        assert!(severity.velocity.iter().all(|x| x.is_finite() && *x >= 0.0), "{severity:?}");
    }
    assert!(match found.label {
        Label::Class(class) => class < model.classes(),
        Label::Unknown => !parts.gate,
        Label::UnknownFault => parts.gate,
    });
}

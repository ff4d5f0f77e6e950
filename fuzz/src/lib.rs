//! What must hold for arbitrary bytes, whoever makes them up: cargo-fuzz or `mutate`.

use rebearing::decision::ONE;
use rebearing::model::format::{
    self, MAX_AVERAGE, MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS,
};
use rebearing::window::Sample;
use rebearing::{Decision, Label, Model, ModelError, Monitor, Report, Statistics};
use zerocopy::IntoBytes as _;

/// Valid model files, the seeds of the mutations.
pub static GOLDEN: [&[u8]; 4] = [
    rebearing::include_model!("../../tests/golden/model-v1.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-gate.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-orders.rbm"),
    rebearing::include_model!("../../tests/golden/model-v1-decision.rbm"),
];

/// Most samples per axis that one input is run for: a decision may span millions.
const MOST_SAMPLES: usize = 3 * 4096;

/// Parses `bytes`, and uses every part of what is accepted. A refusal is a result, not a failure.
///
/// # Panics
/// If an accepted model breaks a promise of the parser.
pub fn model(bytes: &[u8]) -> Result<(), ModelError> {
    // A region may be longer than the file in it, and a file may lie anywhere.
    let words = aligned(bytes);
    let region = &words.as_bytes()[..bytes.len()];
    let in_region = Model::from_region(region).map(|model| model.bytes().len());
    let model = Model::parse(region)?;
    assert_eq!(in_region, Ok(bytes.len()), "from_region disagrees with parse");
    assert_eq!(model.bytes(), bytes);
    check_promises(&model);

    let front_end = model.front_end();
    let samples = front_end.window_len().min(MOST_SAMPLES);
    match front_end.axes {
        1 => run::<f32, 1>(&model, ramp(samples)),
        2 => run::<f32, 2>(&model, ramp(samples)),
        _ => run::<f32, 3>(&model, ramp(samples)),
    }
    Ok(())
}

/// Runs `bytes`, taken as samples and repeated until a decision window is full, through monitors
/// with the golden models.
///
/// # Panics
/// If a golden model is refused or a report holds a number that is not finite.
pub fn monitor(bytes: &[u8]) {
    for golden in GOLDEN {
        let model = Model::parse(golden).expect("the golden model is valid");
        monitor_with(&model, bytes);
    }
}

fn monitor_with(model: &Model<'_>, bytes: &[u8]) {
    let count = (2 * model.front_end().window_len()).min(4 * MOST_SAMPLES);
    let floats = bytes.as_chunks().0.iter().map(|word| f32::from_le_bytes(*word));
    let counts = bytes.as_chunks().0.iter().map(|word| i16::from_le_bytes(*word));
    match model.front_end().axes {
        1 => {
            run::<f32, 1>(model, floats.cycle().take(count));
            run::<i16, 1>(model, counts.cycle().take(count));
        }
        2 => {
            run::<f32, 2>(model, floats.cycle().take(2 * count));
            run::<i16, 2>(model, counts.cycle().take(2 * count));
        }
        _ => {
            run::<f32, 3>(model, floats.cycle().take(3 * count));
            run::<i16, 3>(model, counts.cycle().take(3 * count));
        }
    }
}

/// Makes the length and the CRC-32 in the header of `file` right, so that a mutation gets past
/// them to the checks behind.
pub fn seal(file: &mut [u8]) {
    let length = u32::try_from(file.len()).unwrap_or(u32::MAX);
    if file.len() >= format::HEADER_LEN {
        file[8..12].copy_from_slice(&length.to_le_bytes());
        let crc = format::crc32(file);
        file[format::CRC_OFFSET..][..4].copy_from_slice(&crc.to_le_bytes());
    }
}

/// What evaluation relies on.
fn check_promises(model: &Model<'_>) {
    let front_end = model.front_end();
    let (dims, classes, components) = (model.dims(), model.classes(), model.components().len());
    assert_eq!(front_end.dims(), dims);
    assert!((1..=MAX_BANDS).contains(&front_end.axis_features()));
    assert!(
        (1..=MAX_AXES).contains(&front_end.axes) && (1..=MAX_BANDS).contains(&front_end.bands())
    );
    assert!((1..=MAX_COMPONENTS).contains(&components) && (1..=MAX_CLASSES).contains(&classes));
    assert!(front_end.window_len() >= front_end.fft_len && front_end.rate_hz.is_finite());
    assert!(model.log_likelihood_min().is_finite());
    assert_eq!((model.shift().len(), model.scale().len()), (dims, dims));
    assert!(model.shift().iter().chain(model.scale()).all(|x| x.is_finite()));
    for component in model.components() {
        assert_eq!((component.scale.len(), component.offset.len()), (dims, dims));
        assert!(component.constant.is_finite());
        assert!(component.scale.iter().all(|x| x.is_finite() && *x > 0.0));
        assert!(component.offset.iter().all(|x| x.is_finite()));
    }
    assert_eq!(model.labels().len(), components * classes);
    for class in 0..classes {
        assert!(model.class_name(class).is_some());
    }
    assert_eq!(model.class_name(classes), None);
    assert!(model.healthy().is_none_or(|class| class < classes));
    if let Some(gate) = model.gate() {
        assert!((1..=components).contains(&gate.components));
        assert!(gate.log_likelihood_min.is_finite() && model.healthy().is_some());
    }
    if let Some(lead) = model.lead() {
        assert!((1..=dims).contains(&lead.features) && lead.order.len() == dims);
        assert!(lead.order.iter().all(|feature| (*feature as usize) < dims));
    }
    assert!(model.decision().check().is_ok());
    if let Some(severity) = model.severity() {
        let (low, end) = severity.bins(front_end);
        assert!(1 <= low && low < end && end <= front_end.fft_len / 2 + 1, "{severity:?}");
    }
    let provenance = model.provenance();
    assert!(
        provenance.tool.len() + provenance.source.len() + provenance.target.len()
            < model.bytes().len()
    );
}

/// Runs interleaved samples through the largest monitor there is and checks its reports.
fn run<S: Sample, const AXES: usize>(model: &Model<'_>, mut samples: impl Iterator<Item = S>) {
    type Largest<'m, S, const AXES: usize> =
        Monitor<'m, S, 4096, AXES, { MAX_AXES * MAX_BANDS }, MAX_COMPONENTS, MAX_CLASSES>;
    let mut monitor = Largest::<S, AXES>::new(*model).expect("it holds every model of its axes");
    // A model of orders up to the thousandth may find it too fast, which reports then say.
    let _ = monitor.set_shaft_speed(25.0);
    let mut decision = Decision::<MAX_CLASSES, { MAX_AVERAGE as usize }>::of_model(model)
        .expect("it holds every model");
    loop {
        let mut frame = [S::ZERO; AXES];
        for place in &mut frame {
            let Some(sample) = samples.next() else { return };
            *place = sample;
        }
        if let Some(report) = monitor.push(frame) {
            check_report(&report, model);
            let verdict = decision.report(&report);
            assert!(verdict.level.is_none_or(|level| level <= ONE), "{verdict:?}");
        }
    }
}

/// A sensor fault, or numbers that mean something.
fn check_report<const AXES: usize>(report: &Report<AXES, MAX_CLASSES>, model: &Model<'_>) {
    let Ok(finding) = &report.finding else { return };
    let asked = [finding.gate_log_likelihood, finding.log_likelihood];
    assert!(asked.iter().flatten().all(|x| x.is_finite()), "log-likelihoods {asked:?}");
    assert_eq!(finding.gate_log_likelihood.is_some(), model.gate().is_some());
    assert_eq!(finding.posterior.len(), model.classes());
    let sum: f32 = finding.posterior.iter().sum();
    // A fault that no mixture was asked about has no posterior.
    let expected = if finding.label == Label::UnknownFault && finding.log_likelihood.is_none() {
        0.0
    } else {
        1.0
    };
    assert!((sum - expected).abs() < 1e-3, "posterior sums to {sum}");
    assert!(finding.posterior.iter().all(|p| (0.0..=1.001).contains(p)));
    for Statistics { level, rms, kurtosis, crest } in finding.statistics {
        assert!(level.is_finite() && rms.is_finite() && rms > 0.0, "{:?}", finding.statistics);
        // A single outlier among n samples has a kurtosis of about n and a crest of √n.
        assert!((0.99..1e9).contains(&kurtosis), "{:?}", finding.statistics);
        assert!((0.99..1e5).contains(&crest), "{:?}", finding.statistics);
    }
    assert_eq!(finding.severity.is_some(), model.severity().is_some());
    if let Some(severity) = finding.severity {
        assert!(severity.velocity.iter().all(|x| x.is_finite() && *x >= 0.0), "{severity:?}");
    }
    assert!(match finding.label {
        Label::Class(class) => class < model.classes(),
        Label::Unknown => model.gate().is_none(),
        Label::UnknownFault => model.gate().is_some(),
    });
}

/// Samples that vary, for models whose samples do not matter.
fn ramp(samples: usize) -> impl Iterator<Item = f32> {
    (0..MAX_AXES * samples).map(|n| (n * n % 257) as f32 - 128.0)
}

/// The bytes on a 4-byte boundary, padded to whole words.
fn aligned(bytes: &[u8]) -> Vec<u32> {
    let mut words = vec![0_u32; bytes.len().div_ceil(4)];
    words.as_mut_bytes()[..bytes.len()].copy_from_slice(bytes);
    words
}

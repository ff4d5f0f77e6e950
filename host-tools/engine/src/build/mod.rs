//! Builds a finished model from a source and a target. This is everything that `rebearing adapt`
//! does, except reading options and printing.
//!
//! ```text
//! source, target ─► features ─► adaptation ─► model file ─┬─────────────► sections ─► Built
//!                                                         └─► in counts ──┘
//!                            alarm, severity, drift, unit ────────────────┘
//! ```
//!
//! ```
//! use rebearing_host::adapt::verdict::{AdaptSettings, Pool};
//! use rebearing_host::build::{BuildSettings, Target, build};
//! use rebearing_host::data::domain::{Domain, Resample};
//! use rebearing_host::data::manifest::Manifest;
//! use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
//! use rebearing_host::simulate::{SimulateSettings, simulate};
//! use rebearing_host::source::{Source, SourceSettings};
//!
//! let folder = tempfile::tempdir()?;
//! let settings = SimulateSettings { seconds: 4.0, ..SimulateSettings::default() };
//! let simulated = simulate(&settings, folder.path(), &|_, _| ())?;
//! let manifest = Manifest::read(&simulated.manifest)?;
//! let known = Domain::read(&manifest, "motor-a")?;
//! let front_end = FrontEndSettings::equal_bands(EqualBands::usual(known.rate_hz, known.axes))?;
//! let source = Source::fit(&known, &front_end, &SourceSettings::default())?;
//!
//! let target = Target::read(&manifest, "motor-b", Vec::new(), Resample::No)?;
//! let adapt = AdaptSettings { pool_is: Pool::All, ..AdaptSettings::default() };
//! let built = build(source.into(), target, &BuildSettings { adapt, ..BuildSettings::default() })?;
//! println!("{}: {} bytes of flash", built.adaptation.verdict, built.model.bytes().len());
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod alarm;
mod drift;
mod in_counts;
mod of_features;
pub mod severity;
mod target;

pub use drift::{NoDriftReference, drift_warning};
pub use in_counts::{InCounts, loss_line};
pub use of_features::{BuiltOfFeatures, build_of_features};
pub use target::{Target, fitted_from};

use anyhow::{Context, Result, bail};
use rebearing::Encoding;
use rebearing::model::AlarmParameters;

use crate::adapt::false_alarms::FalseAlarms;
use crate::adapt::verdict::{self, AdaptSettings, Adaptation};
use crate::data::split::Part;
use crate::features::dense::{at_hop, extract_dense, stride_for};
use crate::features::extract::Features;
use crate::features::snapshot::with_snapshots;
use crate::model::bytes::Payload;
use crate::model::deployed::DeployedModel;
use crate::model::drift::DriftContents;
use crate::model::loss::Loss;
use crate::model::sections::{
    alarm_section, drift_section, severity_section, unit_section, verdict_section,
};
use crate::source::library::Library;
use alarm::AlarmSettings;
use severity::SeveritySettings;

/// Settings for building a model.
#[derive(Debug, Clone)]
pub struct BuildSettings {
    /// How the source is adapted to the target.
    pub adapt: AdaptSettings,
    /// The encoding of the numbers in the model file.
    pub encoding: Encoding,
    /// Value of the largest 16-bit count, in the unit of the recordings; for an i16 model only.
    /// `None` takes the full scale of the domain, or else twice the largest sample.
    pub full_scale: Option<f64>,
    /// When findings become an alarm.
    pub alarm: AlarmSettings,
    /// How severity is measured; for an f32 model only. `None` measures no severity.
    pub severity: Option<SeveritySettings>,
    /// Parts of the recordings to adapt to; `None` takes all.
    pub parts: Option<Vec<Part>>,
}

impl Default for BuildSettings {
    fn default() -> Self {
        Self {
            adapt: AdaptSettings::default(),
            encoding: Encoding::F32,
            full_scale: None,
            alarm: AlarmSettings::default(),
            severity: None,
            parts: None,
        }
    }
}

impl BuildSettings {
    /// Refuses settings that contradict one another, before the long work.
    pub fn check(&self) -> Result<()> {
        if self.full_scale.is_some() && self.encoding == Encoding::F32 {
            bail!("`full_scale` is for 16-bit counts: give `encoding` i16 too, or leave it out");
        }
        if self.severity.is_some() && self.encoding == Encoding::I16 {
            bail!("`severity` needs floats on the device: leave it out, or take `encoding` f32");
        }
        self.adapt.check()?;
        self.alarm.parameters().map(drop)
    }

    /// The settings of the adaptation, with a gate for the alarm that the model will have.
    fn adaptation(&self) -> AdaptSettings {
        let AlarmSettings { average, raise, .. } = self.alarm;
        let false_alarms = FalseAlarms { average, raise, ..self.adapt.false_alarms };
        AdaptSettings { false_alarms, ..self.adapt.clone() }
    }
}

/// A finished model, and what it was made from.
#[derive(Debug)]
pub struct Built {
    /// The library, with its bands at the target's sample rate.
    pub library: Library,
    /// The target, with its recordings as the device sees them.
    pub target: Target,
    /// The parts of the recordings that the model was adapted to.
    pub parts: Vec<Part>,
    /// The target's features, a hop apart: of its recordings, then of its snapshots. The model may
    /// be fitted to windows that lie closer.
    pub features: Features,
    /// The result of the adaptation.
    pub adaptation: Adaptation,
    /// The model file, with all its sections.
    pub model: DeployedModel,
    /// The drift reference in it, or why there is none.
    pub drift: Result<DriftContents, NoDriftReference>,
    /// The recordings in counts, of an i16 model.
    pub in_counts: Option<InCounts>,
    /// The loss of the i16 model against the f32 model.
    pub loss: Option<Loss>,
}

/// Adapts `library` to `target` and makes the model file of the result.
///
/// Writes no file. An i16 model is compared with the f32 model on the recordings, and refused if
/// too few windows get the same label.
pub fn build(library: Library, mut target: Target, settings: &BuildSettings) -> Result<Built> {
    settings.check()?;
    target.check_units(&library)?;
    // An i16 model is fitted to what its device will see: the recordings in counts.
    let in_counts = match settings.encoding {
        Encoding::F32 => None,
        Encoding::I16 => Some(InCounts::new(&mut target.domain, settings.full_scale)?),
    };
    let (rate_hz, fitted_hz) = (target.domain.rate_hz, library.first().front_end.rate_hz);
    let names = library.domains().join(", ");
    let library = library.at_rate(rate_hz).with_context(|| {
        let Target { place, .. } = &target;
        format!("{place} is sampled at {rate_hz} Hz, the source {names} at {fitted_hz} Hz")
    })?;
    let front_end = &library.first().front_end;
    for snapshot in &target.snapshots {
        snapshot.check(front_end)?;
    }
    let unit = target.domain.unit.as_ref();
    let severity = settings.severity.as_ref();
    let severity = severity.map(|s| s.parameters(front_end, unit)).transpose()?;

    let Target { domain, snapshots, .. } = &target;
    let recordings = domain.recordings.len();
    let parts = settings.parts.clone().unwrap_or_else(|| domain.whole());
    // Short recordings give more windows to fit on than the device will see.
    let stride = stride_for(&parts, front_end);
    let dense = extract_dense(&domain.recordings, &parts, front_end, stride)?;
    let dense = with_snapshots(dense, recordings, snapshots);
    let adaptation = verdict::adapt(&library, &dense, &settings.adaptation())?;
    let hash = fitted_from(&library, domain, snapshots)?;
    let model = adaptation.model(&domain.name, hash)?;
    let drift = drift::reference(&model.model(), &adaptation.held_out, &dense, recordings);
    let features = at_hop(dense, &parts, front_end);
    let (model, loss) = match &in_counts {
        None => (DeployedModel::F32(model), None),
        Some(in_counts) => {
            let (integer, loss) =
                in_counts.quantise(&model, front_end, &target, &parts, &features)?;
            (DeployedModel::I16(integer), Some(loss))
        }
    };
    let alarm = settings.alarm.for_model(&model, &domain.recordings)?;
    let changed = Some(&alarm).filter(|alarm| **alarm != AlarmParameters::DEFAULT);
    // The device's default parameters need no section.
    let mut sections: Vec<Payload> = changed.map(alarm_section).into_iter().collect();
    sections.extend(severity.as_ref().map(severity_section));
    sections.extend(drift.as_ref().ok().map(drift_section));
    sections.push(verdict_section(&adaptation.verdict_contents()));
    sections.extend(domain.unit.as_ref().map(|unit| unit_section(unit, domain.full_scale)));
    let model = model.with_sections(&sections)?;
    Ok(Built { library, target, parts, features, adaptation, model, drift, in_counts, loss })
}

//! The source: labelled recordings of a known machine, fitted in full precision. A [`library`] holds
//! several of them.

use anyhow::{Context, Result, bail};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

use crate::data::domain::{Domain, healthy_class};
use crate::data::units::Unit;
use crate::features::dense::overlap;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::features::standardise::{standardisation, standardised};
use crate::files::hex;
use crate::mixture::{
    ComponentCount, EmSettings, InvalidMixture, LabelledMixture, Mixture, fit_conditional,
};
use crate::model::encoded::ModelBytes;
use crate::model::file::{self, ModelContents};

mod known;
pub mod library;
mod library_file;
mod parts;
pub mod unknown;

pub use known::LabelledFeatures;
pub use parts::Parts;
use unknown::Calibration;

/// Version of the JSON layout that `rebearing fit` writes.
pub(crate) const VERSION: u32 = 1;

/// A labelled mixture with everything needed to apply it to other recordings.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Source {
    /// Version of this layout.
    pub version: u32,
    /// The tool that wrote it.
    pub tool: String,
    /// The domain it was fitted on.
    pub domain: String,
    /// Class names, in the order of the label table's columns.
    pub classes: Vec<String>,
    /// Index of the class for a healthy machine.
    pub healthy: Option<usize>,
    /// Settings that turn samples into features.
    pub front_end: FrontEndSettings,
    /// Subtracted from each feature.
    pub shift: Vec<f32>,
    /// Multiplied with each feature after the shift.
    pub scale: Vec<f32>,
    /// Mixture over the standardised features.
    pub mixture: LabelledMixture,
    /// Windows with a lower log-likelihood count as unlike the source.
    pub log_likelihood_min: Option<f64>,
    /// Number of windows of each class.
    pub windows: Vec<usize>,
    /// SHA-256 of the recordings and labels, in hexadecimal.
    pub hash: String,
    /// Unit of the recordings, if the manifest gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unit: Option<Unit>,
    /// The sensor's largest value in this unit, if the manifest gave one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub full_scale: Option<f64>,
}

/// Settings for fitting a source.
#[derive(Debug, Clone)]
pub struct SourceSettings {
    /// Components per class.
    pub components: usize,
    /// Added to every variance of a component, in standardised units.
    pub variance_floor: f64,
    /// Number of starts of each EM.
    pub restarts: usize,
    /// Seed of the starts.
    pub seed: u64,
    /// Name of the healthy class; guessed from the labels if absent.
    pub healthy: Option<String>,
}

impl Default for SourceSettings {
    fn default() -> Self {
        Self { components: 2, variance_floor: 0.01, restarts: 4, seed: 0, healthy: None }
    }
}

impl SourceSettings {
    /// Settings of one EM with `components` components.
    pub fn em(&self, components: usize) -> EmSettings {
        EmSettings {
            variance_floor: self.variance_floor,
            restarts: self.restarts,
            seed: self.seed,
            ..EmSettings::new(components)
        }
    }
}

impl Source {
    /// Fits one mixture per class to the labelled recordings of `domain`.
    pub fn fit(
        domain: &Domain,
        front_end: &FrontEndSettings,
        settings: &SourceSettings,
    ) -> Result<Self> {
        Self::fit_features(&LabelledFeatures::extract(domain, front_end)?, settings)
    }

    /// Fits one mixture per class to labelled features.
    pub fn fit_features(known: &LabelledFeatures, settings: &SourceSettings) -> Result<Self> {
        let LabelledFeatures { domain, classes, features, labels, hash, .. } = known;
        if classes.len() < 2 {
            bail!(
                "domain {domain}: all recordings have the label {}; a source needs at least two classes",
                classes.join("")
            );
        }
        let (shift, scale) = standardisation(&features.x);
        let x = standardised(&features.x, &shift, &scale);

        let fit = |x: &Array2<f32>, labels: &[usize]| -> Result<LabelledMixture> {
            let count = ComponentCount::PerClass(settings.components);
            let em = settings.em(settings.components);
            Ok(fit_conditional(x.view(), labels, classes, None, &count, &em, &|_| ())?.mixture)
        };
        let calibration = calibration(features, &known.front_end);
        let labels_of = |rows: &[usize]| rows.iter().map(|row| labels[*row]).collect::<Vec<_>>();
        let calibrated = fit(&calibration.fit_rows(&x), &labels_of(&calibration.fit))?;
        let log_likelihood_min = held_out_threshold(&calibrated.mixture, &x, &calibration)?;

        let mixture = fit(&x, labels)?;
        let windows = (0..classes.len())
            .map(|class| labels.iter().filter(|label| **label == class).count())
            .collect();
        Ok(Self {
            version: VERSION,
            tool: concat!("rebearing ", env!("CARGO_PKG_VERSION")).into(),
            domain: domain.clone(),
            healthy: healthy_class(classes, settings.healthy.as_deref())?,
            classes: classes.clone(),
            front_end: known.front_end.clone(),
            shift,
            scale,
            mixture,
            log_likelihood_min,
            windows,
            hash: hex(hash),
            unit: known.unit.clone(),
            full_scale: known.full_scale,
        })
    }

    /// Standardises features with this source's constants, using the device's own operations.
    pub fn standardise(&self, x: &Array2<f32>) -> Array2<f32> {
        standardised(x, &self.shift, &self.scale)
    }

    /// The model of the source alone, without adaptation to a target.
    ///
    /// With `with_unknown`, windows unlike the source are unknown. Without it, every window gets
    /// the nearest class, even if it is far away.
    pub fn model(&self, with_unknown: bool) -> Result<ModelBytes> {
        Ok(file::encode(&ModelContents {
            front_end: &self.front_end,
            shift: &self.shift,
            scale: &self.scale,
            mixture: Some(&self.mixture),
            gate: None,
            class_names: &self.classes,
            healthy: self.healthy,
            log_likelihood_min: self.log_likelihood_min.filter(|_| with_unknown),
            source: &self.domain,
            target: &self.domain,
            hash: self.hash_bytes()?,
        })?)
    }

    /// The hash as bytes.
    pub fn hash_bytes(&self) -> Result<[u8; 32]> {
        let byte = |i: usize| u8::from_str_radix(self.hash.get(2 * i..2 * i + 2)?, 16).ok();
        let bytes: Option<Vec<u8>> = (0..self.hash.len().div_ceil(2)).map(byte).collect();
        bytes.and_then(|bytes| bytes.try_into().ok()).context("the source's hash is damaged")
    }

    /// Checks that the parts of a source agree.
    ///
    /// The device's reader checks shapes and ranges, so a source that it accepts is valid.
    pub(crate) fn check(&self) -> Result<()> {
        let dims = self.front_end.dims();
        let (components, classes) = self.mixture.labels.dim();
        let mixture = &self.mixture.mixture;
        mixture.validate()?;
        let healthy = self.healthy.is_none_or(|class| class < classes);
        if mixture.means.dim() != (components, dims)
            || self.classes.len() != classes
            || !healthy
            || [self.shift.len(), self.scale.len()] != [dims, dims]
        {
            bail!("its tables do not have the sizes of its front end and classes");
        }
        self.model(true).map(drop)
    }
}

/// The split of windows for calibrating a threshold.
pub fn calibration(features: &Features, front_end: &FrontEndSettings) -> Calibration {
    Calibration::new(features, overlap(front_end, features.stride))
}

/// The log-likelihood threshold of a mixture that was fitted on the calibration's first part.
pub fn held_out_threshold(
    mixture: &Mixture,
    x: &Array2<f32>,
    calibration: &Calibration,
) -> Result<Option<f64>, InvalidMixture> {
    let scores = |rows: Array2<f32>| mixture.log_likelihoods(rows.view());
    Ok(unknown::threshold(
        &scores(calibration.fit_rows(x))?.to_vec(),
        &scores(calibration.held_out_rows(x))?.to_vec(),
    ))
}

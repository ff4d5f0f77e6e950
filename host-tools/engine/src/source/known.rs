//! Labelled features of one known machine, which a source is fitted on.

use anyhow::Result;

use crate::data::domain::Domain;
use crate::data::units::Unit;
use crate::features::extract::{Features, extract};
use crate::features::front_end::FrontEndSettings;

/// Labelled features of one domain.
#[derive(Debug, Clone)]
pub struct LabelledFeatures {
    /// Name of the domain.
    pub domain: String,
    /// Class names.
    pub classes: Vec<String>,
    /// Settings that turned samples into features.
    pub front_end: FrontEndSettings,
    /// Features, not standardised.
    pub features: Features,
    /// Class of each window.
    pub labels: Vec<usize>,
    /// SHA-256 of the recordings and labels.
    pub hash: [u8; 32],
    /// Unit of the recordings, if the manifest gave one.
    pub unit: Option<Unit>,
    /// The sensor's largest value in this unit, if the manifest gave one.
    pub full_scale: Option<f64>,
}

impl LabelledFeatures {
    /// Extracts the features of every recording of `domain`. Each recording needs a label.
    pub fn extract(domain: &Domain, front_end: &FrontEndSettings) -> Result<Self> {
        let (classes, class_of_recording) = domain.classes()?;
        let features = extract(&domain.recordings, &domain.whole(), front_end)?;
        let labels = features.recording.iter().map(|index| class_of_recording[*index]).collect();
        Ok(Self {
            domain: domain.name.clone(),
            classes,
            front_end: front_end.clone(),
            features,
            labels,
            hash: domain.hash(true)?,
            unit: domain.unit.clone(),
            full_scale: domain.full_scale,
        })
    }

    /// The windows of these classes alone, with the classes in this order.
    #[must_use]
    pub fn of_classes(&self, classes: &[String]) -> Self {
        if self.classes == classes {
            return self.clone();
        }
        let place: Vec<Option<usize>> = self
            .classes
            .iter()
            .map(|own| classes.iter().position(|wanted| wanted == own))
            .collect();
        let windows = self.labels.iter().enumerate();
        let (rows, labels): (Vec<usize>, Vec<usize>) =
            windows.filter_map(|(row, label)| Some((row, place[*label]?))).unzip();
        Self {
            classes: classes.to_vec(),
            features: self.features.select(&rows),
            labels,
            ..self.clone()
        }
    }
}

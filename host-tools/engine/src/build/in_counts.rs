//! Recordings in counts, and the i16 form of a model that was fitted to them.

use anyhow::{Context, Result, anyhow, bail};

use super::Target;
use crate::data::counts::{self, Counts, FULL_SCALE_COUNTS};
use crate::data::domain::Domain;
use crate::data::split::Part;
use crate::features::extract::Features;
use crate::features::front_end::FrontEndSettings;
use crate::model::encoded::IntegerModelBytes;
use crate::model::encoded::ModelBytes;
use crate::model::integer_file::encode_integer;
use crate::model::loss::{self, AGREEMENT_MIN, Loss};
use crate::model::quantise::quantise;
use crate::words::plural;

/// A target's recordings in counts.
#[derive(Debug, Clone)]
pub struct InCounts {
    /// The counts of each recording.
    pub counts: Vec<Counts>,
    /// Number of counts in one unit of the recordings.
    pub counts_per_unit: f32,
}

impl InCounts {
    /// Rounds the recordings of `target` to counts, and puts the rounded samples back into
    /// `target`.
    pub(super) fn new(target: &mut Domain, full_scale: Option<f64>) -> Result<Self> {
        if target.recordings.is_empty() && full_scale.is_none() {
            bail!(
                "snapshots hold no samples to choose a full scale from: give `full_scale`, the \
                 one that `rebearing inspect` prints for the model on the device"
            );
        }
        let full_scale = match full_scale.or(target.full_scale) {
            Some(full_scale) => Some(full_scale),
            None => counts::full_scale(&target.recordings)?,
        };
        let full_scale =
            full_scale.with_context(|| format!("domain {}: every sample is zero", target.name))?;
        let counts_per_unit = (FULL_SCALE_COUNTS / full_scale) as f32;
        if !(full_scale > 0.0 && counts_per_unit.is_normal()) {
            bail!("`full_scale` {full_scale}: give a positive number, in the recordings' unit");
        }
        let counts = target
            .recordings
            .iter()
            .map(|recording| counts::counts(recording, counts_per_unit))
            .collect::<Result<Vec<_>, _>>()?;
        for (recording, counts) in target.recordings.iter_mut().zip(&counts) {
            *recording = counts::rounded(recording, counts, counts_per_unit);
        }
        Ok(Self { counts, counts_per_unit })
    }

    /// Returns the i16 form of a model, and its loss on the recordings that the model was fitted
    /// from.
    pub(super) fn quantise(
        &self,
        model: &ModelBytes,
        front_end: &FrontEndSettings,
        target: &Target,
        parts: &[Part],
        features: &Features,
    ) -> Result<(IntegerModelBytes, Loss)> {
        let model = model.model();
        let integer = encode_integer(&model, &quantise(&model, self.counts_per_unit)?)?;
        let view = integer.model();
        let Target { domain, snapshots, .. } = target;
        let loss = loss::loss(&model, &view, features, &self.counts, parts, front_end, snapshots)
            .map_err(|fault| {
            anyhow!("domain {}: in counts, {fault}; give a smaller `full_scale`", domain.name)
        })?;
        if loss.label_agreement < AGREEMENT_MIN {
            bail!(
                "{}; below {:.0} % it is not the same model any more, so no model was written: fit \
                 with a larger `variance_floor`, or keep `encoding` f32",
                loss_line(&loss),
                100.0 * AGREEMENT_MIN
            );
        }
        Ok((integer, loss))
    }

    /// The largest sample that the counts can hold, in the unit of the recordings.
    pub fn full_scale(&self) -> f64 {
        FULL_SCALE_COUNTS / f64::from(self.counts_per_unit)
    }
}

/// The loss of an i16 model in words.
pub fn loss_line(loss: &Loss) -> String {
    format!(
        "i16: the same label as f32 in {:.2} % of {}, log-likelihoods off by {:.3} nats rms, \
         {:.3} at most",
        100.0 * loss.label_agreement,
        plural(loss.windows, "window", "windows"),
        loss.score_error_rms,
        loss.score_error_max
    )
}

//! Checks labels against envelope spectra.

use rebearing_host::data::bearing::Bearing;
use rebearing_host::data::domain::Domain;
use rebearing_host::evidence::Checked;
use rebearing_host::features::extract::Features;
use rebearing_host::model::deployed::{ClassNames as _, DeployedModel};
use rebearing_host::progress;
use rebearing_host::report::Window;

use super::label::word;
use crate::progress::Step;

/// Returns the evidence of the envelope spectra for the labels that the model gives the recordings.
pub(crate) fn check_labels(
    model: &DeployedModel,
    target: &Domain,
    features: &Features,
    windows: &[Window],
    bearing: &Bearing,
) -> Vec<Checked> {
    let _step = Step::start("looking for the bearing's frequencies");
    progress::expect(target.recordings.len());
    let check = |(index, recording)| {
        let own = windows.iter().zip(&features.recording).filter(|(_, of)| **of == index);
        let labels: Vec<String> =
            own.map(|(window, _)| word(model, window.label).to_owned()).collect();
        let checked = Checked::new(recording, &labels, target.rate_hz, bearing);
        progress::done(1);
        checked
    };
    target.recordings.iter().enumerate().map(check).collect()
}

/// Returns the sentences about recordings whose label the bearing's frequencies contradict.
pub(crate) fn contradictions(checked: &[Checked], model: &DeployedModel) -> Vec<String> {
    let healthy = model.healthy().and_then(|class| model.class_name(class));
    checked.iter().filter_map(|one| one.contradiction(healthy)).collect()
}

//! A model from features that were computed elsewhere.

use anyhow::{Result, bail};
use rebearing::Encoding;
use rebearing::model::AlarmParameters;
use sha2::{Digest, Sha256};

use super::{BuildSettings, NoDriftReference, drift};
use crate::adapt::verdict::{self, Adaptation};
use crate::features::extract::Features;
use crate::model::bytes::Payload;
use crate::model::drift::DriftContents;
use crate::model::encoded::ModelBytes;
use crate::model::sections::{alarm_section, drift_section, verdict_section};
use crate::source::library::Library;

/// A finished model, and what it was made from.
#[derive(Debug)]
pub struct BuiltOfFeatures {
    /// The result of the adaptation.
    pub adaptation: Adaptation,
    /// The model file, with all its sections.
    pub model: ModelBytes,
    /// The drift reference in it, or why there is none.
    pub drift: Result<DriftContents, NoDriftReference>,
}

/// Adapts `library` to the features of a machine called `name`, and makes the model file.
///
/// The features are those of the library's front end, not standardised. The mixture and the labels
/// are those that [`build`](super::build) finds for the same windows. The model does not know the
/// unit of the samples, and cannot be in integers: both need the recordings.
pub fn build_of_features(
    library: &Library,
    name: &str,
    features: &Features,
    settings: &BuildSettings,
) -> Result<BuiltOfFeatures> {
    settings.check()?;
    if settings.encoding == Encoding::I16 || settings.severity.is_some() {
        bail!("`encoding` i16 and `severity` need the recordings, not their features");
    }
    let dims = library.first().front_end.dims();
    if features.x.ncols() != dims {
        bail!("the windows have {} features, the library has {dims}", features.x.ncols());
    }
    let adaptation = verdict::adapt(library, features, &settings.adaptation())?;
    let model = adaptation.model(name, hash(library, name, features)?)?;
    let recordings = features.recording.iter().max().map_or(0, |last| last + 1);
    let drift = drift::reference(&model.model(), &adaptation.held_out, features, recordings);
    let alarm = settings.alarm.parameters()?;
    // The device's default parameters need no section.
    let changed = (alarm != AlarmParameters::DEFAULT).then(|| alarm_section(&alarm));
    let mut sections: Vec<Payload> = changed.into_iter().collect();
    sections.extend(drift.as_ref().ok().map(drift_section));
    sections.push(verdict_section(&adaptation.verdict_contents()));
    let model = model.with_sections(&sections)?;
    Ok(BuiltOfFeatures { adaptation, model, drift })
}

/// SHA-256 over everything that the model is fitted from.
fn hash(library: &Library, name: &str, features: &Features) -> Result<[u8; 32]> {
    let mut hash = Sha256::new();
    hash.update(library.hash()?);
    hash.update(name.as_bytes());
    features.x.iter().for_each(|feature| hash.update(feature.to_le_bytes()));
    features.recording.iter().for_each(|index| hash.update((*index as u64).to_le_bytes()));
    Ok(hash.finalize().into())
}

#[cfg(test)]
mod tests {
    use super::super::{Target, build};
    use super::*;
    use crate::adapt::verdict::{AdaptSettings, Pool};
    use crate::data::domain::{Domain, Resample};
    use crate::data::manifest::Manifest;
    use crate::features::dense::{extract_dense, stride_for};
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::simulate::{SimulateSettings, simulate};
    use crate::source::{Source, SourceSettings};

    #[test]
    fn the_windows_of_recordings_give_the_mixture_of_the_recordings() {
        let folder = tempfile::tempdir().unwrap();
        let settings = SimulateSettings { seconds: 2.0, ..SimulateSettings::default() };
        let simulated = simulate(&settings, folder.path(), &|_, _| ()).unwrap();
        let manifest = Manifest::read(&simulated.manifest).unwrap();
        let known = Domain::read(&manifest, "motor-a").unwrap();
        let front_end =
            FrontEndSettings::equal_bands(EqualBands::usual(known.rate_hz, known.axes)).unwrap();
        let source = Source::fit(&known, &front_end, &SourceSettings::default()).unwrap();
        let library = Library::from(source);
        let adapt = AdaptSettings { pool_is: Pool::All, ..AdaptSettings::default() };
        let settings = BuildSettings { adapt, ..BuildSettings::default() };
        let target = Target::read(&manifest, "motor-b", Vec::new(), Resample::No).unwrap();

        let domain = &target.domain;
        let parts = domain.whole();
        let stride = stride_for(&parts, &front_end);
        let windows = extract_dense(&domain.recordings, &parts, &front_end, stride).unwrap();
        let own = build_of_features(&library, "motor-b", &windows, &settings).unwrap();
        let whole = build(library.clone(), target, &settings).unwrap();
        assert_eq!(own.adaptation.verdict, whole.adaptation.verdict);
        assert_eq!(own.adaptation.mixture, whole.adaptation.mixture);
        assert_eq!(own.drift.is_ok(), whole.drift.is_ok());
        // Only the hash differs.
        assert_eq!(own.model.bytes().len(), whole.model.bytes().len());
        let cut = Features { x: windows.x.slice(ndarray::s![.., 1..]).to_owned(), ..windows };
        assert!(build_of_features(&library, "motor-b", &cut, &settings).is_err());
        let counts = BuildSettings { encoding: Encoding::I16, ..settings };
        assert!(build_of_features(&library, "motor-b", &cut, &counts).is_err());
    }
}

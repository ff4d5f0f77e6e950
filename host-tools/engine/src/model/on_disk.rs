//! Model files, signed or not: the one place that reads them.

use std::path::Path;

use rebearing::update::envelope::{ENVELOPE_LEN, MAGIC};
use rebearing::update::{DeviceId, Envelope};
use thiserror::Error;

use crate::files::input;
use crate::model::deployed::DeployedModel;
use crate::model::file::ModelFileError;

/// A model file: a checked model, and the envelope that follows it if somebody signed it.
#[derive(Debug, Clone)]
pub struct ModelFile {
    /// The model.
    pub model: DeployedModel,
    /// The envelope. It is this model's, but nothing says that its signature holds.
    envelope: Option<[u8; ENVELOPE_LEN]>,
}

/// The fault of an envelope behind a valid model.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum EnvelopeError {
    /// It is cut short, damaged, or followed by something.
    #[error(
        "the envelope behind the model is damaged; copy the file again, or sign the model again"
    )]
    Damaged,
    /// It was made for another model.
    #[error("the envelope belongs to another model; sign this one with `rebearing sign`")]
    OtherModel,
}

impl ModelFile {
    /// Reads and checks a model file of either encoding.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let name = || path.display().to_string();
        let bytes = input::read_whole(path, input::MOST_MODEL)
            .map_err(|reason| ModelFileError::Unreadable { path: name(), reason })?;
        Self::from_bytes(&bytes, path)
    }

    /// Checks the bytes of the model file `path`.
    pub fn from_bytes(bytes: &[u8], path: &Path) -> Result<Self, ModelFileError> {
        let name = || path.display().to_string();
        let (model, envelope) = split(bytes);
        let model = DeployedModel::from_bytes(model)
            .map_err(|reason| ModelFileError::Invalid { path: name(), reason })?;
        if let Some(text) = model.names().into_iter().find(|text| text.contains(['\n', '\r'])) {
            return Err(ModelFileError::LineBreak { path: name(), name: text.into() });
        }
        Self::new(model, envelope)
            .map_err(|reason| ModelFileError::Envelope { path: name(), reason })
    }

    fn new(model: DeployedModel, envelope: &[u8]) -> Result<Self, EnvelopeError> {
        if envelope.is_empty() {
            return Ok(Self { model, envelope: None });
        }
        let envelope =
            *<&[u8; ENVELOPE_LEN]>::try_from(envelope).map_err(|_| EnvelopeError::Damaged)?;
        let (read, _) = Envelope::from_bytes(&envelope).ok_or(EnvelopeError::Damaged)?;
        if envelope_of(&model, read.key_id, read.counter, read.device) != read {
            return Err(EnvelopeError::OtherModel);
        }
        Ok(Self { model, envelope: Some(envelope) })
    }

    /// The envelope and its signature, which was not checked; `None` without an envelope.
    pub fn envelope(&self) -> Option<(Envelope, &[u8; 64])> {
        self.envelope.as_ref().and_then(Envelope::from_bytes)
    }

    /// The bytes of the file: the model, then the envelope.
    pub fn bytes(&self) -> Vec<u8> {
        let envelope = self.envelope.as_ref().map_or(&[][..], |envelope| envelope);
        [self.model.bytes(), envelope].concat()
    }
}

/// The envelope of a model of either encoding.
pub fn envelope_of(model: &DeployedModel, key_id: u32, counter: u32, device: DeviceId) -> Envelope {
    match model {
        DeployedModel::F32(bytes) => Envelope::of_model(&bytes.model(), key_id, counter, device),
        DeployedModel::I16(bytes) => Envelope::of_model(&bytes.model(), key_id, counter, device),
    }
}

/// Splits a file into its model and its envelope. All of it is the model if no envelope follows, so
/// that the device's reader says what is wrong with it.
fn split(bytes: &[u8]) -> (&[u8], &[u8]) {
    let model = Envelope::split(bytes).map_or(bytes, |(model, _)| model);
    let envelope = bytes.get(model.len()..).unwrap_or_default();
    if envelope.starts_with(&MAGIC) { (model, envelope) } else { (bytes, &[]) }
}

//! The file that a device receives: a model and its envelope.

use std::path::Path;

use rebearing::update::envelope::{ENVELOPE_LEN, SIGNATURE_LEN, UNSIGNED};
use rebearing::update::{DeviceId, Envelope};

use crate::model::deployed::DeployedModel;
use crate::model::file::ModelFileError;
use crate::model::on_disk::{ModelFile, envelope_of};

/// A model file with its envelope. A plain model gets one that says that nobody signed it.
///
/// Whether a signature holds, the device says.
#[derive(Debug, Clone)]
pub struct SignedFile {
    model: DeployedModel,
    envelope: Envelope,
    signature: [u8; SIGNATURE_LEN],
}

impl From<ModelFile> for SignedFile {
    fn from(file: ModelFile) -> Self {
        let found = file.envelope().map(|(envelope, signature)| (envelope, *signature));
        let model = file.model;
        let (envelope, signature) = found.unwrap_or_else(|| {
            (envelope_of(&model, UNSIGNED, 1, DeviceId::ANY), [0; SIGNATURE_LEN])
        });
        Self { model, envelope, signature }
    }
}

impl SignedFile {
    /// Reads a signed or plain model file.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        ModelFile::read(path).map(Self::from)
    }

    /// The envelope.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Returns true if somebody signed it.
    pub fn is_signed(&self) -> bool {
        self.envelope.key_id != UNSIGNED
    }

    /// The model.
    pub fn model(&self) -> &DeployedModel {
        &self.model
    }

    /// The file with this counter, if nobody signed it. The counter of a signed one is signed too.
    #[must_use]
    pub fn with_counter(mut self, counter: u32) -> Self {
        if !self.is_signed() {
            self.envelope.counter = counter;
        }
        self
    }

    /// The bytes of the envelope.
    pub fn envelope_bytes(&self) -> [u8; ENVELOPE_LEN] {
        self.envelope.to_bytes(&self.signature)
    }

    /// The bytes that the device receives: model file and envelope.
    pub fn bytes(&self) -> Vec<u8> {
        [self.model.bytes(), &self.envelope_bytes()].concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &[u8] = include_bytes!("../../../../../tests/golden/model-v1.rbm");

    fn read(bytes: &[u8]) -> SignedFile {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        SignedFile::read(file.path()).unwrap()
    }

    #[test]
    fn a_plain_model_gets_an_envelope_that_says_so() {
        let file = read(GOLDEN).with_counter(7);
        assert!(!file.is_signed());
        assert_eq!((file.model().bytes(), file.envelope().counter), (GOLDEN, 7));
        let sent = file.bytes();
        assert_eq!(sent[..GOLDEN.len()], *GOLDEN);
        assert_eq!(read(&sent).bytes(), sent, "it is read as it was written");
    }

    #[test]
    fn a_signed_model_is_sent_as_it_is() {
        let envelope = Envelope { key_id: 9, counter: 4, ..*read(GOLDEN).envelope() };
        let bytes = [GOLDEN, &envelope.to_bytes(&[5; SIGNATURE_LEN])].concat();
        let file = read(&bytes).with_counter(7);
        assert!(file.is_signed());
        assert_eq!((file.bytes(), file.envelope().counter), (bytes, 4));
    }
}

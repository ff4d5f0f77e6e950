//! A model file to send: signed, or with an envelope that says that nobody signed it.

use std::path::{Path, PathBuf};

use rebearing::model::{AnyModel, Body};
use rebearing::update::envelope::{ENVELOPE_LEN, SIGNATURE_LEN, UNSIGNED};
use rebearing::update::{DeviceId, Envelope};
use rebearing::{Encoding, ModelError};
use thiserror::Error;
use zerocopy::IntoBytes as _;

use crate::model::bytes::aligned;
use crate::model::encoded::{IntegerModelBytes, ModelBytes};

/// The reason why a file cannot be sent.
#[derive(Debug, Error)]
pub enum SignedFileError {
    /// The file cannot be read.
    #[error("{}: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: std::io::Error,
    },
    /// The file does not begin with a model.
    #[error("{}: is no model file: {reason}", path.display())]
    NoModel {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: ModelError,
    },
    /// Something that is no envelope follows the model.
    #[error(
        "{}: {extra} bytes after the model are no envelope, or one of another version; sign the \
         model again", path.display()
    )]
    NoEnvelope {
        /// The file.
        path: PathBuf,
        /// Number of the bytes.
        extra: usize,
    },
    /// The envelope is that of another model.
    #[error("{}: the envelope is not that of the model; sign the model again", path.display())]
    OtherModel {
        /// The file.
        path: PathBuf,
    },
}

/// A checked model file, with its envelope if it is signed. Whether the signature holds, the device
/// says.
#[derive(Debug, Clone, PartialEq)]
pub struct SignedFile {
    model: Vec<u8>,
    /// The envelope; for a plain model the one that is sent with it, without a counter.
    envelope: Envelope,
    signature: [u8; SIGNATURE_LEN],
    target: String,
}

impl SignedFile {
    /// Reads a signed or plain model file.
    pub fn read(path: &Path) -> Result<Self, SignedFileError> {
        let path = path.to_path_buf();
        match std::fs::read(&path) {
            Ok(bytes) => Self::from_bytes(&bytes, path),
            Err(reason) => Err(SignedFileError::Unreadable { path, reason }),
        }
    }

    /// Checks the bytes of a file; `path` is for messages.
    pub fn from_bytes(bytes: &[u8], path: PathBuf) -> Result<Self, SignedFileError> {
        let (model, found) = Envelope::split(bytes).unwrap_or((bytes, None));
        let (plain, target) = match plain(model) {
            Ok(plain) => plain,
            Err(reason) => return Err(SignedFileError::NoModel { path, reason }),
        };
        let extra = bytes.len() - model.len();
        let Some(found) = found.filter(|_| extra == ENVELOPE_LEN) else {
            if extra > 0 {
                return Err(SignedFileError::NoEnvelope { path, extra });
            }
            let model = model.to_vec();
            return Ok(Self { model, envelope: plain, signature: [0; SIGNATURE_LEN], target });
        };
        let Some((envelope, signature)) = Envelope::from_bytes(found) else {
            return Err(SignedFileError::NoEnvelope { path, extra });
        };
        let Envelope { key_id, counter, device, .. } = envelope;
        if envelope != (Envelope { key_id, counter, device, ..plain }) {
            return Err(SignedFileError::OtherModel { path });
        }
        Ok(Self { model: model.to_vec(), envelope, signature: *signature, target })
    }

    /// The envelope.
    pub fn envelope(&self) -> &Envelope {
        &self.envelope
    }

    /// Returns true if somebody signed it.
    pub fn is_signed(&self) -> bool {
        self.envelope.key_id != UNSIGNED
    }

    /// The machine that the model is for.
    pub fn target(&self) -> &str {
        &self.target
    }

    /// Bytes of the model file.
    pub fn model_len(&self) -> usize {
        self.model.len()
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

    /// The bytes to send: model file and envelope.
    pub fn bytes(&self) -> Vec<u8> {
        [&self.model[..], &self.envelope_bytes()].concat()
    }
}

/// The envelope of a model that nobody signed, and its target's name.
fn plain(bytes: &[u8]) -> Result<(Envelope, String), ModelError> {
    fn of<'m, B: Body<'m>>(model: &AnyModel<'m, B>) -> (Envelope, String) {
        let target = model.provenance().target.to_owned();
        (Envelope::of_model(model, UNSIGNED, 1, DeviceId::ANY), target)
    }
    let words = aligned(bytes);
    match Encoding::of(words.as_bytes().get(..bytes.len()).unwrap_or_default())? {
        Encoding::F32 => Ok(of(&ModelBytes::from_bytes(bytes)?.model())),
        Encoding::I16 => Ok(of(&IntegerModelBytes::from_bytes(bytes)?.model())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOLDEN: &[u8] = include_bytes!("../../../../../tests/golden/model-v1.rbm");
    const INTEGER: &[u8] = include_bytes!("../../../../../tests/golden/model-v1-i16.rbm");

    fn read(bytes: &[u8]) -> Result<SignedFile, String> {
        SignedFile::from_bytes(bytes, "m.rbm".into()).map_err(|error| error.to_string())
    }

    #[test]
    fn a_plain_model_gets_an_envelope_that_says_so() {
        for model in [GOLDEN, INTEGER] {
            let file = read(model).unwrap().with_counter(7);
            assert!(!file.is_signed());
            assert_eq!((file.model_len(), file.envelope().counter), (model.len(), 7));
            let sent = file.bytes();
            assert_eq!(sent[..model.len()], *model);
            assert_eq!(read(&sent).unwrap(), file, "it is read as it was written");
        }
    }

    #[test]
    fn a_signed_model_is_sent_as_it_is() {
        let envelope = Envelope { key_id: 9, counter: 4, ..*read(GOLDEN).unwrap().envelope() };
        let bytes = [GOLDEN, &envelope.to_bytes(&[5; SIGNATURE_LEN])].concat();
        let file = read(&bytes).unwrap().with_counter(7);
        assert!(file.is_signed());
        assert_eq!((file.bytes(), file.envelope().counter), (bytes, 4));
    }

    #[test]
    fn other_files_are_refused() {
        let refused = |bytes: &[u8], part: &str| {
            let error = read(bytes).unwrap_err();
            assert!(error.starts_with("m.rbm: ") && error.contains(part), "{error}");
        };
        refused(b"", "no model");
        refused(&GOLDEN[..40], "no model");
        refused(&[GOLDEN, b"more"].concat(), "4 bytes after the model");
        let other = read(INTEGER).unwrap().envelope_bytes();
        refused(&[GOLDEN, &other].concat(), "not that of the model");
        let mut damaged = read(GOLDEN).unwrap().bytes();
        damaged[GOLDEN.len() + 56] = 1;
        refused(&damaged, "no envelope");
        damaged.truncate(GOLDEN.len() + 100);
        refused(&damaged, "100 bytes");
    }
}

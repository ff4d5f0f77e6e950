//! Signs a model, and verifies a signed one with the device's own code.

use rebearing::update::envelope::DOMAIN;
use rebearing::update::{DeviceId, Envelope, SignatureCheck as _, Verifier as _};
use rebearing_verify::{Ed25519Keys, PublicKey};
use thiserror::Error;

use super::signer::{Signer, SignerError};
use crate::model::deployed::DeployedModel;
use crate::model::on_disk::{ModelFile, envelope_of};

/// Why a model was not signed.
#[derive(Debug, Error)]
pub enum SignError {
    /// The counter is zero.
    #[error("`counter` starts at 1, and each new model for a device has a larger one")]
    NoCounter,
    /// The signer gave no signature.
    #[error(transparent)]
    Signer(#[from] SignerError),
    /// The signature does not hold for the public key.
    #[error(
        "the signature does not hold for the public key; give the `public` key of whoever signs, and \
         see that the `signer` command signs its whole input with plain Ed25519; nothing was written"
    )]
    DoesNotHold,
}

/// Why a model file does not prove who signed it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum VerifyError {
    /// Nobody signed the model.
    #[error("the model is not signed; sign it with `rebearing sign`")]
    NotSigned,
    /// Another key signed the model, or says so.
    #[error("the model was signed with another key")]
    OtherKey,
    /// The signature does not hold.
    #[error("the signature does NOT hold: the model or its envelope was changed; do not use it")]
    DoesNotHold,
}

/// Returns the bytes of a signed model file: the model, then its envelope. The signature was
/// verified.
pub fn sign(
    model: &DeployedModel,
    signer: &Signer<'_>,
    counter: u32,
    device: DeviceId,
) -> Result<Vec<u8>, SignError> {
    if counter == 0 {
        return Err(SignError::NoCounter);
    }
    let public = signer.public();
    let envelope = envelope_of(model, public.id(), counter, device);
    let message = [&DOMAIN[..], &envelope.head(), model.bytes()].concat();
    let signature = signer.sign(&message)?;
    if !holds(&public, &envelope, &signature, model.bytes()) {
        return Err(SignError::DoesNotHold);
    }
    Ok([model.bytes(), &envelope.to_bytes(&signature)].concat())
}

/// Verifies that the owner of `key` signed the model. Returns its envelope.
pub fn verify(file: &ModelFile, key: &PublicKey) -> Result<Envelope, VerifyError> {
    let (envelope, signature) = file.envelope().ok_or(VerifyError::NotSigned)?;
    if envelope.key_id != key.id() {
        return Err(VerifyError::OtherKey);
    }
    if !holds(key, &envelope, signature, file.model.bytes()) {
        return Err(VerifyError::DoesNotHold);
    }
    Ok(envelope)
}

/// Checks a signature as a device does.
fn holds(key: &PublicKey, envelope: &Envelope, signature: &[u8; 64], model: &[u8]) -> bool {
    let keys = Ed25519Keys::one(*key);
    keys.start(envelope.key_id, signature).is_some_and(|mut check| {
        check.absorb(&DOMAIN);
        check.absorb(&envelope.head());
        check.absorb(model);
        check.holds()
    })
}

#[cfg(test)]
mod tests {
    use ndarray::array;

    use super::*;
    use crate::features::front_end::{EqualBands, FrontEndSettings};
    use crate::mixture::{Covariance, LabelledMixture, Mixture};
    use crate::model::file::{ModelContents, ModelFileError, encode};
    use crate::model::on_disk::EnvelopeError;
    use crate::signing::SigningKey;

    fn model(hash: u8) -> DeployedModel {
        let mixture = LabelledMixture {
            mixture: Mixture {
                weights: array![0.5, 0.5],
                means: array![[1.0, -1.0], [-1.0, 1.0]],
                covariance: Covariance::Diagonal(array![[0.1, 0.1], [0.1, 0.1]]),
            },
            labels: array![[1.0, 0.0], [0.0, 1.0]],
        };
        let bands =
            EqualBands { rate_hz: 8e3, axes: 1, fft_len: 256, hop: 128, segments: 2, bands: 2 };
        let contents = ModelContents {
            front_end: &FrontEndSettings::equal_bands(bands).unwrap(),
            shift: &[0.0, 0.0],
            scale: &[1.0, 1.0],
            mixture: Some(&mixture),
            gate: None,
            class_names: &["Healthy".into(), "Ball".into()],
            healthy: Some(0),
            log_likelihood_min: None,
            source: "motor-a",
            target: "motor-b",
            hash: [hash; 32],
        };
        DeployedModel::F32(encode(&contents).unwrap())
    }

    fn read(bytes: &[u8]) -> Result<ModelFile, ModelFileError> {
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), bytes).unwrap();
        ModelFile::read(file.path())
    }

    #[test]
    fn a_signed_model_is_verified_with_its_key_alone() {
        let (key, other) = (SigningKey::new().unwrap(), SigningKey::new().unwrap());
        let model = model(1);
        let signed = sign(&model, &Signer::Key(&key), 7, DeviceId([5; 16])).unwrap();
        let file = read(&signed).unwrap();
        assert_eq!(file.model.bytes(), model.bytes());
        assert_eq!(file.bytes(), signed);
        let envelope = verify(&file, &key.public()).unwrap();
        assert_eq!((envelope.counter, envelope.device), (7, DeviceId([5; 16])));
        assert_eq!(verify(&file, &other.public()), Err(VerifyError::OtherKey));
        let plain = read(model.bytes()).unwrap();
        assert_eq!(verify(&plain, &key.public()), Err(VerifyError::NotSigned));
        let error = sign(&model, &Signer::Key(&key), 0, DeviceId::ANY).unwrap_err();
        assert!(matches!(error, SignError::NoCounter));
    }

    #[test]
    fn no_bit_of_a_signed_file_can_change() {
        let key = SigningKey::new().unwrap();
        let signed = sign(&model(1), &Signer::Key(&key), 7, DeviceId::ANY).unwrap();
        for bit in 0..8 * signed.len() {
            let mut damaged = signed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            let verified = read(&damaged).map(|file| verify(&file, &key.public()));
            assert!(!matches!(verified, Ok(Ok(_))), "bit {bit}");
        }
        for length in 0..signed.len() {
            let verified = read(&signed[..length]).map(|file| verify(&file, &key.public()));
            assert!(!matches!(verified, Ok(Ok(_))), "cut at {length}");
        }
        let longer = read(&[&signed[..], &[0]].concat()).unwrap_err();
        let damaged = |error: &ModelFileError| {
            matches!(error, ModelFileError::Envelope { reason: EnvelopeError::Damaged, .. })
        };
        assert!(damaged(&longer), "{longer}");
    }

    #[test]
    fn an_envelope_of_another_model_is_refused_and_a_wrong_signature_found() {
        let key = SigningKey::new().unwrap();
        let (one, two) = (model(1), model(2));
        let signed = sign(&one, &Signer::Key(&key), 7, DeviceId::ANY).unwrap();
        let envelope = &signed[one.bytes().len()..];
        // The same shape, so that only the signature tells.
        let moved = read(&[two.bytes(), envelope].concat()).unwrap();
        assert_eq!(verify(&moved, &key.public()), Err(VerifyError::DoesNotHold));
        let shifted = two.with_sections(&[crate::model::sections::alarm_section(&two.alarm())]);
        let other = read(&[shifted.unwrap().bytes(), envelope].concat()).unwrap_err();
        assert!(other.to_string().contains("another model"), "{other}");
    }

    #[cfg(unix)]
    #[test]
    fn a_command_with_another_key_or_a_wrong_answer_signs_nothing() {
        let public = SigningKey::new().unwrap().public();
        let signer = Signer::Command { command: "head -c 64", public };
        let error = sign(&model(1), &signer, 7, DeviceId::ANY).unwrap_err();
        assert!(matches!(error, SignError::DoesNotHold), "{error}");
    }
}

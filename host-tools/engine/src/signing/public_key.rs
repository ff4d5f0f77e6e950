//! Files of public keys.

use std::path::Path;

pub use rebearing_verify::PublicKey;

use super::error::{KeyFileError, read_text};
use crate::files::hex;

/// Reads a file of a public key, and refuses a weak one.
pub fn read(path: &Path) -> Result<PublicKey, KeyFileError> {
    let key = PublicKey::from_text(&read_text(path)?);
    let key = key.and_then(|key| key.validate().map(|()| key));
    key.map_err(|reason| KeyFileError::NotThisKey { path: path.into(), reason })
}

/// The text of a public key's file.
pub(super) fn text(key: &PublicKey) -> String {
    format!("{} {} made by rebearing key new\n", PublicKey::WORD, hex(key.bytes()))
}

/// The id of a key as people compare it: the first eight digits in its file.
pub fn key_id_text(id: u32) -> String {
    hex(&id.to_le_bytes())
}

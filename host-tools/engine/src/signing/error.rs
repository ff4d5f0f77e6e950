//! The reason why a file of a key cannot be used.

use std::path::{Path, PathBuf};

use rebearing_verify::KeyError;
use thiserror::Error;

use crate::files::private::NewFileError;

/// Why the file of a key cannot be used or made. It never contains a key or a passphrase.
#[derive(Debug, Error)]
pub enum KeyFileError {
    /// The file cannot be read.
    #[error("{}: the key cannot be read: {reason}", path.display())]
    Unreadable {
        /// The file.
        path: PathBuf,
        /// The reason that the system gave.
        reason: std::io::Error,
    },
    /// The file does not hold the public key or snapshot key that it should.
    #[error("{}: {reason}", path.display())]
    NotThisKey {
        /// The file.
        path: PathBuf,
        /// The reason.
        reason: KeyError,
    },
    /// The file does not hold a private key.
    #[error(
        "{}: is no private key of this tool, or it is damaged; give the file that `rebearing key new` \
         wrote, without .pub", path.display()
    )]
    NotPrivate {
        /// The file.
        path: PathBuf,
    },
    /// The file was made by a newer version of the tool.
    #[error("{}: was made by a newer version; update the tool", path.display())]
    Newer {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase does not open the file.
    #[error("{}: the passphrase does not open it, or the file is damaged", path.display())]
    Passphrase {
        /// The file.
        path: PathBuf,
    },
    /// The passphrase is empty.
    #[error("the passphrase is empty; give one with at least one character, or make a key without")]
    NoPassphrase,
    /// The key derivation failed, for lack of memory.
    #[error("the passphrase cannot be turned into a key: not enough memory")]
    Memory,
    /// The operating system has no random bytes.
    #[error("the operating system gives no random bytes: {0}")]
    Random(getrandom::Error),
    /// The file cannot be made.
    #[error(transparent)]
    New(#[from] NewFileError),
}

/// Reads the text of a key file.
pub(super) fn read_text(path: &Path) -> Result<zeroize::Zeroizing<String>, KeyFileError> {
    let text = std::fs::read_to_string(path);
    let unreadable = |reason| KeyFileError::Unreadable { path: path.into(), reason };
    text.map(Into::into).map_err(unreadable)
}

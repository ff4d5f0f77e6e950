//! Files that are made once and never replaced: keys.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};
use thiserror::Error;

use super::output::{folder_of, temporary_beside};

/// Who may read a new file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Readers {
    /// The owner alone, from the moment that the file is there. On Windows, whoever may read the
    /// folder.
    Owner,
    /// Whoever the system's settings allow.
    Usual,
}

/// Why a new file could not be made.
#[derive(Debug, Error)]
#[error("{}: {reason}", path.display())]
pub struct NewFileError {
    /// The file.
    pub path: PathBuf,
    /// The reason.
    pub reason: NewFileReason,
}

/// Why a new file could not be made.
#[derive(Debug, Error)]
pub enum NewFileReason {
    /// Something is there already.
    #[error("is there already, and a key is never replaced; choose another name")]
    Exists,
    /// The operating system refused.
    #[error("cannot be made: {0}; choose a file in a folder that exists and is writable")]
    System(std::io::Error),
}

/// Fails if [`write_new`] would find something in its place.
pub fn check_absent(path: &Path) -> Result<(), NewFileError> {
    match path.symlink_metadata() {
        Ok(_) => Err(NewFileError { path: path.into(), reason: NewFileReason::Exists }),
        Err(_) => Ok(()),
    }
}

/// Makes a file completely or not at all. It never replaces anything, a link included.
pub fn write_new(path: &Path, bytes: &[u8], readers: Readers) -> Result<(), NewFileError> {
    let fail = |error: std::io::Error| {
        let reason = match error.kind() {
            std::io::ErrorKind::AlreadyExists => NewFileReason::Exists,
            _ => NewFileReason::System(error),
        };
        NewFileError { path: path.into(), reason }
    };
    let mut file = match readers {
        Readers::Owner => private_beside(path),
        Readers::Usual => temporary_beside(path),
    }
    .map_err(fail)?;
    file.write_all(bytes).and_then(|()| file.as_file().sync_all()).map_err(fail)?;
    file.persist_noclobber(path).map_err(|error| fail(error.error))?;
    Ok(())
}

/// tempfile makes files that only their owner can read and write.
fn private_beside(path: &Path) -> std::io::Result<NamedTempFile> {
    Builder::new().prefix(".rebearing-").tempfile_in(folder_of(path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_made_once_and_nothing_else_is_left() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        check_absent(&path).unwrap();
        write_new(&path, b"first", Readers::Owner).unwrap();
        assert!(check_absent(&path).is_err());
        for readers in [Readers::Owner, Readers::Usual] {
            let message = write_new(&path, b"second", readers).unwrap_err().to_string();
            assert!(message.contains("there already"), "{message}");
        }
        assert_eq!(std::fs::read(&path).unwrap(), b"first");
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
        let message = write_new(&folder.path().join("no/key"), b"x", Readers::Owner).unwrap_err();
        assert!(message.to_string().contains("folder that exists"), "{message}");
    }

    #[cfg(unix)]
    #[test]
    fn only_the_owner_can_read_it_and_links_stay() {
        use std::os::unix::fs::PermissionsExt as _;
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        write_new(&path, b"secret", Readers::Owner).unwrap();
        assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(folder.path().join("nothing"), &link).unwrap();
        assert!(check_absent(&link).is_err());
        write_new(&link, b"x", Readers::Owner).unwrap_err();
        assert!(!folder.path().join("nothing").exists());
    }
}

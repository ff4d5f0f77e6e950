//! Output files: written completely or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use tempfile::NamedTempFile;

/// Why an output file could not be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: cannot write the output: {source}; choose a file in a folder that exists and is writable", path.display())]
pub struct OutputError {
    /// The file.
    pub path: PathBuf,
    /// The error from the operating system.
    pub source: io::Error,
}

/// Writes a file completely or not at all, even if it is interrupted.
///
/// The bytes go to a temporary file in the same folder and onto the disk. Then the temporary file
/// is renamed to the output's name and replaces any file of that name. A link keeps pointing to the
/// same file. A device such as `/dev/null` is written directly.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_whole(path, bytes).map_err(|source| OutputError { path: path.into(), source })
}

/// Fails at once if [`write()`] would fail, so that a command can refuse before long work.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    let check = || match Destination::of(path)? {
        Destination::File(path) => temporary_beside(&path).map(drop),
        Destination::Device => OpenOptions::new().write(true).open(path).map(drop),
    };
    check().map_err(|source| OutputError { path: path.into(), source })
}

fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    match Destination::of(path)? {
        Destination::File(path) => {
            let mut file = temporary_beside(&path)?;
            file.write_all(bytes)?;
            file.as_file().sync_all()?;
            file.persist(&path).map_err(|error| error.error)?;
            // The new name reaches the disk when its folder is synced. Some systems cannot open a
            // folder; the file is complete without this step.
            if let Ok(folder) = File::open(folder_of(&path)) {
                let _ = folder.sync_all();
            }
            Ok(())
        }
        Destination::Device => OpenOptions::new().write(true).open(path)?.write_all(bytes),
    }
}

/// The target of a path.
enum Destination {
    /// A regular file or nothing yet; the path has no link left to follow.
    File(PathBuf),
    /// A device or pipe, which a rename must not replace.
    Device,
}

impl Destination {
    fn of(path: &Path) -> io::Result<Self> {
        match path.metadata() {
            Ok(metadata) if metadata.is_dir() => Err(io::ErrorKind::IsADirectory.into()),
            Ok(metadata) if metadata.is_file() => Ok(Self::File(path.canonicalize()?)),
            Ok(_) => Ok(Self::Device),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                if path.file_name().is_none() {
                    return Err(error);
                }
                Ok(Self::File(path.into()))
            }
            Err(error) => Err(error),
        }
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

pub(super) fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    // Temporary files are private by default. An output gets the permissions that the umask allows.
    let open = |path: &Path| OpenOptions::new().read(true).write(true).create_new(true).open(path);
    tempfile::Builder::new().prefix(".rebearing-").make_in(folder_of(path), open)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn writes_replaces_and_leaves_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.rbm");
        for bytes in [&b"first"[..], b"second, longer", b""] {
            check_writable(&path).unwrap();
            write(&path, bytes).unwrap();
            assert_eq!(std::fs::read(&path).unwrap(), bytes);
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn refuses_a_folder_that_is_not_there_and_a_folder_as_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        write(&file, b"x").unwrap();
        for path in [
            folder.path().join("absent").join("model.rbm"),
            folder.path().to_path_buf(),
            file.join("model.rbm"),
            PathBuf::new(),
        ] {
            for result in [check_writable(&path), write(&path, b"x")] {
                let message = result.unwrap_err().to_string();
                assert!(message.starts_with(&path.display().to_string()), "{message}");
                assert!(message.contains("folder that exists"), "{message}");
                assert!(!message.contains(".rebearing-"), "a temporary name: {message}");
            }
        }
        assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[cfg(unix)]
    #[test]
    fn follows_links_and_spares_devices() {
        use std::os::unix::fs::{FileTypeExt, PermissionsExt};
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("file");
        let link = folder.path().join("link");
        write(&file, b"old").unwrap();
        std::os::unix::fs::symlink(&file, &link).unwrap();
        write(&link, b"new").unwrap();
        assert!(link.is_symlink());
        assert_eq!(std::fs::read(&file).unwrap(), b"new");
        // The owner may read and write. Others are shut out only if the umask says so.
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o600, 0o600);
        write(Path::new("/dev/null"), b"gone").unwrap();
        let device = Path::new("/dev/null").metadata().unwrap();
        assert!(device.file_type().is_char_device());
    }
}

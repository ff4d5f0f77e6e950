//! Output files: whole or not at all.

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
    /// What the operating system said.
    pub source: io::Error,
}

/// Writes a file whole or not at all, whatever interrupts it.
///
/// The bytes go to a temporary file in the same folder, onto the disk, and then under the name,
/// which replaces a file of that name. A link keeps pointing to the same file; a device such as
/// `/dev/null` is written to directly.
pub fn write(path: &Path, bytes: &[u8]) -> Result<(), OutputError> {
    write_whole(path, bytes).map_err(|source| OutputError { path: path.into(), source })
}

/// Fails at once if [`write()`] would, so that a command can refuse before long work.
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
            // The new name itself reaches the disk with its folder. Folders cannot be opened
            // everywhere, and the file is whole without it.
            if let Ok(folder) = File::open(folder_of(&path)) {
                let _ = folder.sync_all();
            }
            Ok(())
        }
        Destination::Device => OpenOptions::new().write(true).open(path)?.write_all(bytes),
    }
}

/// What a path leads to.
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

fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn temporary_beside(path: &Path) -> io::Result<NamedTempFile> {
    // Opened here: tempfile would put the name that it tried into the error, and would make the
    // file private. An output is as readable as the umask lets it be.
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
        // Owner may read and write, and others are not shut out unless the umask says so.
        assert_eq!(file.metadata().unwrap().permissions().mode() & 0o600, 0o600);
        write(Path::new("/dev/null"), b"gone").unwrap();
        let device = Path::new("/dev/null").metadata().unwrap();
        assert!(device.file_type().is_char_device());
    }
}

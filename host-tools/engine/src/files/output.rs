//! Output files: written completely or not at all.

use std::fs::{File, OpenOptions};
use std::io::{self, BufWriter, Write};
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
    write_all(&[(path, bytes)])
}

/// Writes several files, all of them or none. Each is written as by [`write()`].
///
/// All bytes are on the disk before the first name changes. If a later name cannot change, the
/// earlier ones get their old files back. Devices come first, because they cannot be taken back.
pub fn write_all(outputs: &[(&Path, &[u8])]) -> Result<(), OutputError> {
    let contents = outputs.iter().map(|&(_, bytes)| move |out: &mut Out<'_>| out.write_all(bytes));
    let contents: Vec<_> = contents.collect();
    let paths = outputs.iter().map(|&(path, _)| path);
    let outputs: Vec<(&Path, Content<'_>)> =
        paths.zip(contents.iter().map(|content| content as Content<'_>)).collect();
    write_all_with(&outputs)
}

/// Where the content of an output goes.
pub type Out<'a> = dyn Write + Send + 'a;

/// Writes the content of an output, piece by piece.
pub type Content<'a> = &'a dyn Fn(&mut Out<'_>) -> io::Result<()>;

/// Writes a file as [`write()`] does, from pieces that need not be in memory together.
pub fn write_with(path: &Path, content: Content<'_>) -> Result<(), OutputError> {
    write_all_with(&[(path, content)])
}

/// Writes several files as [`write_all`] does, from pieces that need not be in memory together.
pub fn write_all_with(outputs: &[(&Path, Content<'_>)]) -> Result<(), OutputError> {
    let mut staged: Vec<Staged> = Vec::new();
    let mut devices = Vec::new();
    for &(path, content) in outputs {
        let failed = |source| OutputError { path: path.into(), source };
        match Destination::of(path).map_err(failed)? {
            Destination::Device => devices.push((path, content)),
            Destination::File(file) => {
                if staged.iter().any(|other| place_of(&other.path) == place_of(&file)) {
                    return Err(failed(io::Error::other("it is the file of another output")));
                }
                staged.push(Staged::new(file, content).map_err(failed)?);
            }
        }
    }
    for (path, content) in devices {
        let file = OpenOptions::new().write(true).open(path);
        let written = file.and_then(|mut file| buffered(&mut file, content));
        written.map_err(|source| OutputError { path: path.into(), source })?;
    }
    replace_all(staged)
}

fn buffered(file: &mut File, content: Content<'_>) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(1 << 16, file);
    content(&mut out)?;
    out.flush()
}

/// Fails at once if [`write()`] would fail, so that a command can refuse before long work.
pub fn check_writable(path: &Path) -> Result<(), OutputError> {
    let check = || match Destination::of(path)? {
        Destination::File(path) => temporary_beside(&path).map(drop),
        Destination::Device => OpenOptions::new().write(true).open(path).map(drop),
    };
    check().map_err(|source| OutputError { path: path.into(), source })
}

/// An output that lies complete beside its file.
struct Staged {
    path: PathBuf,
    file: NamedTempFile,
}

impl Staged {
    fn new(path: PathBuf, content: Content<'_>) -> io::Result<Self> {
        let mut file = temporary_beside(&path)?;
        buffered(file.as_file_mut(), content)?;
        file.as_file().sync_all()?;
        Ok(Self { path, file })
    }
}

/// Gives each staged file its name. If one cannot have it, the files before it are as they were.
fn replace_all(staged: Vec<Staged>) -> Result<(), OutputError> {
    let several = staged.len() > 1;
    let mut replaced: Vec<(PathBuf, Option<NamedTempFile<()>>)> = Vec::new();
    for Staged { path, file } in staged {
        let before =
            if several && path.is_file() { second_name(&path).map(Some) } else { Ok(None) };
        let persisted =
            before.and_then(|old| file.persist(&path).map(|_| old).map_err(|error| error.error));
        match persisted {
            Ok(old) => replaced.push((path, old)),
            Err(source) => {
                for (path, old) in replaced {
                    // Nothing more can be done if this fails too.
                    let _ = match old {
                        Some(old) => old.persist(&path).map(drop).map_err(|error| error.error),
                        None => std::fs::remove_file(&path),
                    };
                }
                return Err(OutputError { path, source });
            }
        }
    }
    for (path, _) in &replaced {
        // The new name reaches the disk when its folder is synced. Some systems cannot open a
        // folder; the file is complete without this step.
        if let Ok(folder) = File::open(folder_of(path)) {
            let _ = folder.sync_all();
        }
    }
    Ok(())
}

/// A second, temporary name for a file. Where a file can have only one, the name of a copy.
fn second_name(path: &Path) -> io::Result<NamedTempFile<()>> {
    let link = |name: &Path| std::fs::hard_link(path, name);
    let copy = |name: &Path| std::fs::copy(path, name).map(drop);
    let place = |make: &dyn Fn(&Path) -> io::Result<()>| {
        tempfile::Builder::new().prefix(".rebearing-").make_in(folder_of(path), make)
    };
    place(&link).or_else(|_| place(&copy))
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

/// The path of a file that may not exist yet, the same for every way to write it.
fn place_of(path: &Path) -> PathBuf {
    let folder = folder_of(path);
    let folder = folder.canonicalize().unwrap_or_else(|_| folder.into());
    path.file_name().map_or_else(|| folder.clone(), |name| folder.join(name))
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

    #[test]
    fn several_outputs_are_written_together_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let [model, page] = ["model.rbm", "page.html"].map(|name| folder.path().join(name));
        write_all(&[(&model, b"old"), (&page, b"old page")]).unwrap();
        write_all(&[(&model, b"kept"), (&page, b"kept page")]).unwrap();
        let kept = || {
            assert_eq!(std::fs::read(&model).unwrap(), b"kept");
            assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 2, "nothing left over");
        };
        kept();
        let error = write_all(&[(&model, b"new"), (&model, b"new page")]).unwrap_err().to_string();
        assert!(error.contains("another output"), "{error}");
        kept();
        let absent = folder.path().join("absent").join("page.html");
        assert!(write_all(&[(&model, b"new"), (&absent, b"new page")]).is_err());
        kept();
        // The second name is taken only after both files are complete.
        let staged = |path: &Path| Staged::new(path.into(), &|out| out.write_all(b"new")).unwrap();
        std::fs::remove_file(&page).unwrap();
        let both = vec![staged(&model), staged(&page)];
        std::fs::create_dir(&page).unwrap();
        assert_eq!(replace_all(both).unwrap_err().path, page);
        kept();
        // A file that was not there before is gone again.
        let fresh = folder.path().join("fresh.rbm");
        std::fs::remove_dir(&page).unwrap();
        let both = vec![staged(&fresh), staged(&page)];
        std::fs::create_dir(&page).unwrap();
        assert!(replace_all(both).is_err());
        assert!(!fresh.exists());
        kept();
    }

    #[cfg(target_os = "linux")]
    #[test]
    fn a_full_device_keeps_the_other_output() {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model.rbm");
        write(&model, b"old").unwrap();
        let error = write_all(&[(&model, b"new"), (Path::new("/dev/full"), b"page")]).unwrap_err();
        assert_eq!(error.path, Path::new("/dev/full"));
        assert_eq!(std::fs::read(&model).unwrap(), b"old");
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

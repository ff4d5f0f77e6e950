//! Input files: only regular files are opened, and a whole file is read up to a limit.
//!
//! A pipe would block until someone writes to it, and a device such as `/dev/zero` never ends.

use std::fs::{File, FileType};
use std::io::{self, Read};
use std::path::Path;

/// Largest model file in bytes. The flash of the largest microcontrollers is a tenth of it.
pub const MOST_MODEL: u64 = 64 << 20;
/// Largest source or library in bytes.
pub const MOST_LIBRARY: u64 = 256 << 20;
/// Largest manifest in bytes: about two million rows.
pub const MOST_MANIFEST: u64 = 128 << 20;
/// Largest CSV file of a matrix or of labels, in bytes.
pub const MOST_TABLE: u64 = 1 << 30;
/// Largest file of snapshots in bytes.
pub const MOST_SNAPSHOTS: u64 = 256 << 20;
/// Largest ELF file of a firmware in bytes, with its debug information.
pub const MOST_FIRMWARE: u64 = 256 << 20;

/// Opens a regular file for reading. It refuses folders, pipes, devices and sockets without opening
/// them.
pub fn open(path: &Path) -> io::Result<File> {
    refuse_others(path.metadata()?.file_type())?;
    let file = File::open(path)?;
    // Another file may have got the name since.
    refuse_others(file.metadata()?.file_type())?;
    Ok(file)
}

/// Reads a whole regular file of at most `most` bytes.
pub fn read_whole(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    let file = open(path)?;
    let length = file.metadata()?.len();
    let mut bytes = Vec::new();
    if length <= most {
        bytes.reserve_exact(usize::try_from(length).unwrap_or_default());
        // The file may grow meanwhile. One byte more than allowed shows that.
        file.take(most + 1).read_to_end(&mut bytes)?;
        if bytes.len() as u64 <= most {
            return Ok(bytes);
        }
    }
    let problem = format!("it has more than {} MB, too many for a file of its kind", most >> 20);
    Err(io::Error::new(io::ErrorKind::FileTooLarge, problem))
}

fn refuse_others(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    let what = if kind.is_dir() { "folder" } else { special(kind) };
    let problem = format!("it is a {what}, not a regular file");
    Err(io::Error::new(io::ErrorKind::Unsupported, problem))
}

#[cfg(unix)]
fn special(kind: FileType) -> &'static str {
    use std::os::unix::fs::FileTypeExt as _;
    if kind.is_fifo() {
        "pipe"
    } else if kind.is_socket() {
        "socket"
    } else {
        "device"
    }
}

#[cfg(not(unix))]
fn special(_: FileType) -> &'static str {
    "device"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_whole_file_is_read_up_to_the_limit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        std::fs::write(&path, vec![7; 1000]).unwrap();
        assert_eq!(read_whole(&path, 1000).unwrap(), vec![7; 1000]);
        let error = read_whole(&path, 999).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::FileTooLarge);
        assert!(error.to_string().contains("more than 0 MB"), "{error}");
    }

    #[test]
    fn a_folder_is_refused_and_an_absent_file_is_absent() {
        let folder = tempfile::tempdir().unwrap();
        let error = open(folder.path()).unwrap_err().to_string();
        assert_eq!(error, "it is a folder, not a regular file");
        let absent = open(&folder.path().join("absent")).unwrap_err();
        assert_eq!(absent.kind(), io::ErrorKind::NotFound);
    }

    /// Opening the pipe would block this test for ever.
    #[cfg(unix)]
    #[test]
    fn pipes_sockets_and_devices_are_refused_without_opening_them() {
        let folder = tempfile::tempdir().unwrap();
        let (pipe, socket) = (folder.path().join("pipe.csv"), folder.path().join("socket"));
        let made = std::process::Command::new("mkfifo").arg(&pipe).status().unwrap();
        assert!(made.success());
        let _listener = std::os::unix::net::UnixListener::bind(&socket).unwrap();
        for (path, kind) in
            [(pipe.as_path(), "pipe"), (&socket, "socket"), (Path::new("/dev/zero"), "device")]
        {
            let error = read_whole(path, 10).unwrap_err();
            assert_eq!(error.to_string(), format!("it is a {kind}, not a regular file"));
        }
    }
}

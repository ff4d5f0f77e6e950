//! The sources of a device's lines: a pipe or file, a serial port, or RTT through probe-rs.
//!
//! A separate thread reads the lines, so keys are answered while a device is silent.

use std::fs::File;
use std::io::{self, Read, Seek};
use std::path::PathBuf;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use thiserror::Error;

use crate::device::flash::{FlashError, Probe, command_line};
use crate::files::input;

/// Largest number of waiting lines. When it is reached, the device has to wait.
const WAITING: usize = 4096;
/// Largest length of a line in bytes; longer lines are cut. No report is that long, and a stream
/// without line ends must not fill the memory.
const LONGEST: usize = 16 * 1024;
/// Bytes at the start of a file that are checked for text.
const BEGINNING: u64 = 4096;
/// A file is text if at most one character in this many is not text.
const STRANGE_SHARE: usize = 20;
/// Time after which a silent serial port is read again.
const SERIAL_TIMEOUT: Duration = Duration::from_millis(200);

/// A source of lines.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Source {
    /// Standard input.
    Stdin,
    /// A file or named pipe.
    File(PathBuf),
    /// A serial port.
    Serial {
        /// Name of the port in the operating system.
        port: String,
        /// Bits per second.
        baud: u32,
    },
    /// RTT, decoded by an installed probe-rs.
    Rtt {
        /// The chip, as probe-rs names it.
        chip: String,
        /// ELF file of the firmware, needed for decoding.
        firmware: PathBuf,
        /// The probe to use.
        probe: Option<String>,
    },
}

/// The reason why reading failed to start or stopped.
#[derive(Debug, Error)]
pub enum SourceError {
    /// A file cannot be opened.
    #[error("{}: {reason}; give a file of report lines, or - for standard input", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// A file holds no text.
    #[error(
        "{}: is not text; this reads the lines that a device prints (docs/report-lines.md): give a \
         file of them, or - for standard input; `rebearing predict` reads recordings",
        path.display()
    )]
    NotText {
        /// The file.
        path: PathBuf,
    },
    /// A serial port cannot be opened.
    #[error(
        "{port}: {reason}; check the name and the cable, that no other program has the port, and that you may use it (on Linux: be in the group dialout)"
    )]
    Serial {
        /// The port.
        port: String,
        /// The reason.
        reason: serialport::Error,
    },
    /// probe-rs is missing, too old, or cannot be started.
    #[error(transparent)]
    Probe(#[from] FlashError),
    /// Reading failed after it had started.
    #[error("{from}: reading stopped: {reason}; check the connection and start again")]
    Read {
        /// Name of the source.
        from: String,
        /// The operating system's reason.
        reason: io::Error,
    },
    /// probe-rs ended with a failure.
    #[error(
        "`{command}` failed ({status}): {said}; check chip, probe, cable and that the firmware runs"
    )]
    Ended {
        /// Its command line.
        command: String,
        /// Its exit status.
        status: ExitStatus,
        /// The last line that it printed.
        said: String,
    },
}

impl Source {
    /// The source in a few words.
    pub fn name(&self) -> String {
        match self {
            Self::Stdin => "standard input".into(),
            Self::File(path) => path.display().to_string(),
            Self::Serial { port, baud } => format!("{port} at {baud} baud"),
            Self::Rtt { chip, .. } => format!("RTT of {chip}"),
        }
    }

    /// Opens the source and begins to read.
    pub fn open(&self) -> Result<Stream, SourceError> {
        let mut program = None;
        let bytes: Box<dyn Read + Send> = match self {
            Self::Stdin => Box::new(io::stdin()),
            Self::File(path) => {
                let failed = |reason| SourceError::Open { path: path.clone(), reason };
                let kind = path.metadata().map_err(failed)?.file_type();
                if kind.is_file() || kind.is_dir() {
                    let mut file = input::open(path).map_err(failed)?;
                    if !is_text(&mut file).map_err(failed)? {
                        return Err(SourceError::NotText { path: path.clone() });
                    }
                    Box::new(file)
                } else {
                    Box::new(Pipe { path: path.clone(), file: None })
                }
            }
            Self::Serial { port, baud } => {
                let builder = serialport::new(port, *baud).timeout(SERIAL_TIMEOUT);
                let opened = builder.open();
                Box::new(Patient(
                    opened.map_err(|reason| SourceError::Serial { port: port.clone(), reason })?,
                ))
            }
            Self::Rtt { chip, firmware, probe } => {
                Probe::check_version()?;
                let probe = Probe { chip, probe: probe.as_deref() };
                let (running, output) = Program::start(probe.attach(firmware))?;
                program = Some(running);
                Box::new(output)
            }
        };
        let (sender, lines) = sync_channel(WAITING);
        thread::spawn(move || read_lines(bytes, &sender));
        Ok(Stream { lines, from: self.name(), program })
    }
}

/// Returns true if the beginning of a file is text and not a recording. A few bytes may be damaged.
/// Rewinds the file to its start.
fn is_text(file: &mut File) -> io::Result<bool> {
    let mut beginning = Vec::new();
    file.by_ref().take(BEGINNING).read_to_end(&mut beginning)?;
    file.rewind()?;
    let text = String::from_utf8_lossy(&beginning);
    let strange = |c: &char| {
        *c == char::REPLACEMENT_CHARACTER || (c.is_control() && !"\t\n\r\x1b".contains(*c))
    };
    Ok(text.chars().filter(strange).count() * STRANGE_SHARE <= text.chars().count())
}

/// A stream of lines.
#[derive(Debug)]
pub struct Stream {
    /// Lines as they come. The channel disconnects at the end.
    pub lines: Receiver<io::Result<Vec<u8>>>,
    from: String,
    program: Option<Program>,
}

impl Stream {
    /// Returns the error of a failed read, with the name of the source.
    pub fn failure(&self, reason: io::Error) -> SourceError {
        SourceError::Read { from: self.from.clone(), reason }
    }

    /// Checks, after the last line, that the source ended without an error.
    pub fn finish(mut self) -> Result<(), SourceError> {
        self.program.take().map_or(Ok(()), Program::finish)
    }
}

/// A pipe or device, opened at the first read. Opening a pipe blocks until someone writes to it, so
/// the reading thread does it.
struct Pipe {
    path: PathBuf,
    file: Option<File>,
}

impl Read for Pipe {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let file = match self.file.take() {
            Some(file) => file,
            None => File::open(&self.path)?,
        };
        self.file.insert(file).read(buffer)
    }
}

/// A serial port that waits for the next byte without a time limit.
struct Patient(Box<dyn serialport::SerialPort>);

impl Read for Patient {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::TimedOut => {}
                result => return result,
            }
        }
    }
}

/// A running probe-rs. Dropping this stops it.
#[derive(Debug)]
struct Program {
    child: Child,
    command: String,
    errors: Option<JoinHandle<String>>,
}

impl Program {
    fn start(mut command: Command) -> Result<(Self, impl Read + Send + 'static), SourceError> {
        let line = command_line(command.get_args());
        command.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().map_err(FlashError::Missing)?;
        let missing = || FlashError::Missing(io::ErrorKind::BrokenPipe.into());
        let output = child.stdout.take().ok_or_else(missing)?;
        let mut errors = child.stderr.take().ok_or_else(missing)?;
        let errors = thread::spawn(move || {
            let mut said = Vec::new();
            // If reading fails, the text read so far is all there is.
            let _ = errors.read_to_end(&mut said);
            String::from_utf8_lossy(&said).trim().to_owned()
        });
        Ok((Self { child, command: line, errors: Some(errors) }, output))
    }

    fn finish(mut self) -> Result<(), SourceError> {
        let status = self.child.wait().map_err(FlashError::Missing)?;
        let said = self.errors.take().and_then(|errors| errors.join().ok()).unwrap_or_default();
        if status.success() {
            return Ok(());
        }
        let said = said.lines().last().unwrap_or("it gave no reason").to_owned();
        Err(SourceError::Ended { command: self.command.clone(), status, said })
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        // The program may have ended by itself.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Splits a stream into lines until it ends, fails, or nobody listens.
fn read_lines(mut bytes: impl Read, sender: &SyncSender<io::Result<Vec<u8>>>) {
    let mut line = Vec::new();
    let mut buffer = [0; 4096];
    loop {
        let count = match bytes.read(&mut buffer) {
            Ok(0) => break,
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
            Err(error) => {
                let _ = sender.send(Err(error));
                return;
            }
        };
        for byte in &buffer[..count] {
            if *byte != b'\n' {
                line.push(*byte);
            }
            let whole = *byte == b'\n' || line.len() >= LONGEST;
            if whole && sender.send(Ok(std::mem::take(&mut line))).is_err() {
                return;
            }
        }
    }
    if !line.is_empty() {
        let _ = sender.send(Ok(line));
    }
}

#[cfg(test)]
mod tests {
    use super::{LONGEST, Source, read_lines};
    use std::sync::mpsc::sync_channel;

    fn lines(bytes: &[u8]) -> Vec<Vec<u8>> {
        let (sender, receiver) = sync_channel(100);
        read_lines(bytes, &sender);
        drop(sender);
        receiver.iter().map(Result::unwrap).collect()
    }

    #[test]
    fn lines_are_cut_at_their_ends_and_at_the_longest() {
        assert_eq!(lines(b"a\r\n\nlast"), [&b"a\r"[..], b"", b"last"]);
        assert_eq!(
            lines(&vec![b'x'; LONGEST + 3]).iter().map(Vec::len).collect::<Vec<_>>(),
            [LONGEST, 3]
        );
    }

    #[cfg(unix)]
    #[test]
    fn a_serial_port_is_read() {
        use serialport::{SerialPort as _, TTYPort};
        use std::io::Write as _;
        let (mut device, port) = TTYPort::pair().unwrap();
        let name = port.name().unwrap();
        drop(port);
        let stream = Source::Serial { port: name, baud: 115_200 }.open().unwrap();
        device.write_all(b"rb1 report\nhello\n").unwrap();
        let first: Vec<_> = stream.lines.iter().take(2).map(Result::unwrap).collect();
        assert_eq!(first, [&b"rb1 report"[..], b"hello"]);
    }

    #[test]
    fn a_log_with_a_few_damaged_bytes_is_text_and_a_recording_is_not() {
        let folder = tempfile::tempdir().unwrap();
        let opened = |bytes: &[u8]| {
            let path = folder.path().join("file");
            std::fs::write(&path, bytes).unwrap();
            Source::File(path).open().map(|stream| stream.lines.iter().count())
        };
        assert_eq!(opened(b"").unwrap(), 0);
        let damaged = [&b"\xff\0"[..], "rb1 Käfig\n".repeat(900).as_bytes()].concat();
        assert_eq!(opened(&damaged).unwrap(), 900, "read from its start");
        let header = b"MATLAB 5.0 MAT-file, Platform: PCWIN".to_vec();
        let noise = (0..4000_u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 24) as u8);
        let recording: Vec<u8> = header.into_iter().chain(noise).collect();
        let error = opened(&recording).unwrap_err().to_string();
        assert!(error.contains("is not text") && error.contains("report-lines.md"), "{error}");
    }

    #[test]
    fn what_is_not_there_is_said() {
        let absent = Source::File("absent.txt".into()).open().unwrap_err().to_string();
        assert!(
            absent.starts_with("absent.txt: ") && absent.contains("- for standard"),
            "{absent}"
        );
        let port = Source::Serial { port: "/dev/absent".into(), baud: 9600 };
        let absent = port.open().unwrap_err().to_string();
        assert!(absent.starts_with("/dev/absent: "), "{absent}");
    }
}

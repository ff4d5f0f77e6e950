//! Writes a model into the MODEL region of a board, through an installed `probe-rs`.
//!
//! It uses the program and not the library, because everyone who builds this tool would build the
//! library too. A host that flashes boards has the program anyway, for the firmware.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, Output, Stdio};

use rebearing::ModelError;
use rebearing::update::RECORD_LEN;
use thiserror::Error;

use super::option;
use crate::device::firmware::Firmware;
use crate::files::{TemporaryError, temporary_folder};
use crate::model::deployed::DeployedModel;
use crate::model::on_disk::ModelFile;
use crate::progress;

/// The oldest probe-rs that can `read` into a file.
const OLDEST: (u32, u32) = (0, 29);
const PROBE_RS: &str = "probe-rs";

/// Bytes to write, and their address.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Image {
    /// Address of the first byte.
    pub address: u32,
    /// The bytes.
    pub bytes: Vec<u8>,
}

/// Why a model was not written, or not written correctly.
#[derive(Debug, Error)]
pub enum FlashError {
    /// The firmware's monitor cannot run the model, or the model is not made for its samples.
    #[error("{firmware}: {reason}")]
    DoesNotFit {
        /// The firmware's file.
        firmware: String,
        /// The reason that the device would give.
        reason: ModelError,
    },
    /// The firmware takes signed models alone, and this one is not signed.
    #[error(
        "{firmware}: takes signed models alone, and this one is not signed; sign it with `rebearing sign`"
    )]
    NotSigned {
        /// The firmware's file.
        firmware: String,
    },
    /// The firmware reads another version of the format.
    #[error(
        "{firmware}: reads models of version {reads}, and this one has version {has}; build the firmware with this version of rebearing"
    )]
    Version {
        /// The firmware's file.
        firmware: String,
        /// The version that the firmware reads.
        reads: u32,
        /// The version of the model.
        has: u16,
    },
    /// The MODEL region is too small.
    #[error(
        "{firmware}: the model has {needs} bytes, and {what} of the MODEL region holds {holds}: enlarge MODEL in memory.x or fit fewer components"
    )]
    TooLong {
        /// The firmware's file.
        firmware: String,
        /// The part of the region that must hold the model: all of it, or a slot.
        what: &'static str,
        /// Bytes of the model.
        needs: usize,
        /// Bytes that fit.
        holds: usize,
    },
    /// The firmware is for another chip.
    #[error(
        "{firmware}: built for {built_for}, not for {chip}: its MODEL region is elsewhere; give the firmware that runs on this chip with `firmware`"
    )]
    OtherChip {
        /// The firmware's file.
        firmware: String,
        /// The chip in its descriptor.
        built_for: String,
        /// The requested chip.
        chip: String,
    },
    /// probe-rs cannot be started.
    #[error(
        "cannot run probe-rs ({0}): install it (https://probe.rs), version 0.29 or later, and have it on the PATH"
    )]
    Missing(std::io::Error),
    /// probe-rs is too old, or does not say its version.
    #[error("probe-rs says it is `{said}`: version 0.29 or later is needed")]
    OldProbeRs {
        /// The text that it printed.
        said: String,
    },
    /// probe-rs failed.
    #[error("`{command}` failed ({status}): {said}")]
    ProbeRs {
        /// The command line.
        command: String,
        /// Its exit status.
        status: std::process::ExitStatus,
        /// The end of the text that it printed.
        said: String,
    },
    /// There is no folder for temporary files.
    #[error(transparent)]
    Temporary(#[from] TemporaryError),
    /// A temporary file cannot be written, or what was read back cannot be read.
    #[error("{path}: {reason}")]
    File {
        /// The file.
        path: String,
        /// The reason that the system gave.
        reason: std::io::Error,
    },
}

/// Checks that the firmware can run the model of `file`: version, encoding, unit and size, that the
/// model is made for the firmware's rate, longest window and full scale, and that it is signed if the
/// firmware demands it.
///
/// The firmware makes the same checks at its start. A model that it refuses there leaves the board
/// without one.
pub fn check(file: &ModelFile, firmware: &Firmware) -> Result<(), FlashError> {
    let descriptor = &firmware.descriptor;
    let name = || firmware.path.display().to_string();
    let has = rebearing::model::format::VERSION;
    if descriptor.model_version != u32::from(has) {
        let reads = descriptor.model_version;
        return Err(FlashError::Version { firmware: name(), reads, has });
    }
    if descriptor.signed && file.envelope().is_none() {
        return Err(FlashError::NotSigned { firmware: name() });
    }
    let model = &file.model;
    let fits = model.check(&descriptor.capacities).and_then(|()| match &descriptor.sampling {
        Some(sampling) => model.check_sampling(sampling),
        None => Ok(()),
    });
    fits.map_err(|reason| FlashError::DoesNotFit { firmware: name(), reason })
}

/// Returns a warning if the firmware does not say how it samples, so that nothing could be checked.
pub fn sampling_warning(model: &DeployedModel, firmware: &Firmware) -> Option<String> {
    let front_end = model.front_end();
    let seconds = front_end.window_len() as f32 / front_end.rate_hz;
    firmware.descriptor.sampling.is_none().then(|| {
        format!(
            "{} does not say how it samples: it must sample at {} Hz, and wait longer than {seconds:.1} s for a window before its watchdog restarts it; build it with this version of rebearing, which checks both",
            firmware.path.display(),
            front_end.rate_hz,
        )
    })
}

/// Returns the image that makes the firmware use the model of `file`. The image stays inside the
/// MODEL region. The envelope of a signed file follows its model at once.
///
/// With two slots the image fills the region. Otherwise a newer model in the other slot would win.
pub fn image(file: &ModelFile, firmware: &Firmware, chip: &str) -> Result<Image, FlashError> {
    let descriptor = &firmware.descriptor;
    let name = || firmware.path.display().to_string();
    if !firmware.is_for(chip) {
        let built_for = descriptor.chip().to_owned();
        return Err(FlashError::OtherChip { firmware: name(), built_for, chip: chip.into() });
    }
    check(file, firmware)?;
    let region = firmware.model_region.len();
    let (what, holds) = match descriptor.slots {
        2 => ("a slot", (region / 2).saturating_sub(RECORD_LEN)),
        _ => ("all", region),
    };
    let mut bytes = file.bytes();
    let needs = bytes.len();
    if needs > holds {
        return Err(FlashError::TooLong { firmware: name(), what, needs, holds });
    }
    if descriptor.slots == 2 {
        bytes.resize(region, 0xff);
    }
    Ok(Image { address: firmware.model_region.start, bytes })
}

/// An installed probe-rs, a chip, and optionally a certain probe.
#[derive(Debug, Clone)]
pub struct Probe<'a> {
    /// The chip, as probe-rs names it.
    pub chip: &'a str,
    /// `VID:PID` or `VID:PID:SERIAL`, if several probes are connected.
    pub probe: Option<&'a str>,
}

impl Probe<'_> {
    /// Checks that probe-rs is installed and new enough. Returns its version line.
    pub fn check_version() -> Result<String, FlashError> {
        let output = run(Command::new(PROBE_RS).arg(option("version")))?;
        let said = String::from_utf8_lossy(&output.stdout).trim().to_owned();
        // For instance `probe-rs 0.29.1 (git commit: v0.29.1)`.
        let version = said.strip_prefix("probe-rs ").map(|rest| rest.split('.'));
        let mut numbers = version.into_iter().flatten().map_while(|number| number.parse().ok());
        if numbers.next().zip(numbers.next()).is_some_and(|version: (u32, u32)| version >= OLDEST) {
            Ok(said)
        } else {
            Err(FlashError::OldProbeRs { said })
        }
    }

    /// Returns the arguments of probe-rs that write `file`, a copy of the image.
    pub fn download(&self, image: &Image, file: &Path) -> Vec<OsString> {
        let address = format!("{:#010x}", image.address);
        let mut words = self.words("download");
        words.extend([option("binary-format"), "bin".into()]);
        words.extend([option("base-address"), address.into()]);
        words.push(file.into());
        words
    }

    /// Returns the arguments of probe-rs that read the image back into `file`.
    pub fn read(&self, image: &Image, file: &Path) -> Vec<OsString> {
        // A model has whole words, and so have an envelope and a region.
        let (address, words_there) =
            (format!("{:#010x}", image.address), (image.bytes.len() / 4).to_string());
        let mut words = self.words("read");
        words.extend([option("format"), "binary".into(), option("output")]);
        words.push(file.into());
        words.extend(["b32", &address, &words_there].map(OsString::from));
        words
    }

    /// Returns the arguments of probe-rs that restart the firmware, which looks for its model only
    /// at a start.
    pub fn reset(&self) -> Vec<OsString> {
        self.words("reset")
    }

    /// Returns the command that reads the log of a running chip. The ELF file of the firmware
    /// decodes the log.
    pub fn attach(&self, firmware: &Path) -> Command {
        let mut command = Command::new(PROBE_RS);
        command.args(self.words("attach")).arg(firmware);
        command
    }

    fn words(&self, command: &str) -> Vec<OsString> {
        let mut words = vec![command.into(), option("chip"), self.chip.into()];
        words.extend(self.probe.into_iter().flat_map(|probe| [option("probe"), probe.into()]));
        words
    }

    /// Writes the image and reads it back. Returns the address of the first byte that differs, if
    /// any.
    ///
    /// The chip is restarted only if the image was read back without a difference.
    pub fn flash(&self, image: &Image) -> Result<Option<u32>, FlashError> {
        // Three steps: write, read back, restart.
        let _stage = progress::stage("writing the model and reading it back", 3);
        let problem = |path: &Path, reason| {
            let name = path.file_name().unwrap_or_default();
            FlashError::File { path: name.to_string_lossy().into_owned(), reason }
        };
        let folder = temporary_folder()?;
        // A user knows the file names of a dry run, not the temporary folder.
        let shown = |text: String| text.replace(&format!("{}/", folder.path().display()), "");
        let run = |words: Vec<OsString>| {
            run(Command::new(PROBE_RS).args(words)).map_err(|error| match error {
                FlashError::ProbeRs { command, status, said } => {
                    FlashError::ProbeRs { command: shown(command), status, said: shown(said) }
                }
                error => error,
            })
        };
        let written = folder.path().join("model.bin");
        std::fs::write(&written, &image.bytes).map_err(|e| problem(&written, e))?;
        run(self.download(image, &written))?;
        progress::done(1);
        let read = folder.path().join("read-back.bin");
        run(self.read(image, &read))?;
        progress::done(1);
        let found = std::fs::read(&read).map_err(|e| problem(&read, e))?;
        let same = found.iter().zip(&image.bytes).take_while(|(a, b)| a == b).count();
        if same < image.bytes.len() || found.len() != image.bytes.len() {
            return Ok(Some(image.address.saturating_add(same as u32)));
        }
        run(self.reset())?;
        Ok(None)
    }
}

fn run(command: &mut Command) -> Result<Output, FlashError> {
    // Without a terminal for questions, probe-rs fails and does not wait for an answer.
    let output = command.stdin(Stdio::null()).output().map_err(FlashError::Missing)?;
    if output.status.success() {
        return Ok(output);
    }
    let said = String::from_utf8_lossy(&output.stderr);
    let said = match said.trim() {
        "" => "it gave no reason",
        said => said,
    };
    Err(FlashError::ProbeRs {
        command: command_line(command.get_args()),
        status: output.status,
        said: said.to_owned(),
    })
}

/// Returns a command line of probe-rs, for people.
pub fn command_line<W: AsRef<std::ffi::OsStr>>(words: impl IntoIterator<Item = W>) -> String {
    words
        .into_iter()
        .fold(PROBE_RS.to_owned(), |line, word| line + " " + &word.as_ref().to_string_lossy())
}

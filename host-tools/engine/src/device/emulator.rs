//! The emulated microcontroller: runs the QEMU firmware over a recording.
//!
//! QEMU loads the model at the address where probe-rs would write it. The samples come through
//! semihosting, and the firmware prints report lines with the exact bits. No model needs a rebuild.

use std::io::{BufRead as _, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde::Deserialize;
use tempfile::TempDir;

use super::setup::{self, QEMU, Setup};
use crate::data::counts::Counts;
use crate::data::recording::Recording;
use crate::device::embedded::{self, EmbeddedFirmware};
use crate::device::emulated::{self, Numbers};
use crate::device::sample_file;
use crate::files::temporary_folder;
use crate::model::encoded::IntegerModelBytes;
use crate::progress;

pub use crate::device::core::Core;
pub use crate::device::emulated::{EmulatedDrift, EmulatedRun};
pub use crate::device::sample_file::SampleKind;

/// An emulator with a firmware to run in it.
#[derive(Debug, Clone, Deserialize)]
pub struct Emulator {
    elf: PathBuf,
    elf_m0: PathBuf,
    qemu: PathBuf,
    /// Folder of the firmware that comes inside this command, while it is used.
    #[serde(skip)]
    _unpacked: Option<Arc<TempDir>>,
}

impl Emulator {
    /// Finds the firmware and QEMU. Uses the firmware inside this command if there is one.
    /// Otherwise it runs `cargo xtask firmware` in a checkout of the project: that builds the
    /// firmware, and takes care of QEMU as `setup` says.
    ///
    /// The error is one line that says what is missing.
    pub fn find(setup: Setup) -> Result<Self> {
        // The checkout may have changed since this command was built. The firmware inside has not.
        if let Some(firmware) = &embedded::FIRMWARE {
            return Self::unpack(firmware);
        }
        serde_json::from_slice(&setup::firmware(setup)?)
            .context("`cargo xtask firmware` did not print the paths of firmware and QEMU")
    }

    /// Writes the firmware inside this command to files for QEMU.
    fn unpack(firmware: &EmbeddedFirmware) -> Result<Self> {
        let qemu = setup::qemu().with_context(|| {
            format!("the emulated device needs QEMU: install {QEMU} (apt-get install {QEMU})")
        })?;
        let folder = temporary_folder()?;
        let write = |name: &str, bytes: &[u8]| -> Result<PathBuf> {
            let file = folder.path().join(name);
            std::fs::write(&file, bytes)
                .context("cannot write the firmware into a temporary folder")?;
            Ok(file)
        };
        let (elf, elf_m0) = (write("qemu-m4", firmware.m4)?, write("qemu-m0", firmware.m0)?);
        Ok(Self { elf, elf_m0, qemu, _unpacked: Some(Arc::new(folder)) })
    }

    /// Runs a model over a recording on the emulated Cortex-M4F.
    pub fn run(
        &self,
        model: &[u8],
        recording: &Recording,
        samples_as: SampleKind,
    ) -> Result<EmulatedRun> {
        let job = Job {
            model,
            samples_as,
            // No shaft has a speed of zero, so zero means that the speed is not known.
            shaft_hz: recording.shaft_hz().unwrap_or(0.0),
            samples: sample_file::of_recording(recording, samples_as)?,
        };
        self.parsed(Core::CortexM4F, &job, Numbers::F32)
    }

    /// Runs an i16 model over a recording in counts, on the smallest core that it fits.
    pub fn run_integer(&self, model: &IntegerModelBytes, counts: &Counts) -> Result<EmulatedRun> {
        self.run_integer_on(Core::of_integer_model(&model.model()), model, counts)
    }

    /// Like [`Emulator::run_integer`], on the given core.
    pub fn run_integer_on(
        &self,
        core: Core,
        model: &IntegerModelBytes,
        counts: &Counts,
    ) -> Result<EmulatedRun> {
        let job = Job {
            model: model.bytes(),
            samples_as: SampleKind::I16,
            shaft_hz: 0.0,
            samples: sample_file::of_counts(counts)?,
        };
        let numbers = Numbers::I16 { counts_per_unit: model.model().counts_per_unit() };
        self.parsed(core, &job, numbers)
    }

    fn parsed(&self, core: Core, job: &Job<'_>, numbers: Numbers) -> Result<EmulatedRun> {
        let text = self.launch(core, job)?;
        emulated::parse(&text, numbers).context("the emulated device printed something unexpected")
    }

    /// Runs the firmware with a model in its flash and a file of samples. Returns its output.
    fn launch(&self, core: Core, job: &Job<'_>) -> Result<String> {
        let scratch = temporary_folder()?;
        let model_path = scratch.path().join("model.rbm");
        let unwritten = "cannot write model and samples into a temporary folder";
        std::fs::write(&model_path, job.model).context(unwritten)?;
        let samples_path = scratch.path().join("samples.bin");
        std::fs::write(&samples_path, &job.samples).context(unwritten)?;

        // A separate console, because QEMU's versions differ in where semihosting prints by
        // default.
        let mut semihosting = String::from("enable=on,target=native,chardev=console");
        let shaft = format!("{:08x}", job.shaft_hz.to_bits());
        for word in ["qemu", job.samples_as.name(), &shaft, &escaped(&samples_path)?] {
            semihosting.push_str(",arg=");
            semihosting.push_str(word);
        }
        let address = core.model_address();
        let loader =
            format!("loader,file={},addr={address:#x},force-raw=on", escaped(&model_path)?);
        let mut qemu = Command::new(&self.qemu);
        qemu.args([
            "-M",
            core.machine(),
            "-display",
            "none",
            "-monitor",
            "none",
            "-serial",
            "none",
        ])
        .args(["-chardev", "stdio,id=console", "-semihosting-config"])
        .arg(semihosting)
        .args(["-device", &loader])
        .arg("-kernel")
        .arg(self.elf(core))
        .stdin(Stdio::null());
        let output = output_within(&mut qemu, job.time_limit())
            .with_context(|| format!("cannot run {}", self.qemu.display()))?
            .context("the emulated device did not end in time and was stopped")?;
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        if !output.status.success() {
            let errors = String::from_utf8_lossy(&output.stderr);
            let said = text.lines().chain(errors.lines()).find(|line| line.starts_with("error"));
            bail!(
                "the emulated device failed ({}): {}",
                output.status,
                said.unwrap_or("it gave no reason")
            );
        }
        Ok(text)
    }

    /// The firmware for a core.
    pub fn elf(&self, core: Core) -> &Path {
        match core {
            Core::CortexM4F => &self.elf,
            Core::CortexM0 => &self.elf_m0,
        }
    }
}

/// A model and the samples to run it over.
struct Job<'a> {
    model: &'a [u8],
    samples_as: SampleKind,
    /// Shaft speed in turns per second; zero if it is not known.
    shaft_hz: f32,
    /// The file of samples.
    samples: Vec<u8>,
}

impl Job<'_> {
    /// A hundred times the usual run time on a desktop, so only an emulator that hangs is stopped.
    fn time_limit(&self) -> Duration {
        let samples = self.samples.len() / self.samples_as.size();
        Duration::from_secs(60 + samples as u64 / 1000)
    }
}

/// Returns the output and exit status of `command`, or `None` if it had to be stopped.
fn output_within(command: &mut Command, limit: Duration) -> std::io::Result<Option<Output>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Both streams are drained while the program runs. Otherwise it would block for ever.
    let reader = |stream: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut lines = Vec::new();
            let Some(stream) = stream else { return Ok(lines) };
            let mut stream = BufReader::new(stream);
            // Each window prints one line.
            while stream.read_until(b'\n', &mut lines)? > 0 {
                progress::done(1);
            }
            Ok(lines)
        })
    };
    let stdout = reader(child.stdout.take().map(|s| Box::new(s) as _));
    let stderr = reader(child.stderr.take().map(|s| Box::new(s) as _));
    let started = Instant::now();
    let status = loop {
        match child.try_wait()? {
            Some(status) => break status,
            None if started.elapsed() > limit => {
                child.kill()?;
                child.wait()?;
                return Ok(None);
            }
            None => thread::sleep(Duration::from_millis(5)),
        }
    };
    let join = |reader: thread::JoinHandle<std::io::Result<Vec<u8>>>| {
        reader.join().unwrap_or_else(|_| Err(std::io::Error::other("the reader ended")))
    };
    Ok(Some(Output { status, stdout: join(stdout)?, stderr: join(stderr)? }))
}

/// Escapes a path for a QEMU option: commas must be doubled.
fn escaped(path: &Path) -> Result<String> {
    let path = path.to_str().context("the temporary directory's name is not UTF-8")?;
    Ok(path.replace(',', ",,"))
}

#[cfg(test)]
mod tests {
    use super::output_within;
    use std::process::Command;
    use std::time::Duration;

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let limit = Duration::from_millis(200);
        assert!(output_within(Command::new("sleep").arg("60"), limit).unwrap().is_none());
        let output = output_within(Command::new("echo").arg("done"), Duration::from_secs(50));
        assert_eq!(output.unwrap().unwrap().stdout, b"done\n");
    }
}

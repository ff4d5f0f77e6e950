//! The emulated microcontroller: the QEMU firmware run over a recording.
//!
//! The model is put where probe-rs would put it, the samples come through semihosting, and
//! the firmware prints every number as its bits. Nothing is rebuilt for another model.

use std::ffi::OsString;
use std::io::{BufRead as _, BufReader, Read, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use rebearing::model::Integers;
use rebearing::monitor::{Capacities, Samples};
use rebearing::{Encoding, IntegerStatistics, Label, Statistics};
use serde::Deserialize;
use tempfile::TempDir;

use super::option;
use crate::data::counts::Counts;
use crate::data::recording::Recording;
use crate::device::embedded::{self, EmbeddedFirmware};
use crate::device::verdict_line::{parse_fault, parse_rest};
use crate::device::{DeviceClassification, DeviceFinding, Shown};
use crate::files::temporary_folder;
use crate::model::encoded::IntegerModelBytes;
use crate::progress;

/// Where the firmware's linker script has its MODEL region.
const MODEL_ADDRESS: u32 = 0x0020_0000;
/// The same on the microbit.
const MODEL_ADDRESS_M0: u32 = 0x0002_0000;
/// The emulator's program, as Debian calls its package too.
const QEMU: &str = "qemu-system-arm";

/// An emulator with a firmware to run in it.
#[derive(Debug, Clone, Deserialize)]
pub struct Emulator {
    elf: PathBuf,
    elf_m0: PathBuf,
    qemu: PathBuf,
    /// Where firmware of this command's own lies while it is used.
    #[serde(skip)]
    _unpacked: Option<Arc<TempDir>>,
}

/// What the emulated device said.
#[derive(Debug, Clone)]
pub struct EmulatedRun {
    /// The firmware's monitor type.
    pub monitor: Capacities,
    /// The RAM it says that its monitor takes.
    pub ram: usize,
    /// Its reports.
    pub reports: Vec<DeviceFinding>,
    /// What its drift watch counted, where it has one.
    pub drift: Option<EmulatedDrift>,
}

/// What the drift watch of the emulated device counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct EmulatedDrift {
    /// Blocks.
    pub blocks: usize,
    /// Those that drifted.
    pub drifted: usize,
    /// Windows of the block that was not full yet.
    pub windows: usize,
}

/// How samples are handed to the firmware.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SampleKind {
    /// 32-bit floats, any value.
    F32,
    /// 16-bit counts; the recording must hold whole numbers in their range.
    I16,
}

impl SampleKind {
    /// The kind as a firmware names it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }

    /// Bytes of a sample.
    pub fn size(self) -> usize {
        match self {
            Self::F32 => 4,
            Self::I16 => 2,
        }
    }
}

impl Emulator {
    /// Finds the firmware and QEMU: the firmware in this command, or in a checkout of the project
    /// `cargo xtask firmware`, which builds the one and installs the other where they are missing.
    ///
    /// The error is one line that says what is missing.
    pub fn find() -> Result<Self> {
        // A checkout may have moved on since this command was built; its own firmware has not.
        if let Some(firmware) = &embedded::FIRMWARE {
            return Self::unpack(firmware);
        }
        let checkout = checkout().context(
            "this command was installed without the emulated device's firmware: run it in a \
             checkout of the project, or install it there with `cargo xtask install`",
        )?;
        let cargo = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
        let output = Command::new(cargo)
            .args(["xtask", "firmware"])
            .arg(option("json"))
            .current_dir(&checkout)
            .stderr(Stdio::inherit())
            .stdin(Stdio::null())
            .output()
            .context(
                "cannot run cargo, which builds the device's firmware; install it with rustup",
            )?;
        if !output.status.success() {
            bail!("the emulated device is not available; `cargo xtask firmware` says why above");
        }
        serde_json::from_slice(&output.stdout)
            .context("`cargo xtask firmware` did not print the paths of firmware and QEMU")
    }

    /// Firmware of this command's own, in files as QEMU wants them.
    fn unpack(firmware: &EmbeddedFirmware) -> Result<Self> {
        let path = std::env::var_os("PATH").unwrap_or_default();
        let qemu = std::env::split_paths(&path)
            .map(|folder| folder.join(QEMU))
            .find(|file| file.is_file())
            .with_context(|| {
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

    /// Runs a model over a recording on the emulated device.
    pub fn run(
        &self,
        model: &[u8],
        recording: &Recording,
        samples_as: SampleKind,
    ) -> Result<EmulatedRun> {
        // No shaft turns zero times a second, so that zero stands for a speed that is not known.
        let shaft = recording.shaft_hz().unwrap_or(0.0).to_bits();
        let words = ["qemu-m4", samples_as.name(), &format!("{shaft:08x}")];
        let machine = Machine { name: "mps2-an386", elf: &self.elf, model_address: MODEL_ADDRESS };
        let samples = sample_file(recording, samples_as)?;
        let text = self.launch(&machine, &words, model, &samples, time_limit(recording))?;
        parse(&text, Numbers::F32).context("the emulated device printed something unexpected")
    }

    /// Runs an i16 model over a recording in counts on the emulated Cortex-M0.
    pub fn run_integer(&self, model: &IntegerModelBytes, counts: &Counts) -> Result<EmulatedRun> {
        let mut samples = Vec::new();
        for segment in &counts.segments {
            let frames = u32::try_from(segment.len() / counts.axes)?;
            samples.extend(frames.to_le_bytes());
            samples.extend(segment.iter().flat_map(|sample| sample.to_le_bytes()));
        }
        let address = MODEL_ADDRESS_M0;
        let machine = Machine { name: "microbit", elf: &self.elf_m0, model_address: address };
        let limit = Duration::from_secs(60 + samples.len() as u64 / 2000);
        let text = self.launch(&machine, &["qemu-m0"], model.bytes(), &samples, limit)?;
        let numbers = Numbers::I16 { counts_per_unit: model.model().counts_per_unit() };
        parse(&text, numbers).context("the emulated device printed something unexpected")
    }

    /// Runs a firmware with a model in its flash and a file of samples behind the words of its
    /// command line, and gives what it printed.
    fn launch(
        &self,
        machine: &Machine<'_>,
        words: &[&str],
        model: &[u8],
        samples: &[u8],
        limit: Duration,
    ) -> Result<String> {
        let scratch = temporary_folder()?;
        let model_path = scratch.path().join("model.rbm");
        let unwritten = "cannot write model and samples into a temporary folder";
        std::fs::write(&model_path, model).context(unwritten)?;
        let samples_path = scratch.path().join("samples.bin");
        std::fs::write(&samples_path, samples).context(unwritten)?;

        // A console of its own: QEMU's versions differ in where semihosting prints otherwise.
        let mut semihosting = String::from("enable=on,target=native,chardev=console");
        for word in words {
            semihosting.push_str(",arg=");
            semihosting.push_str(word);
        }
        semihosting.push_str(",arg=");
        semihosting.push_str(&escaped(&samples_path)?);
        let address = machine.model_address;
        let loader =
            format!("loader,file={},addr={address:#x},force-raw=on", escaped(&model_path)?);
        let mut qemu = Command::new(&self.qemu);
        qemu.args(["-M", machine.name, "-display", "none", "-monitor", "none", "-serial", "none"])
            .args(["-chardev", "stdio,id=console", "-semihosting-config"])
            .arg(semihosting)
            .args(["-device", &loader])
            .arg("-kernel")
            .arg(machine.elf)
            .stdin(Stdio::null());
        let output = output_within(&mut qemu, limit)
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

    /// The firmware for the emulated Cortex-M0.
    pub fn elf_m0(&self) -> &Path {
        &self.elf_m0
    }
}

/// A machine of QEMU, its firmware, and where that looks for the model.
struct Machine<'a> {
    name: &'static str,
    elf: &'a Path,
    model_address: u32,
}

/// A hundred times what the emulator takes on a desk, so that only one that hangs is stopped.
fn time_limit(recording: &Recording) -> Duration {
    Duration::from_secs(60 + recording.frames() as u64 * recording.axes as u64 / 2000)
}

/// What `command` printed and how it ended, or `None` if it had to be stopped.
fn output_within(command: &mut Command, limit: Duration) -> std::io::Result<Option<Output>> {
    let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    // Both streams are drained while the program runs, or it would wait for us for ever.
    let reader = |stream: Option<Box<dyn Read + Send>>| {
        thread::spawn(move || {
            let mut lines = Vec::new();
            let Some(stream) = stream else { return Ok(lines) };
            let mut stream = BufReader::new(stream);
            // A window is a line.
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

/// The project's checkout: the directory this tool was built in, or one above the current.
pub fn checkout() -> Option<PathBuf> {
    let is_checkout = |dir: &Path| dir.join("firmware-examples/Cargo.toml").is_file();
    let built_in = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors().nth(2).map(Path::to_path_buf);
    let current = std::env::current_dir().ok();
    let above = current.iter().flat_map(|dir| dir.ancestors()).map(Path::to_path_buf);
    built_in.into_iter().chain(above).find(|dir| is_checkout(dir))
}

/// A path inside a QEMU option, where a comma must be doubled.
fn escaped(path: &Path) -> Result<String> {
    let path = path.to_str().context("the temporary directory's name is not UTF-8")?;
    Ok(path.replace(',', ",,"))
}

/// Samples as the firmware reads them: for each segment its number of frames as u32, then
/// the frames, all little-endian.
fn sample_file(recording: &Recording, samples_as: SampleKind) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    for (segment, samples) in recording.segments()?.iter().enumerate() {
        let frames = u32::try_from(samples.len() / recording.axes).with_context(|| {
            format!("{}: segment {segment} is too long to emulate", recording.path.display())
        })?;
        bytes.extend(frames.to_le_bytes());
        for (i, sample) in samples.iter().enumerate() {
            match samples_as {
                SampleKind::F32 => bytes.write_all(&sample.to_le_bytes())?,
                SampleKind::I16 => {
                    let count = *sample as i16;
                    if f32::from(count).to_bits() != sample.to_bits() {
                        bail!(
                            "{}: sample {i} of segment {segment} is {sample}, not a 16-bit count; \
                             use `samples_as` f32",
                            recording.path.display()
                        );
                    }
                    bytes.write_all(&count.to_le_bytes())?;
                }
            }
        }
    }
    Ok(bytes)
}

/// What the hexadecimal numbers of a report are.
#[derive(Debug, Clone, Copy)]
enum Numbers {
    /// The bits of floats.
    F32,
    /// Integers in the units of an `IntegerFinding`.
    I16 { counts_per_unit: f32 },
}

impl Numbers {
    fn nats(self, bits: u32) -> f32 {
        match self {
            Self::F32 => f32::from_bits(bits),
            Self::I16 { .. } => Integers::shown_nats(bits.cast_signed()),
        }
    }

    fn probability(self, bits: u32) -> f32 {
        match self {
            Self::F32 => f32::from_bits(bits),
            Self::I16 { .. } => Integers::shown_probability(bits as u16),
        }
    }

    fn statistics(self, bits: [u32; 4]) -> Statistics {
        match self {
            Self::F32 => {
                let [level, rms, kurtosis, crest] = bits.map(f32::from_bits);
                Statistics { level, rms, kurtosis, crest }
            }
            Self::I16 { counts_per_unit } => {
                let [level, rms, kurtosis, crest] = bits;
                let level = level.cast_signed();
                let axis = IntegerStatistics { level, rms, kurtosis, crest };
                Integers::shown_statistics(axis, counts_per_unit)
            }
        }
    }
}

fn parse(text: &str, numbers: Numbers) -> Result<EmulatedRun> {
    let mut monitor = None;
    let mut reports = Vec::new();
    let mut announced = None;
    let mut drift = None;
    for line in text.lines() {
        let (word, rest) = line.split_once(' ').unwrap_or((line, ""));
        match word {
            "monitor" => monitor = Some(parse_monitor(rest).with_context(|| line.to_owned())?),
            "report" => reports.push(parse_report(rest, numbers).with_context(|| line.to_owned())?),
            "drift" => drift = Some(parse_drift(rest).with_context(|| line.to_owned())?),
            "done" => announced = rest.strip_prefix("reports=").and_then(|n| n.parse().ok()),
            _ => bail!("{line}"),
        }
    }
    let (monitor, ram) = monitor.context("no line says which monitor it runs")?;
    if announced != Some(reports.len()) {
        bail!("{} reports came, but it announced {announced:?}", reports.len());
    }
    Ok(EmulatedRun { monitor, ram, reports, drift })
}

/// The number behind `name=`.
fn field(rest: &str, name: &str) -> Result<usize> {
    let mut fields = rest.split(' ').filter_map(|field| field.split_once('='));
    let (_, value) = fields.find(|(key, _)| *key == name).with_context(|| format!("no {name}"))?;
    Ok(value.parse()?)
}

fn parse_drift(rest: &str) -> Result<EmulatedDrift> {
    let value = |name| field(rest, name);
    let (blocks, drifted, windows) = (value("blocks")?, value("drifted")?, value("windows")?);
    Ok(EmulatedDrift { blocks, drifted, windows })
}

fn parse_monitor(rest: &str) -> Result<(Capacities, usize)> {
    let value = |name| field(rest, name);
    let integers = !rest.contains("sample=");
    let counts = rest.contains("sample=i16");
    let monitor = Capacities {
        encoding: if integers { Encoding::I16 } else { Encoding::F32 },
        samples: if integers || counts { Samples::Counts } else { Samples::Floats },
        fft: value("fft")?,
        axes: value("axes")?,
        dims: value("dims")?,
        components: value("components")?,
        classes: value("classes")?,
    };
    Ok((monitor, value("ram")?))
}

fn parse_report(rest: &str, numbers: Numbers) -> Result<DeviceFinding> {
    let mut words = rest.split(' ');
    let index = words.next().context("no index")?.parse()?;
    let result = words.next().context("no result")?;
    if result == "sensor_fault" {
        let fault = parse_fault(words.next().context("no fault")?)?;
        let verdict = parse_rest(words)?.1;
        return Ok(DeviceFinding { index, result: Err(fault), alarm: verdict });
    }
    let label = match result.strip_prefix("class=") {
        Some(class) => Label::Class(class.parse()?),
        None if result == "unknown" => Label::Unknown,
        None if result == "unknown_fault" => Label::UnknownFault,
        None => bail!("no label"),
    };
    let bits = |hex: &str| -> Result<u32> { Ok(u32::from_str_radix(hex, 16)?) };
    let mut field = |name: &str| {
        words.next().and_then(|word| word.strip_prefix(name)).with_context(|| format!("no {name}"))
    };
    // What the device did not compute it prints as a dash.
    let optional = |hex: &str| -> Result<Option<f32>> {
        if hex == "-" { Ok(None) } else { Ok(Some(numbers.nats(bits(hex)?))) }
    };
    let gate_log_likelihood = optional(field("gate_log_likelihood=")?)?;
    let log_likelihood = optional(field("log_likelihood=")?)?;
    let posterior = field("posterior=")?
        .split(',')
        .map(|hex| Ok(numbers.probability(bits(hex)?)))
        .collect::<Result<_>>()?;
    let statistics = field("statistics=")?
        .split(';')
        .map(|axis| -> Result<Statistics> {
            let four = axis.split(',').map(bits).collect::<Result<Vec<_>>>()?;
            let four = four.try_into().ok().context("four statistics")?;
            Ok(numbers.statistics(four))
        })
        .collect::<Result<_>>()?;
    let (severity, verdict) = parse_rest(words)?;
    let finding = DeviceClassification {
        label,
        gate_log_likelihood,
        log_likelihood,
        posterior,
        statistics,
        severity,
    };
    Ok(DeviceFinding { index, result: Ok(finding), alarm: verdict })
}

#[cfg(test)]
mod tests {
    use super::{Numbers, SampleKind, output_within, sample_file};
    use crate::data::recording::Recording;
    use rebearing::{Label, SensorFault, Statistics};
    use std::process::Command;
    use std::time::Duration;

    fn parse(text: &str) -> anyhow::Result<super::EmulatedRun> {
        super::parse(text, Numbers::F32)
    }

    #[test]
    fn integers_come_in_the_unit_of_the_recordings() {
        let numbers = Numbers::I16 { counts_per_unit: 2.0 };
        let run = super::parse(
            "monitor sample=i16 fft=256 axes=1 dims=4 components=3 classes=3 ram=9\n\
             report 0 class=1 gate_log_likelihood=- log_likelihood=ffffff80 posterior=00002000,00006000 \
             statistics=00010000,00000400,00000300,00000180\n\
             done reports=1\n",
            numbers,
        )
        .unwrap();
        let found = run.reports[0].result.as_ref().unwrap();
        assert_eq!(found.log_likelihood, Some(-0.5));
        assert_eq!(found.posterior, [0.25, 0.75]);
        let axis = found.statistics[0];
        assert_eq!((axis.rms, axis.kurtosis, axis.crest), (2.0, 3.0, 1.5));
        // Twice the square of a count, of which two make a unit.
        assert!((axis.level - 0.5_f32.ln()).abs() < 1e-6, "{}", axis.level);
    }

    #[test]
    fn reports_keep_their_bits() {
        let run = parse(
            "monitor sample=f32 fft=4096 axes=1 dims=768 components=4096 classes=256 ram=99\n\
             report 0 class=1 gate_log_likelihood=- log_likelihood=c2280000 posterior=3e800000,3f400000 \
             statistics=c2280000,3f800000,40400000,40800000;00000000,3f800000,40400000,40800000\n\
             report 1 sensor_fault flat\n\
             report 2 unknown gate_log_likelihood=- log_likelihood=c4480000 posterior=3f800000,00000000 \
             statistics=c2280000,3f800000,40400000,40800000\n\
             report 3 unknown_fault gate_log_likelihood=c4480000 log_likelihood=- posterior=00000000,00000000 \
             statistics=c2280000,3f800000,40400000,40800000\n\
             drift blocks=3 drifted=1 windows=2\n\
             done reports=4\n",
        )
        .unwrap();
        let drift = super::EmulatedDrift { blocks: 3, drifted: 1, windows: 2 };
        assert_eq!(run.drift, Some(drift));
        assert_eq!((run.monitor.fft, run.ram), (4096, 99));
        let first = run.reports[0].result.as_ref().unwrap();
        assert_eq!(first.label, Label::Class(1));
        assert_eq!((first.gate_log_likelihood, first.log_likelihood), (None, Some(-42.0)));
        assert_eq!(first.posterior, [0.25, 0.75]);
        let axis = Statistics { level: -42.0, rms: 1.0, kurtosis: 3.0, crest: 4.0 };
        assert_eq!(first.statistics, [axis, Statistics { level: 0.0, ..axis }]);
        assert_eq!(run.reports[1].result, Err(SensorFault::Flat));
        assert_eq!(run.reports[2].result.as_ref().unwrap().label, Label::Unknown);
        let last = run.reports[3].result.as_ref().unwrap();
        assert_eq!(last.label, Label::UnknownFault);
        assert_eq!((last.gate_log_likelihood, last.log_likelihood), (Some(-800.0), None));
    }

    #[test]
    fn a_device_that_stops_early_is_noticed() {
        let monitor = "monitor sample=f32 fft=1 axes=1 dims=1 components=1 classes=1 ram=1\n";
        assert!(parse(monitor).is_err());
        assert!(parse(&format!("{monitor}report 0 sensor_fault flat\ndone reports=2\n")).is_err());
        assert!(parse("panicked\n").is_err());
    }

    #[test]
    fn a_program_that_hangs_is_stopped() {
        let limit = Duration::from_millis(200);
        assert!(output_within(Command::new("sleep").arg("60"), limit).unwrap().is_none());
        let output = output_within(Command::new("echo").arg("done"), Duration::from_secs(50));
        assert_eq!(output.unwrap().unwrap().stdout, b"done\n");
    }

    #[test]
    fn only_counts_go_out_as_i16() {
        let recording = |samples: Vec<f32>| Recording::in_memory("x.wav", 1, vec![samples]);
        let counts = recording(vec![1.0, -32768.0]);
        assert_eq!(sample_file(&counts, SampleKind::I16).unwrap(), [2, 0, 0, 0, 1, 0, 0, 0x80]);
        for bad in [0.5, 32768.0, f32::NAN] {
            let error = sample_file(&recording(vec![0.0, bad]), SampleKind::I16).unwrap_err();
            assert!(error.to_string().contains("sample 1"), "{error}");
        }
    }
}

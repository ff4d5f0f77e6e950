//! Runs a firmware in QEMU and compares its output with the expected one.

use crate::run::root;
use std::io::Read as _;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// A hundred times as long as any firmware takes, so only one that hangs is stopped.
const LIMIT: Duration = Duration::from_mins(5);
const LOOK_AGAIN: Duration = Duration::from_millis(20);

/// A machine of QEMU, and a file that is loaded into its memory besides the firmware.
pub(crate) struct Machine {
    /// As QEMU names it.
    pub(crate) name: &'static str,
    /// A file of the repository, and its address.
    pub(crate) file: Option<(&'static str, u32)>,
    /// The words of the firmware's command line.
    pub(crate) words: &'static [&'static str],
}

/// Runs `elf` and compares what it prints with the file `expected` of the repository.
pub(crate) fn expect(
    qemu: &Path,
    machine: &Machine,
    elf: &Path,
    expected: &str,
) -> Result<(), String> {
    let name = elf.file_name().unwrap_or_default().to_string_lossy();
    eprintln!("==> {name} on QEMU's {}", machine.name);
    let started = Instant::now();
    let printed = run(qemu, machine, elf)?;
    eprintln!("    {:.1} s", started.elapsed().as_secs_f64());
    let wanted = std::fs::read_to_string(root().join(expected))
        .map_err(|error| format!("{expected}: {error}"))?;
    match difference(&printed, &wanted) {
        None => Ok(()),
        Some(difference) => {
            Err(format!("{name} does not print what is in {expected}: {difference}"))
        }
    }
}

/// Runs `elf` and returns what it prints. Fails if the firmware does.
pub(crate) fn run(qemu: &Path, machine: &Machine, elf: &Path) -> Result<String, String> {
    let mut command = Command::new(qemu);
    command.args(["-M", machine.name, "-display", "none", "-monitor", "none", "-serial", "none"]);
    command.args(["-chardev", "stdio,id=console", "-semihosting-config"]);
    let console = "enable=on,target=native,chardev=console";
    command.arg(machine.words.iter().fold(console.to_owned(), |all, word| all + ",arg=" + word));
    if let Some((file, address)) = machine.file {
        // A comma in a file name is written twice, as in all of QEMU's options.
        let file = root().join(file).to_string_lossy().replace(',', ",,");
        command.args(["-device", &format!("loader,file={file},addr={address:#x},force-raw=on")]);
    }
    command.arg("-kernel").arg(elf).stdin(Stdio::null()).stdout(Stdio::piped());
    let program = qemu.display();
    let text = |error: std::io::Error| format!("cannot run {program}: {error}");
    let mut child = command.spawn().map_err(text)?;
    let Some(mut output) = child.stdout.take() else { return Err("QEMU has no output".into()) };
    // Read in a thread, so that a firmware that prints much is not held up.
    let reader = thread::spawn(move || {
        let mut printed = Vec::new();
        output.read_to_end(&mut printed).map(|_| printed)
    });
    let started = Instant::now();
    let status = loop {
        if let Some(status) = child.try_wait().map_err(text)? {
            break status;
        }
        if started.elapsed() > LIMIT {
            child.kill().map_err(text)?;
            child.wait().map_err(text)?;
            return Err(format!("{}: still running after {LIMIT:?}", elf.display()));
        }
        thread::sleep(LOOK_AGAIN);
    };
    let printed = reader.join().map_err(|_| "the reader of QEMU's output died")?.map_err(text)?;
    let printed = String::from_utf8_lossy(&printed).into_owned();
    if status.success() {
        Ok(printed)
    } else {
        Err(format!("{}: {status}; it printed:\n{printed}", elf.display()))
    }
}

/// Returns the first line that differs.
fn difference(printed: &str, wanted: &str) -> Option<String> {
    let (mut printed_lines, mut wanted_lines) = (printed.lines(), wanted.lines());
    for number in 1.. {
        match (printed_lines.next(), wanted_lines.next()) {
            (None, None) => break,
            (printed, wanted) if printed == wanted => {}
            (printed, wanted) => {
                let [printed, wanted] = [printed, wanted].map(|line| line.unwrap_or("(no line)"));
                return Some(format!("line {number} is\n  {printed}\nand should be\n  {wanted}"));
            }
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_that_differs_is_missing_or_too_many_is_found() {
        assert_eq!(difference("a\nb\n", "a\nb\n"), None);
        for (printed, wanted) in [("a\nc\n", "a\nb\n"), ("a\n", "a\nb\n"), ("a\nb\nc\n", "a\nb\n")]
        {
            assert!(difference(printed, wanted).is_some(), "{printed:?}");
        }
    }
}

//! Runs child processes: announces them, times them, and puts their failures into words.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus, Stdio};
use std::time::Instant;

/// Runs `command` with its output on stderr. Prints `==> what` before and the time after.
pub(crate) fn run(what: &str, command: &mut Command) -> Result<(), String> {
    announced(what, command, |command| command.stdout(io::stderr()).status())
}

/// As [`run`], but a failure also says whether the command printed `evidence`.
pub(crate) fn run_and_search(
    what: &str,
    command: &mut Command,
    evidence: &str,
) -> Result<(), (String, bool)> {
    let mut found = false;
    let result = announced(what, command, |command| {
        let output = command.stdout(io::stderr()).stderr(Stdio::piped()).output()?;
        let text = String::from_utf8_lossy(&output.stderr);
        eprint!("{text}");
        found = text.contains(evidence);
        Ok(output.status)
    });
    result.map_err(|error| (error, found))
}

fn announced(
    what: &str,
    command: &mut Command,
    start: impl FnOnce(&mut Command) -> io::Result<ExitStatus>,
) -> Result<(), String> {
    eprintln!("==> {what}\n    $ {}", words(command));
    let started = Instant::now();
    let status = start(command)
        .map_err(|error| format!("{what}: cannot start {}: {error}", program(command)))?;
    eprintln!("    {:.1} s", started.elapsed().as_secs_f64());
    if status.success() {
        Ok(())
    } else {
        Err(format!("{what}: `{}` ended with {status}", words(command)))
    }
}

/// Returns the standard output of `command` if it could be started and succeeded.
pub(crate) fn capture(command: &mut Command) -> Option<String> {
    let output = command.stdin(Stdio::null()).stderr(Stdio::null()).output().ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    output.status.success().then(|| text.trim().to_owned())
}

/// Returns the first executable file called `program` on the search path.
pub(crate) fn on_path(program: &str) -> Option<PathBuf> {
    std::env::split_paths(&std::env::var_os("PATH")?)
        .map(|directory| directory.join(program))
        .find(|file| file.is_file())
}

/// The root of the repository.
pub(crate) fn root() -> &'static Path {
    let xtask = Path::new(env!("CARGO_MANIFEST_DIR"));
    xtask.parent().unwrap_or(xtask)
}

/// Returns the output folder of a build with its own toolchain or profile: `directory` of the
/// repository, or `name` in `CARGO_TARGET_DIR` if that is set.
pub(crate) fn target_dir(name: &str, directory: &str) -> PathBuf {
    match std::env::var_os("CARGO_TARGET_DIR") {
        Some(shared) => root().join(shared).join(name),
        None => root().join(directory),
    }
}

fn program(command: &Command) -> String {
    command.get_program().to_string_lossy().into_owned()
}

fn words(command: &Command) -> String {
    let arguments = command.get_args().map(OsStr::to_string_lossy);
    arguments.fold(program(command), |line, argument| line + " " + &argument)
}

//! `cargo xtask bench methods`: every method on real data, beside POT and skada.
//!
//! ```text
//!  rebearing (release) ─┐
//!  python (venv) ───────┼─► xtask/bench/methods/main.py ─► tables
//!  data folder ─────────┘
//! ```
//!
//! The Python side makes the tasks and calls our methods as a user does, through the command.
//! `--deep` adds networks, `--quick` runs a share, and `--check` gives each of the other side's
//! methods a task with a known answer instead.

use crate::Failure;
use crate::python;
use crate::run::{root, run, target_dir};
use std::path::PathBuf;
use std::process::Command;

/// Groups of tasks, as `--only` names them.
const GROUPS: [&str; 6] = ["office", "digits", "cstr", "cwru", "uestc", "adi"];

/// Runs the methods and prints their tables, or one JSON object.
pub(crate) fn methods(words: &[&str]) -> Result<(), Failure> {
    let options = Options::parse(words)?;
    let interpreter = environment(options.deep)?;
    let mut main = Command::new(interpreter);
    main.arg(scripts().join("main.py")).args(&options.passed).env("PYTHONDONTWRITEBYTECODE", "1");
    // One thread of BLAS and one of XLA: the figures are times of methods, not of machines.
    for variable in ["OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "RAYON_NUM_THREADS"] {
        main.env(variable, "1");
    }
    if options.check {
        return Ok(run("known answers", &mut main)?);
    }
    let data = data();
    if !data.is_dir() {
        eprintln!("SKIPPED: no {}; set REBEARING_DATA to the folder of the data", data.display());
        return Ok(());
    }
    main.arg("--data").arg(data).arg("--rebearing").arg(command()?);
    let status = main.status().map_err(|error| format!("cannot start Python: {error}"))?;
    if status.success() {
        Ok(())
    } else {
        Err(Failure::Task(format!("main.py ended with {status}")))
    }
}

/// The options on the command line.
struct Options {
    /// Networks as well.
    deep: bool,
    /// Known answers instead of data.
    check: bool,
    /// The words for the Python side.
    passed: Vec<String>,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { deep: false, check: false, passed: Vec::new() };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            options.passed.push(word.to_owned());
            match word {
                "--deep" => options.deep = true,
                "--check" => options.check = true,
                "--json" | "--quick" => {}
                "--only" => {
                    let groups = words.next().copied().unwrap_or_default();
                    if groups.split(',').any(|group| !GROUPS.contains(&group)) {
                        let message = format!("--only wants some of {}", GROUPS.join(","));
                        return Err(Failure::Usage(message));
                    }
                    options.passed.push(groups.to_owned());
                }
                _ => return Err(Failure::Usage(format!("`bench methods` cannot do `{word}`"))),
            }
        }
        Ok(options)
    }
}

/// Returns the interpreter of an environment with the pinned packages.
fn environment(deep: bool) -> Result<PathBuf, String> {
    let (name, file, what) = if deep {
        ("bench-deep-venv", "requirements-deep.txt", "POT, skada and jax")
    } else {
        ("bench-methods-venv", "requirements.txt", "POT and skada")
    };
    python::environment(name, &scripts().join(file), what)
}

fn scripts() -> PathBuf {
    root().join("xtask/bench/methods")
}

/// The folder with `cwru.csv` and `matrices`: `REBEARING_DATA`, or `../shared/data` beside the
/// repository.
fn data() -> PathBuf {
    std::env::var_os("REBEARING_DATA").map_or_else(|| root().join("../shared/data"), PathBuf::from)
}

/// Builds the command and returns its path.
fn command() -> Result<PathBuf, String> {
    let directory = target_dir("", "target");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "--quiet", "--locked", "--release"]);
    run("the command", cargo.args(["--package", "rebearing-cli", "--target-dir"]).arg(&directory))?;
    Ok(directory.join("release/rebearing"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_in_any_order_and_nothing_else() {
        let parsed = Options::parse(&["--quick", "--only", "cstr,adi", "--deep"]).ok();
        let parsed = parsed.map(|o| (o.deep, o.check, o.passed.join(" ")));
        assert_eq!(parsed, Some((true, false, "--quick --only cstr,adi --deep".into())));
        for words in [&["--only"][..], &["--only", "iris"], &["--slow"]] {
            assert!(matches!(Options::parse(words), Err(Failure::Usage(_))), "{words:?}");
        }
    }

    /// Python is not a step of the tests, so a slip in a script would show only in a long run.
    #[test]
    fn every_script_is_python() {
        let python = |script: &PathBuf| {
            let text = "import ast, sys; ast.parse(open(sys.argv[1]).read())";
            Command::new("python3").args(["-c", text]).arg(script).status()
        };
        let folder = std::fs::read_dir(scripts()).expect("the folder of the scripts");
        let paths = folder.map(|entry| entry.expect("an entry").path());
        let scripts: Vec<_> =
            paths.filter(|path| path.extension() == Some("py".as_ref())).collect();
        assert!(scripts.len() > 5, "{scripts:?}");
        for script in scripts {
            // A machine without Python has nothing to check with.
            if let Ok(status) = python(&script) {
                assert!(status.success(), "{}", script.display());
            }
        }
    }
}

//! The Python package: builds the wheel, installs it in an environment of its own and tests it there.

use crate::python;
use crate::run::{root, run, target_dir};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

const FOLDER: &str = "bindings/python";

/// The step of `test`. The wheel is built with the settings of the tests, so that it shares their
/// compiled dependencies.
pub(crate) fn check() -> Result<(), String> {
    tested("dev")
}

/// As [`check`], with the wheel that users get.
pub(crate) fn release() -> Result<(), String> {
    tested("release")
}

fn tested(profile: &str) -> Result<(), String> {
    let folder = root().join(FOLDER);
    let wanted = folder.join("requirements-test.txt");
    let what = "maturin, scikit-learn, POT, skada and frames";
    let interpreter = python::environment("wheel-venv", &wanted, what)?;
    let wheel = build(&interpreter, &folder, profile)?;
    let mut pip = Command::new(&interpreter);
    pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]);
    // The same version may have other contents.
    run("installing the wheel", pip.args(["--no-deps", "--force-reinstall"]).arg(&wheel))?;
    println!("{}", wheel.display());
    let mut pytest = Command::new(&interpreter);
    // The folder of the tests has no package to import by mistake.
    pytest.current_dir(folder.join("tests")).args(["-m", "pytest", "--quiet"]);
    run("the wheel's tests", pytest.args(["-p", "no:cacheprovider"]))
}

/// Builds the wheel and returns its path.
fn build(interpreter: &Path, folder: &Path, profile: &str) -> Result<PathBuf, String> {
    let out = target_dir("wheel", "target/wheel").join(profile);
    // An older wheel would be found too.
    let _ = fs::remove_dir_all(&out);
    let mut maturin = Command::new(interpreter);
    maturin.current_dir(folder).args(["-m", "maturin", "build", "--locked", "--profile", profile]);
    // `profile.test` is `dev` with this level. It cannot be named: a library built with it is a test.
    maturin.env("CARGO_PROFILE_DEV_OPT_LEVEL", "2");
    run("the wheel", maturin.arg("--out").arg(&out))?;
    let files = fs::read_dir(&out).map_err(|error| format!("{}: {error}", out.display()))?;
    let mut files = files.filter_map(Result::ok).map(|file| file.path());
    let wheel = files.find(|file| file.extension().is_some_and(|extension| extension == "whl"));
    wheel.ok_or_else(|| format!("{}: maturin wrote no wheel", out.display()))
}

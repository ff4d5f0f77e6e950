//! Everything that is built, checked or measured around the crates: `cargo xtask help`.
//!
//! ```text
//!  main ─┬─► test ─────┬─► panics ─────────┐
//!        │             ├─► boards, soak ─┤ │
//!        ├─► fuzz ─────┼─────────────────┤ │
//!        ├─► firmware ─┼─► emulation ◄───┘ ├─► packages
//!        ├─► size ─────┴─► qemu, toolchain ┤
//!        ├─► report_test ──────────────────┘
//!        ├─► install, package, wheel, msrv, deny ─► licences: what leaves the repository
//!        ├─► pictures
//!        └─► bench
//! ```
//! Whatever installs something goes through `consent`.
//!
//! Progress and the output of child processes go to stderr, results to stdout.

mod bench;
mod boards;
mod bus;
mod consent;
mod deny;
mod emulation;
mod firmware;
mod fuzz;
mod install;
mod licences;
mod manifests;
mod msrv;
mod package;
mod packages;
mod panics;
mod python;
mod qemu;
mod report_test;
mod run;
mod size;
mod soak;
mod test;
mod toolchain;
mod wheel;

use std::process::ExitCode;

const HELP: &str = "\
cargo xtask test [STEP…]      runs all checks, or only the named ones; sets up what is missing
cargo xtask firmware [--json] builds the firmware for QEMU; prints its path and QEMU's path
cargo xtask size              prints flash and RAM of each firmware binary
cargo xtask bench host [--json] [--quick] [--threads N]
                              compares the host engine, scikit-learn and POT: ratios, growth, profile
cargo xtask bench device [receiver] [--json]
                              counts instructions on emulated Cortex-M: mixtures, stages, emlearn,
                              and the receiver of new models, or only the last
cargo xtask bench methods [--deep] [--quick] [--json] [--only GROUP,…] [--check]
                              compares our methods, POT's and skada's on real data; --deep adds
                              networks; --check gives theirs tasks with a known answer
cargo xtask operation         simulates a million windows of operation: alarms, false alarms, delays
cargo xtask fuzz              damages millions of model files, on the host and on an emulated core
cargo xtask install [OPTION…] installs the command, with the emulated device's firmware in it
cargo xtask pictures          draws the pictures of docs/
cargo xtask package           builds both packages from their own files
cargo xtask deny              checks licences, sources and advisories of all dependencies by deny.toml
cargo xtask wheel             builds the Python package and tests it
cargo xtask large             adapts to a recording of 1 GB, and measures the peak memory
cargo xtask report-test       reports of every kind in headless Chromium, with screenshots to look at
cargo xtask help              this text

A task that misses a program asks before it installs it, or takes --yes. `test` installs what is
missing without a question, and says so first.";

/// Why a task ended early.
pub(crate) enum Failure {
    /// The words on the command line make no sense: exit code 2.
    Usage(String),
    /// A check failed: exit code 1; something is missing that may not be installed: 2.
    Task(String),
}

impl From<String> for Failure {
    fn from(message: String) -> Self {
        Self::Task(message)
    }
}

fn main() -> ExitCode {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let mut words: Vec<&str> = words.iter().map(String::as_str).collect();
    if words.contains(&"--yes") {
        consent::give();
        words.retain(|word| *word != "--yes");
    }
    match dispatch(&words) {
        Ok(()) => ExitCode::SUCCESS,
        Err(Failure::Usage(message)) => {
            eprintln!("xtask: {message}\n{HELP}\nsteps of `test`: {}", test::names());
            ExitCode::from(2)
        }
        Err(Failure::Task(message)) => {
            eprintln!("xtask: {message}");
            if consent::refused() { ExitCode::from(2) } else { ExitCode::FAILURE }
        }
    }
}

fn dispatch(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["test", steps @ ..] => test::check(steps),
        ["firmware"] => Ok(firmware::print(false)?),
        ["firmware", "--json"] => Ok(firmware::print(true)?),
        ["bench", "host", options @ ..] => bench::host(options),
        ["bench", "device", options @ ..] => bench::device::bench(options),
        ["bench", "methods", options @ ..] => bench::methods::methods(options),
        ["size"] => Ok(size::print()?),
        ["operation"] => Ok(test::operation()?),
        ["fuzz"] => Ok(fuzz::long()?),
        ["install", options @ ..] => install::install(options),
        ["pictures"] => Ok(test::pictures()?),
        ["package"] => Ok(package::verify()?),
        ["deny"] => Ok(deny::check()?),
        ["wheel"] => Ok(wheel::release()?),
        ["large"] => Ok(test::large()?),
        ["report-test"] => Ok(report_test::check()?),
        ["help" | "--help" | "-h"] => {
            println!("{HELP}\n\nsteps of `test`: {}", test::names());
            Ok(())
        }
        [] => Err(Failure::Usage("what to do?".into())),
        _ => Err(Failure::Usage(format!("cannot do `{}`", words.join(" ")))),
    }
}

//! `cargo xtask bench host`: the host engine against scikit-learn and POT, on the same files.
//!
//! ```text
//!  python ─► worker ─┬─► rows ──► agreement ─┐
//!  (venv, data)      ├─► scaling ────────────┼─► report
//!                    └─► profile ────────────┘
//! ```
//!
//! Both sides run as processes that wait for tasks. They take turns, so other load on the machine
//! disturbs both. The shortest time counts. The Python side runs with one thread and with all, and
//! the faster counts. CPU time and peak memory come from Linux's /proc. Nothing is asserted about
//! times. Results that do not agree are a failure.

mod agreement;
pub(crate) mod device;
mod json;
mod measure;
pub(crate) mod methods;
mod profile;
mod python;
mod report;
mod rows;
mod scaling;
mod worker;

use crate::Failure;
use crate::run::{root, run, target_dir};
use json::Json;
use std::path::PathBuf;
use std::process::Command;
use worker::Sides;

/// The options on the command line.
struct Options {
    /// One JSON object instead of tables.
    json: bool,
    /// Fewer rounds.
    quick: bool,
    /// Number of threads of each side.
    threads: usize,
}

impl Options {
    fn parse(words: &[&str]) -> Result<Self, Failure> {
        let mut options = Self { json: false, quick: false, threads: 2 };
        let mut words = words.iter();
        while let Some(&word) = words.next() {
            match word {
                "--json" => options.json = true,
                "--quick" => options.quick = true,
                "--threads" => {
                    let count = words.next().and_then(|count| count.parse().ok());
                    options.threads = count
                        .filter(|&count| count > 0)
                        .ok_or_else(|| Failure::Usage("--threads wants a number".into()))?;
                }
                _ => return Err(Failure::Usage(format!("`bench host` cannot do `{word}`"))),
            }
        }
        Ok(options)
    }
}

/// Measures both sides and prints ratios, growth and the profile.
pub(crate) fn host(words: &[&str]) -> Result<(), Failure> {
    let options = Options::parse(words)?;
    let interpreter = python::environment()?;
    let engine = build_engine()?;
    let data = python::data(&interpreter)?;
    let mut sides = Sides::start(&interpreter, &engine, data, options.threads)?;

    let about = report::About::of(&mut sides)?;
    let mut measured = Vec::new();
    for row in rows::all() {
        let result = measure::row(&mut sides, &row, options.quick)?;
        eprintln!("    {}", report::progress(&result));
        measured.push(result);
    }
    let growths = scaling::growths(&mut sides, options.quick)?;
    let memories = scaling::memories(&sides)?;
    let profiles = profile::all(&mut sides, options.quick)?;

    if options.json {
        let object = Json::object([
            ("about", about.json()),
            ("rows", Json::list(measured.iter().map(report::json))),
            ("growth", Json::list(growths.iter().map(scaling::Growth::json))),
            ("memory", Json::list(memories.iter().map(scaling::Memory::json))),
            ("profile", profiles.json()),
        ]);
        println!("{object}");
    } else {
        print!("{}{}", about.text(), report::table(&measured));
        for growth in &growths {
            print!("{}", growth.text());
        }
        print!("{}", scaling::memory_table(&memories));
        print!("{}", profiles.text());
    }
    let apart = measured.iter().filter(|row| !row.agreement.agrees).count();
    if apart > 0 {
        return Err(Failure::Task(format!("{apart} rows with results that do not agree")));
    }
    Ok(())
}

/// Builds the Rust side and returns its executable.
fn build_engine() -> Result<PathBuf, String> {
    let directory = target_dir("", "target");
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["build", "--quiet", "--locked", "--release"]);
    cargo.args(["--package", "rebearing-host", "--example", "bench_host"]);
    run("the host engine", cargo.arg("--target-dir").arg(&directory))?;
    Ok(directory.join("release/examples/bench_host"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_in_any_order_and_nothing_else() {
        let parsed = Options::parse(&["--threads", "3", "--json"]).ok();
        assert_eq!(parsed.map(|o| (o.json, o.quick, o.threads)), Some((true, false, 3)));
        for words in [&["--threads"][..], &["--threads", "0"], &["--threads", "x"], &["fast"]] {
            assert!(matches!(Options::parse(words), Err(Failure::Usage(_))), "{words:?}");
        }
    }
}

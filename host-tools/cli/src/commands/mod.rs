//! The command line: one file a subcommand, each a thin layer over the library.

mod adapt;
mod completions;
mod demo;
mod doctor;
mod emulate;
mod evaluate;
mod fit;
mod flash;
mod frequencies;
mod gmm;
mod inspect;
mod manifest;
mod plan;
mod predict;
mod report;
mod simulate;
mod watch;

use anyhow::Result;
use clap::{Parser, Subcommand};
use serde_json::Value;

/// Fault labels for a machine you have just put a sensor on, carried over from machines
/// you know, and evaluated on a Cortex-M in fixed memory.
#[derive(Debug, Parser)]
#[command(
    name = "rebearing",
    version,
    max_term_width = 100,
    after_help = "Examples:
  rebearing demo
  rebearing doctor

Every command has examples of its own: rebearing fit --help"
)]
pub struct Cli {
    /// One JSON object on standard output, everything else on standard error.
    #[arg(long, global = true)]
    pub json: bool,
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
enum Command {
    Demo(demo::DemoArgs),
    Simulate(simulate::SimulateArgs),
    Manifest(manifest::ManifestArgs),
    Fit(fit::FitArgs),
    Frequencies(frequencies::FrequenciesArgs),
    Gmm(gmm::GmmArgs),
    Adapt(adapt::AdaptArgs),
    Inspect(inspect::InspectArgs),
    Predict(predict::PredictArgs),
    Emulate(emulate::EmulateArgs),
    Flash(flash::FlashArgs),
    Report(report::ReportArgs),
    Plan(plan::PlanArgs),
    Evaluate(evaluate::EvaluateArgs),
    Watch(watch::WatchArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
}

/// A path in JSON: one that is not UTF-8 has no other form there.
fn shown(path: &std::path::Path) -> String {
    path.display().to_string()
}

/// What a command has to say, for people and for scripts.
#[derive(Debug)]
pub struct Outcome {
    /// For people.
    pub text: String,
    /// For scripts.
    pub json: Value,
    /// Whether what the command checks holds; a command that only computes always succeeds.
    pub success: bool,
}

impl Outcome {
    /// An outcome of a command that only computes.
    pub fn new(text: String, json: Value) -> Self {
        Self { text, json, success: true }
    }
}

impl Cli {
    /// Whether the text is for a program, and not to be fitted into a terminal.
    pub fn verbatim(&self) -> bool {
        matches!(self.command, Command::Completions(_))
    }

    /// Runs the command. An error means bad input: exit code 2.
    pub fn run(&self) -> Result<Outcome> {
        match &self.command {
            Command::Demo(args) => demo::run(args),
            Command::Simulate(args) => simulate::run(args),
            Command::Manifest(args) => manifest::run(args),
            Command::Fit(args) => fit::run(args),
            Command::Frequencies(args) => frequencies::run(args),
            Command::Gmm(args) => gmm::run(args),
            Command::Adapt(args) => adapt::run(args),
            Command::Inspect(args) => inspect::run(args),
            Command::Predict(args) => predict::run(args),
            Command::Emulate(args) => emulate::run(args),
            Command::Flash(args) => flash::run(args),
            Command::Report(args) => report::run(args),
            Command::Plan(args) => plan::run(args),
            Command::Evaluate(args) => evaluate::run(args),
            Command::Watch(args) => watch::run(args, self.json),
            Command::Doctor(args) => Ok(doctor::run(args)),
            Command::Completions(args) => completions::run(args),
        }
    }
}

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
mod key;
mod manifest;
mod plan;
mod predict;
mod report;
mod send;
mod sign;
mod simulate;
mod status;
mod transfer;
mod watch;

use anyhow::{Context as _, Result};
use clap::{Parser, Subcommand};
use serde_json::Value;

use crate::text::colour;

/// Carries fault labels from machines you know to a machine you have just put a sensor on, and
/// runs the result on a Cortex-M in fixed memory.
#[derive(Debug, Parser)]
#[command(
    name = "rebearing",
    version,
    max_term_width = 100,
    after_help = "Examples:
  rebearing demo
  rebearing doctor

Each command shows examples in its help: rebearing fit --help"
)]
pub struct Cli {
    /// Print one JSON object on standard output, and everything else on standard error.
    #[arg(long, global = true)]
    pub json: bool,
    /// Threads to work with [default: one for each processor]. The results are the same for any
    /// number.
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
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
    Key(key::KeyArgs),
    Sign(sign::SignArgs),
    Flash(flash::FlashArgs),
    Send(send::SendArgs),
    Status(status::StatusArgs),
    Report(report::ReportArgs),
    Plan(plan::PlanArgs),
    Evaluate(evaluate::EvaluateArgs),
    Transfer(transfer::TransferArgs),
    Watch(watch::WatchArgs),
    Doctor(doctor::DoctorArgs),
    Completions(completions::CompletionsArgs),
}

/// A path as text for JSON. Bytes that are not UTF-8 are replaced, because JSON cannot hold them.
fn shown(path: &std::path::Path) -> String {
    path.display().to_string()
}

/// The result of a command, for people and for scripts.
#[derive(Debug)]
pub struct Outcome {
    /// The result as text for people.
    pub text: String,
    /// The result as JSON for scripts.
    pub json: Value,
    /// False if the command checked something and it does not hold. A command that only computes
    /// always succeeds.
    pub success: bool,
}

impl Outcome {
    /// Returns the outcome of a command that only computes.
    pub fn new(text: String, json: Value) -> Self {
        Self { text, json, success: true }
    }
}

impl Cli {
    /// Returns true if the text is for a program and must not be fitted into a terminal.
    pub fn verbatim(&self) -> bool {
        matches!(self.command, Command::Completions(_))
    }

    /// Returns the printed text with the colours of the command.
    pub fn painted(&self, text: &str) -> String {
        if matches!(self.command, Command::Doctor(_)) {
            return doctor::painted(text, colour::on_stdout());
        }
        text.to_owned()
    }

    /// Runs the command. An error means bad input: exit code 2.
    pub fn run(&self) -> Result<Outcome> {
        let Some(threads) = self.threads else { return self.run_here() };
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads.into()).build();
        pool.with_context(|| format!("--threads {threads}: give fewer"))?
            .install(|| self.run_here())
    }

    fn run_here(&self) -> Result<Outcome> {
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
            Command::Key(args) => key::run(args),
            Command::Sign(args) => sign::run(args),
            Command::Flash(args) => flash::run(args),
            Command::Send(args) => send::run(args),
            Command::Status(args) => status::run(args, self.json),
            Command::Report(args) => report::run(args),
            Command::Plan(args) => plan::run(args),
            Command::Evaluate(args) => evaluate::run(args),
            Command::Transfer(args) => transfer::run(args),
            Command::Watch(args) => watch::run(args, self.json),
            Command::Doctor(args) => Ok(doctor::run(args)),
            Command::Completions(args) => completions::run(args),
        }
    }
}

//! `rebearing transfer`: carries labels from one matrix to another, with any method.

mod outcome;
mod read;
mod run;

use std::path::PathBuf;

use anyhow::{Result, bail};
use clap::Args;
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::baselines::{self, ClassifierKind};
use rebearing_host::evaluate::EvaluatedMethod;
use rebearing_host::files::{matrix, output};
use rebearing_host::matrices::{MapKind, MatrixSettings, Scale};
use rebearing_host::mixture::CovarianceKind;

use super::Outcome;
use crate::args::choice::{Choice as _, OneOrAll, choice, choice_or_all};
use crate::args::em::EmArgs;
use crate::args::solver::SolverArgs;

/// Carry labels from one matrix to another: rows with labels in, labels for other rows out
///
/// Matrices have one row per sample and one column per feature, as .npy, .csv or .parquet. Labels
/// are whole numbers or texts. Methods adapt to the rows of --target-x and label them. With --test-x
/// they label other rows of the target.
///
/// Labels of the target only count how many are right; no method sees them.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing transfer --source-x xs.npy --source-y ys.npy --target-x xt.npy --out yt.npy
  rebearing transfer --source-x xs.csv --source-y ys.csv --target-x xt.csv --target-y yt.csv --method all
  rebearing transfer --source-x xs.npy --source-y ys.npy --target-x xt.npy --method gmm-otda-t --scale each
  rebearing transfer --source-x xs.npy --source-y ys.npy --target-x xt.npy --map weight --map-out moved.npy
  rebearing gmm --data xs.npy --labels ys.npy --components 2 --out g.json
  rebearing transfer --source-mixture g.json --target-x xt.npy --out yt.npy")]
pub(super) struct TransferArgs {
    /// Rows of the source
    #[arg(long, value_name = "XS", required_unless_present = "source_mixture")]
    source_x: Option<PathBuf>,
    /// Label of each source row
    #[arg(long, value_name = "YS", required_unless_present = "source_mixture")]
    source_y: Option<PathBuf>,
    /// Labelled mixture that `rebearing gmm --labels` wrote, in place of the source's rows
    #[arg(long, value_name = "G.json", conflicts_with_all = ["source_x", "source_y"])]
    source_mixture: Option<PathBuf>,
    /// Rows of the target, to adapt to
    #[arg(long, value_name = "XT")]
    target_x: PathBuf,
    /// Label of each target row, to count how many are right
    #[arg(long, value_name = "YT")]
    target_y: Option<PathBuf>,
    /// Rows of the target to label [default: the rows of --target-x]
    #[arg(long, value_name = "X", conflicts_with = "target_y")]
    test_x: Option<PathBuf>,
    /// Label of each test row, to count how many are right
    #[arg(long, value_name = "Y", requires = "test_x")]
    test_y: Option<PathBuf>,
    /// How labels are carried over; all compares every method
    #[arg(long, value_name = "NAME|all", value_parser = choice_or_all::<EvaluatedMethod>(), default_value = EvaluatedMethod::Guarded.choice_name())]
    method: OneOrAll<EvaluatedMethod>,
    /// How the matrices are standardised
    #[arg(long, value_parser = choice::<Scale>(), default_value = Scale::default().choice_name())]
    scale: Scale,
    #[command(flatten)]
    em: EmArgs,
    /// Shape of the covariances
    #[arg(long, value_name = "KIND", value_parser = choice::<CovarianceKind>(), default_value = CovarianceKind::Diagonal.choice_name())]
    covariance: CovarianceKind,
    #[command(flatten)]
    solver: SolverArgs,
    /// Most rows of each domain in a plan between rows; more are thinned
    #[arg(long, value_name = "N", default_value_t = baselines::Settings::default().max_samples)]
    max_samples: usize,
    /// Classifier that is trained on the source's moved rows. gmm-otda-t always trains a softmax
    #[arg(long, value_parser = choice::<ClassifierKind>(), default_value = ClassifierKind::Softmax.choice_name())]
    classifier: ClassifierKind,
    /// Your knowledge about the target's rows, for guarded
    #[arg(long, value_parser = choice::<Pool>(), default_value = Pool::All.choice_name())]
    pool_is: Pool,
    /// Accuracy from which guarded trusts carried labels. It adapts if it predicts at least this
    #[arg(long, value_name = "ACCURACY", default_value_t = MatrixSettings::default().promise)]
    promise: f64,
    /// Let guarded name classes although its verdict is to abstain
    #[arg(long)]
    force: bool,
    /// Seed of all random numbers
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Where to write the labels, one for each row: .npy, .csv or .parquet
    #[arg(long, value_name = "Y")]
    out: Option<PathBuf>,
    /// Where to write the probability of each class (column) for each row: .npy, .csv or .parquet
    #[arg(long, value_name = "P")]
    probabilities: Option<PathBuf>,
    /// Map that moves the source's rows to the target
    #[arg(long, value_name = "MAP", value_parser = choice::<MapKind>(), requires = "map_out")]
    map: Option<MapKind>,
    /// Where to write the moved rows. Origin, weight and label of each go to M.rows.csv beside it
    #[arg(long, value_name = "M.npy", requires = "map")]
    map_out: Option<PathBuf>,
}

pub(super) fn run(args: &TransferArgs) -> Result<Outcome> {
    args.check()?;
    run::run(args)
}

impl TransferArgs {
    fn settings(&self) -> MatrixSettings {
        MatrixSettings {
            scale: self.scale,
            methods: baselines::Settings {
                seed: self.seed,
                components_per_class: self.em.components,
                target_components: None,
                covariance: self.covariance,
                variance_floor: self.em.variance_floor,
                restarts: self.em.restarts,
                plan: self.solver.settings(),
                max_samples: self.max_samples,
                classifier: self.classifier,
                ..baselines::Settings::default()
            },
            pool_is: self.pool_is,
            promise: self.promise,
            force: self.force,
        }
    }

    /// Refuses what cannot work before any matrix is read.
    fn check(&self) -> Result<()> {
        self.settings().check()?;
        if self.method == OneOrAll::All {
            for (flag, path) in [("--out", &self.out), ("--probabilities", &self.probabilities)] {
                if path.is_some() {
                    bail!("{flag} holds the result of one method; name it with --method");
                }
            }
        }
        if let Some(path) = &self.map_out
            && path.extension().is_none_or(|extension| extension != "npy")
        {
            bail!("{}: moved rows are written as .npy; use --map-out M.npy", path.display());
        }
        for path in [&self.out, &self.probabilities, &self.map_out].into_iter().flatten() {
            matrix::check_extension(path)?;
            output::check_writable(path)?;
        }
        Ok(())
    }

    /// The methods to run.
    fn methods(&self) -> Vec<EvaluatedMethod> {
        match self.method {
            OneOrAll::One(method) => vec![method],
            OneOrAll::All => EvaluatedMethod::ALL.iter().map(|(method, ..)| *method).collect(),
        }
    }
}

//! `rebearing gmm`: fits a Gaussian mixture to a feature matrix with EM.

use std::fmt::Write as _;
use std::path::PathBuf;

use anyhow::{Context as _, Result};
use clap::{Args, ValueEnum};
use ndarray::Axis;
use serde_json::{Value, json};

use super::{Outcome, shown};
use crate::progress::Step;
use rebearing_host::files::matrix::{self, Matrix};
use rebearing_host::files::output;
use rebearing_host::mixture::{Covariance, CovarianceKind, EmSettings, Fit, Start, fit};
use rebearing_host::words::plural;

/// Fit a Gaussian mixture to a feature matrix with EM.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing gmm --data x.npy --components 20 --out g.json\n\n\
    The output has weights, means and covariances as nested lists in the shapes of \
    scikit-learn's GaussianMixture.")]
pub(super) struct GmmArgs {
    /// Samples × features as .npy, .csv or .parquet; a vector is one feature.
    #[arg(long, value_name = "X.npy|.csv|.parquet")]
    data: PathBuf,
    /// Number of components.
    #[arg(long, value_name = "K")]
    components: usize,
    /// Shape of the covariances.
    #[arg(long, value_name = "KIND", value_enum, default_value_t = Kind::Diag)]
    covariance: Kind,
    /// Means to start from, components × features [default: k-means from k-means++ seeds].
    #[arg(long, value_name = "MEANS.npy|.csv|.parquet")]
    init: Option<PathBuf>,
    /// Seed of the starts; the same seed gives the same mixture.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    /// Starts, each from new seeds; the likeliest fit is kept. Given means allow only one start.
    #[arg(long, value_name = "R", default_value_t = 1)]
    restarts: usize,
    /// Stop when the mean log-likelihood changes by less than this.
    #[arg(long, value_name = "TOL", default_value_t = 1e-3)]
    tolerance: f64,
    /// Stop after this many iterations.
    #[arg(long, value_name = "N", default_value_t = 100)]
    max_iterations: usize,
    /// Value to add to every variance, so that none is smaller.
    #[arg(long, value_name = "V", default_value_t = 1e-6)]
    variance_floor: f64,
    /// Where to write the mixture.
    #[arg(long, value_name = "G.json")]
    out: PathBuf,
}

/// Shape of the covariances, by scikit-learn's names.
#[derive(Debug, Clone, Copy, ValueEnum)]
enum Kind {
    /// A variance per component and feature.
    Diag,
    /// A matrix per component.
    Full,
    /// A variance per component.
    Spherical,
    /// One matrix for all components.
    Tied,
}

impl Kind {
    fn kind(self) -> CovarianceKind {
        match self {
            Self::Diag => CovarianceKind::Diagonal,
            Self::Full => CovarianceKind::Full,
            Self::Spherical => CovarianceKind::Spherical,
            Self::Tied => CovarianceKind::Tied,
        }
    }

    fn name(self) -> String {
        self.to_possible_value().map_or_else(String::new, |value| value.get_name().into())
    }
}

pub(super) fn run(args: &GmmArgs) -> Result<Outcome> {
    output::check_writable(&args.out)?;
    let data = matrix::read(&args.data)?;
    let start = match &args.init {
        Some(path) => Start::Means(matrix::read(path)?.into_f64()),
        None => Start::KMeans,
    };
    let settings = EmSettings {
        components: args.components,
        covariance: args.covariance.kind(),
        tolerance: args.tolerance,
        max_iterations: args.max_iterations,
        variance_floor: args.variance_floor,
        restarts: args.restarts,
        seed: args.seed,
        start,
        ..EmSettings::new(args.components)
    };
    let (samples, features) = data.dim();
    let fitted = {
        let _step =
            Step::start(format!("fitting {}", plural(args.components, "component", "components")));
        match &data {
            Matrix::F32(x) => fit(x.view(), None, &settings, &|_| {}),
            Matrix::F64(x) => fit(x.view(), None, &settings, &|_| {}),
        }
    };
    // An error about the start is about the file of the means.
    let fitted = fitted.with_context(|| match &args.init {
        Some(init) => format!("{} from {}", args.data.display(), init.display()),
        None => args.data.display().to_string(),
    })?;
    let json = to_json(args, samples, features, &fitted);
    output::write(&args.out, format!("{json}\n").as_bytes())?;
    Ok(Outcome::new(text(args, samples, features, &fitted), json))
}

fn text(args: &GmmArgs, samples: usize, features: usize, fit: &Fit) -> String {
    let mut text = format!(
        "{} ({}) of {} × {} -> {}\n\
         mean log-likelihood {:.6} after {}",
        plural(args.components, "component", "components"),
        args.covariance.name(),
        plural(samples, "sample", "samples"),
        plural(features, "feature", "features"),
        args.out.display(),
        fit.log_likelihood,
        plural(fit.iterations, "iteration", "iterations"),
    );
    if !fit.converged {
        text.push_str("; the tolerance was not reached: raise --max-iterations");
    }
    if fit.reseeded > 0 {
        let _ = write!(
            text,
            "\n{} a component without samples got a new mean",
            plural(fit.reseeded, "time", "times")
        );
    }
    if !fit.constant_columns.is_empty() {
        let _ = write!(
            text,
            "\nconstant features, with --variance-floor as their only variance: {:?}",
            fit.constant_columns
        );
    }
    text
}

fn to_json(args: &GmmArgs, samples: usize, features: usize, fit: &Fit) -> Value {
    let rows = |matrix: ndarray::ArrayView2<f64>| -> Value {
        matrix.outer_iter().map(|row| Value::from(row.to_vec())).collect()
    };
    let covariances: Value = match &fit.mixture.covariance {
        Covariance::Diagonal(v) | Covariance::Tied(v) => rows(v.view()),
        Covariance::Spherical(v) => Value::from(v.to_vec()),
        Covariance::Full(v) => v.axis_iter(Axis(0)).map(rows).collect(),
    };
    json!({
        "data": shown(&args.data),
        "samples": samples,
        "features": features,
        "components": args.components,
        "covariance": args.covariance.name(),
        "seed": args.seed,
        "restart": fit.restart,
        "variance_floor": args.variance_floor,
        "tolerance": args.tolerance,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "reseeded": fit.reseeded,
        "constant_features": fit.constant_columns,
        "log_likelihood": fit.log_likelihood,
        "weights": fit.mixture.weights.to_vec(),
        "means": rows(fit.mixture.means.view()),
        "covariances": covariances,
    })
}

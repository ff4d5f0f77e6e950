//! `rebearing gmm`: fits a Gaussian mixture to a feature matrix with EM, or scores rows with a saved
//! one.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail};
use clap::Args;
use ndarray::Array2;
use rebearing_host::files::matrix::{self, Labels, Matrix};
use rebearing_host::files::output;
use rebearing_host::matrices::{Classes, SavedLabels, SavedMixture, Scaling, check_source};
use rebearing_host::mixture::{
    ComponentCount, CovarianceKind, EmSettings, Mixture, Sample, Start, fit, fit_conditional,
};
use rebearing_host::words::plural;

use super::{Outcome, shown};
use crate::args::choice::{Choice as _, choice};
use crate::progress::Step;
use crate::text::mixture::{Course, Fitted};

/// Fit a Gaussian mixture to a feature matrix with EM, or score rows with a saved one.
///
/// With --labels, every class gets a mixture of its own, with --components components each. All
/// classes have the same weight. Such a file is a source for `rebearing transfer`.
///
/// With --mixture, nothing is fitted: the mean log-likelihood of the rows is printed, and --scores and
/// --responsibilities write the figures of each row.
#[derive(Debug, Args)]
#[command(after_help = "Examples:
  rebearing gmm --data x.npy --components 20 --out g.json
  rebearing gmm --data x.npy --labels y.npy --components 2 --out g.json
  rebearing gmm --mixture g.json --data x.npy --scores s.npy --responsibilities r.npy

The output has weights, means and covariances as nested lists in the shapes of scikit-learn's \
GaussianMixture.")]
pub(super) struct GmmArgs {
    /// Samples × features as .npy, .csv or .parquet; a vector is one feature.
    #[arg(long, value_name = "X.npy|.csv|.parquet")]
    data: PathBuf,
    /// Label of each sample: fit a mixture for each class.
    #[arg(long, value_name = "Y.npy|.csv|.parquet", conflicts_with_all = ["mixture", "init"])]
    labels: Option<PathBuf>,
    /// Saved mixture to score the data with.
    #[arg(long, value_name = "G.json", conflicts_with_all = ["components", "init", "out"])]
    mixture: Option<PathBuf>,
    /// Number of components; with --labels, of each class.
    #[arg(long, value_name = "K", required_unless_present = "mixture")]
    components: Option<usize>,
    /// Shape of the covariances.
    #[arg(long, value_name = "KIND", value_parser = choice::<CovarianceKind>(), default_value = CovarianceKind::Diagonal.choice_name())]
    covariance: CovarianceKind,
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
    #[arg(long, value_name = "G.json", required_unless_present = "mixture")]
    out: Option<PathBuf>,
    /// Where to write the log-likelihood of each row: .npy, .csv or .parquet.
    #[arg(long, value_name = "S.npy")]
    scores: Option<PathBuf>,
    /// Where to write the share of each component (column) in each row: .npy, .csv or .parquet.
    #[arg(long, value_name = "R.npy")]
    responsibilities: Option<PathBuf>,
}

pub(super) fn run(args: &GmmArgs) -> Result<Outcome> {
    if let Some(out) = &args.out {
        output::check_writable(out)?;
    }
    for path in [&args.scores, &args.responsibilities].into_iter().flatten() {
        matrix::check_extension(path)?;
        output::check_writable(path)?;
    }
    match matrix::read(&args.data)? {
        Matrix::F32(x) => run_on(args, &x),
        Matrix::F64(x) => run_on(args, &x),
    }
}

fn run_on<T: Sample>(args: &GmmArgs, x: &Array2<T>) -> Result<Outcome> {
    if let Some(path) = &args.mixture {
        let saved = SavedMixture::read(path)?;
        let log_likelihood = write_rows(args, &saved.mixture, x)?;
        let (samples, components) = (x.nrows(), saved.mixture.components());
        let text = format!(
            "{} under the {} of {}: mean log-likelihood {log_likelihood:.6}",
            plural(samples, "sample", "samples"),
            plural(components, "component", "components"),
            path.display()
        );
        let mut json = serde_json::json!({
            "mixture": shown(path),
            "data": shown(&args.data),
            "samples": samples,
            "components": components,
            "log_likelihood": log_likelihood,
        });
        args.add_outputs(&mut json);
        return Ok(Outcome::new(text, json));
    }
    let (saved, course) = match &args.labels {
        Some(labels) => labelled(args, x, &matrix::read_labels(labels)?)?,
        None => unlabelled(args, x)?,
    };
    // EM's own figure is that of the parameters before its last step.
    let log_likelihood = write_rows(args, &saved.mixture, x)?;
    let Some(out) = &args.out else { bail!("give --out G.json") };
    let fitted = Fitted {
        saved: &saved,
        course: &course,
        log_likelihood,
        samples: x.nrows(),
        settings: &args.settings()?,
        data: &args.data,
        out,
    };
    let mut json = fitted.to_json();
    output::write(out, format!("{json}\n").as_bytes())?;
    args.add_outputs(&mut json);
    Ok(Outcome::new(fitted.text(), json))
}

fn unlabelled<T: Sample>(args: &GmmArgs, x: &Array2<T>) -> Result<(SavedMixture, Course)> {
    let fitted = {
        let what = plural(args.components(), "component", "components");
        let _step = Step::start(format!("fitting {what}"));
        fit(x.view(), None, &args.settings()?, &|_| {})
    };
    // An error about the start is about the file of the means.
    let fitted = fitted.with_context(|| match &args.init {
        Some(init) => format!("{} from {}", args.data.display(), init.display()),
        None => args.data.display().to_string(),
    })?;
    Ok((
        SavedMixture { mixture: fitted.mixture.clone(), labels: None },
        Course::One(Box::new(fitted)),
    ))
}

fn labelled<T: Sample>(
    args: &GmmArgs,
    x: &Array2<T>,
    labels: &Labels,
) -> Result<(SavedMixture, Course)> {
    let (classes, rows): (Classes, Vec<usize>) =
        check_source(x.view(), labels).map_err(|error| {
            let file = if error.is_about_labels() { args.labels.as_ref() } else { None };
            let file = file.unwrap_or(&args.data).display().to_string();
            anyhow::Error::new(error).context(file)
        })?;
    let _step = Step::start(format!("fitting {}", plural(classes.len(), "class", "classes")));
    let count = ComponentCount::PerClass(args.components());
    let settings = args.settings()?;
    let fitted =
        fit_conditional(x.view(), &rows, &classes.names(), None, &count, &settings, &|_| {})
            .with_context(|| args.data.display().to_string())?;
    let columns = Scaling::measure(x.view());
    let labels = SavedLabels { classes, table: fitted.mixture.labels, columns };
    let saved = SavedMixture { mixture: fitted.mixture.mixture, labels: Some(labels) };
    Ok((saved, Course::Classes(fitted.classes)))
}

/// Writes the figures of each row that were asked for, and returns the mean log-likelihood.
fn write_rows<T: Sample>(args: &GmmArgs, mixture: &Mixture, x: &Array2<T>) -> Result<f64> {
    let of_data = || args.data.display().to_string();
    let likelihoods = mixture.log_likelihoods(x.view()).with_context(of_data)?;
    let mean = likelihoods.mean().unwrap_or(f64::NAN);
    if let Some(path) = &args.scores {
        let column = likelihoods.insert_axis(ndarray::Axis(1));
        matrix::write(path, column.view(), &["log_likelihood".into()])?;
    }
    if let Some(path) = &args.responsibilities {
        let shares = mixture.responsibilities(x.view()).with_context(of_data)?;
        let names: Vec<String> =
            (0..mixture.components()).map(|k| format!("component_{k}")).collect();
        matrix::write(path, shares.view(), &names)?;
    }
    Ok(mean)
}

impl GmmArgs {
    /// Zero is refused by EM.
    fn components(&self) -> usize {
        self.components.unwrap_or(0)
    }

    fn settings(&self) -> Result<EmSettings> {
        let start = match &self.init {
            Some(path) => Start::Means(matrix::read(path)?.into_f64()),
            None => Start::KMeans,
        };
        Ok(EmSettings {
            covariance: self.covariance,
            tolerance: self.tolerance,
            max_iterations: self.max_iterations,
            variance_floor: self.variance_floor,
            restarts: self.restarts,
            seed: self.seed,
            start,
            ..EmSettings::new(self.components())
        })
    }

    fn add_outputs(&self, json: &mut serde_json::Value) {
        let add = |name: &str, path: &Option<PathBuf>, json: &mut serde_json::Value| {
            if let Some(path) = path.as_deref().map(Path::new) {
                json[name] = shown(path).into();
            }
        };
        add("scores", &self.scores, json);
        add("responsibilities", &self.responsibilities, json);
    }
}

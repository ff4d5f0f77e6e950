//! EM from a given start, and its E-step alone.

use ndarray::Array2;
use rebearing_host::files::npy::Matrix;
use rebearing_host::mixture::{self, Covariance, EmSettings, Fit, Mixture, Sample, Start};
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::task::Task;

/// Responsibilities below this do not change a sum in f64.
const NEGLIGIBLE: f64 = 1e-16;

pub(crate) fn fit(task: &Task) -> anyhow::Result<Value> {
    let start = task.mixture(task.text("start")?)?;
    let settings = task.settings(start.components(), Start::Mixture(start))?;
    let (fit, mut answer) = match task.matrix(task.text("data")?)? {
        Matrix::F32(x) => timed(&x, &settings)?,
        Matrix::F64(x) => timed(&x, &settings)?,
    };
    task.write("weights", &fit.mixture.weights)?;
    task.write("means", &fit.mixture.means)?;
    if let Covariance::Diagonal(variances) = &fit.mixture.covariance {
        task.write("variances", variances)?;
    }
    answer["iterations"] = json!(fit.iterations);
    answer["log_likelihood"] = json!(fit.log_likelihood);
    Ok(answer)
}

fn timed<T: Sample>(x: &Array2<T>, settings: &EmSettings) -> anyhow::Result<(Fit, Value)> {
    let clock = Clock::start()?;
    let fit = mixture::fit(x.view(), None, settings, &|_| ())?;
    Ok((fit, clock.stop()?))
}

/// Runs a full E-step, with nothing left out: the log-likelihood of every sample. Also returns how
/// many responsibilities of a sample are not negligible. An M-step needs only those.
pub(crate) fn density(task: &Task) -> anyhow::Result<Value> {
    let mixture = task.mixture(task.text("start")?)?;
    match task.matrix(task.text("data")?)? {
        Matrix::F32(x) => density_of(&mixture, &x),
        Matrix::F64(x) => density_of(&mixture, &x),
    }
}

fn density_of<T: Sample>(mixture: &Mixture, x: &Array2<T>) -> anyhow::Result<Value> {
    let clock = Clock::start()?;
    let likelihoods = mixture.log_likelihoods(x.view())?;
    let mut answer = clock.stop()?;
    let responsibilities = mixture.responsibilities(x.view())?;
    let active = responsibilities.iter().filter(|&&r| r > NEGLIGIBLE).count();
    let samples = x.nrows() as f64;
    answer["log_likelihood"] = json!(likelihoods.sum() / samples);
    answer["active"] = json!(active as f64 / samples);
    Ok(answer)
}

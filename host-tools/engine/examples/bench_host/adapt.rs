//! The whole method: two mixtures, their costs, the plan, labels for every target sample.

use anyhow::{Context, bail};
use ndarray::{Array2, ArrayView1, s};
use rayon::prelude::*;
use rebearing_host::adapt::propagate::propagate;
use rebearing_host::files::npy::Matrix;
use rebearing_host::mixture::{
    self, ComponentCount, Covariance, Fit, LabelledMixture, Mixture, Sample, Start,
};
use rebearing_host::transport::cost::component_costs;
use rebearing_host::transport::exact;
use serde_json::{Value, json};

use crate::clock::Clock;
use crate::task::Task;

/// The start of the two fits. With it, both sides do the same work and must get the same result.
struct Starts {
    source: Mixture,
    target: Mixture,
}

pub(crate) fn adapt(task: &Task) -> anyhow::Result<Value> {
    let name = task.text("data")?;
    let reading = Clock::start()?;
    let source = task.matrix(&format!("{name}-source"))?;
    let target = task.matrix(&format!("{name}-target"))?;
    let labels = task.vector(&format!("{name}-source-labels"))?;
    let labels: Vec<usize> = labels.iter().map(|&label| label as usize).collect();
    let starts = match task.text("start")? {
        // Each side runs its own k-means, as a user would.
        "own" => None,
        "given" => {
            let components = task.text("components")?;
            Some(Starts {
                source: task.mixture(&format!("{name}-source-{components}"))?,
                target: task.mixture(&format!("{name}-target-{components}"))?,
            })
        }
        other => bail!("`start={other}` is neither own nor given"),
    };
    let seconds_read = reading.seconds();
    let (mut answer, predicted) = match (&source, &target) {
        (Matrix::F32(source), Matrix::F32(target)) => run(task, source, &labels, target, starts)?,
        (Matrix::F64(source), Matrix::F64(target)) => run(task, source, &labels, target, starts)?,
        _ => bail!("source and target differ in precision"),
    };
    task.write("labels", &predicted)?;
    let truth = task.vector(&format!("{name}-target-labels"))?;
    let right = predicted.iter().zip(&truth).filter(|(a, b)| a == b).count();
    answer["accuracy"] = json!(right as f64 / truth.len() as f64);
    answer["seconds_read"] = json!(seconds_read);
    Ok(answer)
}

fn run<T: Sample>(
    task: &Task,
    source: &Array2<T>,
    labels: &[usize],
    target: &Array2<T>,
    starts: Option<Starts>,
) -> anyhow::Result<(Value, Vec<f64>)> {
    let components: usize = task.number("components")?;
    let classes = labels.iter().max().context("no labels")? + 1;
    let per_class = components / classes;
    let (source_start, target_start) = match starts {
        None => (None, Start::KMeans),
        Some(Starts { source, target }) => (Some(source), Start::Mixture(target)),
    };

    let clock = Clock::start()?;
    let (source, iterations_source) = if let Some(start) = source_start {
        fit_classes(task, source, labels, classes, &start)?
    } else {
        let names: Vec<String> = (0..classes).map(|class| class.to_string()).collect();
        let settings = task.settings(per_class, Start::KMeans)?;
        let count = ComponentCount::PerClass(per_class);
        let fit = mixture::fit_conditional(
            source.view(),
            labels,
            &names,
            None,
            &count,
            &settings,
            &|_| (),
        )?;
        (fit.mixture, fit.classes.iter().map(|class| class.iterations).sum())
    };
    let fitted_source = clock.seconds();
    let settings = task.settings(components, target_start)?;
    let fit = mixture::fit(target.view(), None, &settings, &|_| ())?;
    let fitted_target = clock.seconds();
    let cost = component_costs(&source.mixture, &fit.mixture)?;
    let (a, b) = (source.mixture.weights.to_vec(), fit.mixture.weights.to_vec());
    let plan = exact::solve(&a, &b, &cost, &exact::Options::default())?;
    let target_labels = propagate(&plan.plan, &source.labels)?;
    let transported = clock.seconds();
    let posteriors = fit.mixture.responsibilities(target.view())?.dot(&target_labels);
    let predicted = posteriors.outer_iter().map(|row| largest(&row)).collect();
    let ended = clock.seconds();

    let mut answer = clock.stop()?;
    answer["seconds_source"] = json!(fitted_source);
    answer["seconds_target"] = json!(fitted_target - fitted_source);
    answer["seconds_transport"] = json!(transported - fitted_target);
    answer["seconds_labels"] = json!(ended - transported);
    answer["iterations"] = json!(fit.iterations);
    answer["iterations_source"] = json!(iterations_source);
    answer["cost"] = json!(plan.cost);
    Ok((answer, predicted))
}

/// Conditional EM from a given start, which `fit_conditional` does not support: one fit per class,
/// on rows sorted by class.
fn fit_classes<T: Sample>(
    task: &Task,
    x: &Array2<T>,
    labels: &[usize],
    classes: usize,
    start: &Mixture,
) -> anyhow::Result<(LabelledMixture, usize)> {
    let Covariance::Diagonal(variances) = &start.covariance else { bail!("not diagonal") };
    let per_class = start.components() / classes;
    let fits = (0..classes)
        .into_par_iter()
        .map(|class| {
            let from = labels.partition_point(|&label| label < class);
            let to = labels.partition_point(|&label| label <= class);
            let own = class * per_class..(class + 1) * per_class;
            let start = Mixture {
                weights: start.weights.slice(s![own.clone()]).to_owned(),
                means: start.means.slice(s![own.clone(), ..]).to_owned(),
                covariance: Covariance::Diagonal(variances.slice(s![own, ..]).to_owned()),
            };
            let settings = task.settings(per_class, Start::Mixture(start))?;
            Ok(mixture::fit(x.slice(s![from..to, ..]), None, &settings, &|_| ())?)
        })
        .collect::<anyhow::Result<Vec<Fit>>>()?;

    let mut all = start.clone();
    let mut labels = Array2::zeros((start.components(), classes));
    let mut all_variances = variances.clone();
    for (class, fit) in fits.iter().enumerate() {
        let own = class * per_class..(class + 1) * per_class;
        let weights = &fit.mixture.weights / classes as f64;
        all.weights.slice_mut(s![own.clone()]).assign(&weights);
        all.means.slice_mut(s![own.clone(), ..]).assign(&fit.mixture.means);
        if let Covariance::Diagonal(variances) = &fit.mixture.covariance {
            all_variances.slice_mut(s![own.clone(), ..]).assign(variances);
        }
        labels.slice_mut(s![own, class]).fill(1.0);
    }
    all.covariance = Covariance::Diagonal(all_variances);
    let iterations = fits.iter().map(|fit| fit.iterations).sum();
    Ok((LabelledMixture { mixture: all, labels }, iterations))
}

/// Returns the position of the largest value; the first if several are equal.
fn largest(values: &ArrayView1<f64>) -> f64 {
    let first = (0, f64::NEG_INFINITY);
    let best = values.iter().enumerate().fold(first, |a, (i, &v)| if v > a.1 { (i, v) } else { a });
    best.0 as f64
}

//! Runs the methods and writes their results.

use std::time::Instant;

use anyhow::{Result, anyhow};
use rebearing_host::evaluate::EvaluatedMethod;
use rebearing_host::files::matrix::{self, Beside, Block, Labels, Table};
use rebearing_host::matrices::{
    Found, Given, Marks, MatrixError, Model, Prepared, Which, check_labels,
};
use rebearing_host::mixture::Sample;

use super::TransferArgs;
use super::outcome::{self, Shape};
use super::read::{AnyFiles, Files, Source, read, with_file};
use crate::args::choice::OneOrAll;
use crate::commands::Outcome;
use crate::progress::Step;

/// The result of one method.
pub(super) struct Labelled {
    pub(super) model: Model,
    pub(super) found: Found,
    /// Marks of the labels, if the true ones are known.
    pub(super) marks: Option<Marks>,
    /// Accuracy of the carried labels, if `guarded` did not use them.
    pub(super) carried_accuracy: Option<f64>,
    /// Seconds for labelling.
    pub(super) predict: f64,
}

/// The result of a method, or its error.
pub(super) type Attempt = (EvaluatedMethod, Result<Labelled, String>);

pub(super) fn run(args: &TransferArgs) -> Result<Outcome> {
    match read(args)? {
        AnyFiles::F32(files) => run_on(args, files),
        AnyFiles::F64(files) => run_on(args, files),
    }
}

fn run_on<T: Sample>(args: &TransferArgs, files: Files<T>) -> Result<Outcome> {
    let Files { source, target, test } = files;
    let source_rows = match &source {
        Source::Rows(x, _) => Some(x.nrows()),
        Source::Mixture(_) => None,
    };
    let error = |error: MatrixError| with_file(args, error);
    let labels;
    let prepared = match source {
        Source::Rows(x, y) => {
            labels = y;
            let given = Given { source: x.into(), labels: &labels, target: target.into() };
            Prepared::new(given, args.scale)
        }
        Source::Mixture(saved) => Prepared::from_mixture(*saved, target.into(), args.scale),
    }
    .map_err(error)?;
    let rows = test.as_ref().map_or(prepared.target().nrows(), ndarray::Array2::nrows);
    let shape = Shape { source_rows, rows, features: prepared.target().ncols() };
    let truth = match (&args.test_y, &args.target_y) {
        (Some(path), _) => Some((Which::TestLabels, matrix::read_labels(path)?)),
        (None, Some(path)) => Some((Which::TargetLabels, matrix::read_labels(path)?)),
        (None, None) => None,
    };
    let truth = truth
        .map(|(which, labels)| check_labels(prepared.classes(), &labels, rows, which))
        .transpose()
        .map_err(error)?;

    let task = Task { prepared: &prepared, test: test.as_ref(), truth: truth.as_deref() };
    let results: Vec<Attempt> = args
        .methods()
        .into_iter()
        .map(|method| {
            let _step = Step::start(format!("adapting with {method}"));
            (method, task.labelled(args, method))
        })
        .map(|(method, result)| match result {
            Ok(labelled) => Ok((method, Ok(labelled))),
            // One method of several may fail.
            Err(failed) if args.method == OneOrAll::All => Ok((method, Err(failed.to_string()))),
            Err(failed) => Err(error(failed)),
        })
        .collect::<Result<_>>()?;
    if let [(_, Ok(labelled))] = results.as_slice() {
        write(args, &prepared, &labelled.found)?;
    }
    let moved = write_map(args, &prepared)?;
    Ok(outcome::outcome(args, prepared.classes(), &shape, &results, moved))
}

/// The input of every method.
struct Task<'a, T> {
    prepared: &'a Prepared<'a, T>,
    test: Option<&'a ndarray::Array2<T>>,
    truth: Option<&'a [usize]>,
}

impl<T: Sample> Task<'_, T> {
    fn labelled(
        &self,
        args: &TransferArgs,
        method: EvaluatedMethod,
    ) -> Result<Labelled, MatrixError> {
        let model = self.prepared.fit(method, &args.settings())?;
        let start = Instant::now();
        let found = match self.test {
            Some(test) => model.label(test.view())?,
            None => model.label_prepared(self.prepared.target())?,
        };
        let predict = start.elapsed().as_secs_f64();
        let classes = self.prepared.classes().len();
        let marks = self.truth.and_then(|truth| Marks::new(truth, &found.classes, classes));
        let mut carried_accuracy = None;
        if let Some(truth) = self.truth.filter(|_| !model.names_classes()) {
            let carried = match self.test {
                Some(test) => model.carried(test.view())?,
                None => model.carried_prepared(self.prepared.target())?,
            };
            carried_accuracy =
                Marks::new(truth, &carried.classes, classes).map(|marks| marks.accuracy);
        }
        Ok(Labelled { model, found, marks, carried_accuracy, predict })
    }
}

/// Writes labels and probabilities.
fn write<T: Sample>(args: &TransferArgs, prepared: &Prepared<'_, T>, found: &Found) -> Result<()> {
    let classes = prepared.classes();
    if let Some(path) = &args.out {
        matrix::write_labels(path, &classes.labels(&found.classes))?;
    }
    if let Some(path) = &args.probabilities {
        // A class may be called like a column that is no feature, such as `label`.
        let names: Vec<String> =
            classes.names().into_iter().map(|name| format!("p_{name}")).collect();
        matrix::write(path, found.posterior.view(), &names)?;
    }
    Ok(())
}

/// Writes the moved rows, if they were asked for, and returns their number.
fn write_map<T: Sample>(args: &TransferArgs, prepared: &Prepared<'_, T>) -> Result<Option<usize>> {
    let (Some(kind), Some(path)) = (args.map, &args.map_out) else { return Ok(None) };
    let _step = Step::start("moving the source's rows");
    let settings = args.settings();
    let mapped = prepared.map(kind, &settings).map_err(|e| with_file(args, e))?;
    let integer = |row: &usize| i64::try_from(*row).map_err(|_| anyhow!("too many rows"));
    let origin = mapped.origin.iter().map(integer).collect::<Result<Vec<i64>>>()?;
    let labels = prepared.classes().labels(&mapped.classes);
    let label = match &labels {
        Labels::Integers(values) => Beside::Integers(values.clone()),
        Labels::Texts(values) => {
            Beside::Texts(values.iter().map(|value| Some(value.as_str())).collect())
        }
    };
    let beside = vec![
        ("label", label),
        ("origin", Beside::Integers(origin)),
        ("weight", Beside::Numbers(mapped.weights.to_vec())),
    ];
    let columns: Vec<String> = (0..mapped.x.ncols()).map(|i| i.to_string()).collect();
    let blocks = vec![Block::F64(mapped.x.view())];
    matrix::write_table(path, &Table { beside, columns: &columns, blocks })?;
    Ok(Some(mapped.origin.len()))
}

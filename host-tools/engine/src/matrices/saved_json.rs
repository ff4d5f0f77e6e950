//! Saved mixtures as JSON, in the shapes of scikit-learn's `GaussianMixture`. Reading checks
//! everything.

use std::path::{Path, PathBuf};

use ndarray::{Array1, Array2, Array3, ArrayView2, Axis};
use serde::Deserialize;
use serde_json::{Map, Value, json};
use thiserror::Error;

use super::{Classes, SavedLabels, SavedMixture, Scaling};
use crate::files::input;
use crate::files::matrix::Labels;
use crate::mixture::{Covariance, CovarianceKind, Mixture};

/// Why a saved mixture could not be read.
#[derive(Debug, Error)]
#[error("{}: {problem}; give a file that `rebearing gmm` wrote", path.display())]
pub struct SavedError {
    /// The file.
    pub path: PathBuf,
    /// The problem, with its place.
    pub problem: String,
}

/// The fields that a mixture is made of. Other fields tell how it was fitted.
#[derive(Deserialize)]
struct Fields {
    covariance: String,
    weights: Vec<f64>,
    means: Vec<Vec<f64>>,
    covariances: Value,
    classes: Option<ClassList>,
    labels: Option<Vec<Vec<f64>>>,
    column_means: Option<Vec<f64>>,
    column_deviations: Option<Vec<f64>>,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum ClassList {
    Integers(Vec<i64>),
    Texts(Vec<String>),
}

impl SavedMixture {
    /// The fields of the mixture, for a JSON file.
    pub fn to_json(&self) -> Map<String, Value> {
        let Mixture { weights, means, covariance } = &self.mixture;
        let covariances: Value = match covariance {
            Covariance::Diagonal(v) | Covariance::Tied(v) => rows(v.view()),
            Covariance::Spherical(v) => v.to_vec().into(),
            Covariance::Full(v) => v.axis_iter(Axis(0)).map(rows).collect(),
        };
        let mut fields = Map::new();
        fields.insert("covariance".into(), covariance.kind().name().into());
        if let Some(SavedLabels { classes, table, columns }) = &self.labels {
            let classes = match classes.of_classes() {
                Labels::Integers(values) => json!(values),
                Labels::Texts(values) => json!(values),
            };
            fields.insert("classes".into(), classes);
            fields.insert("labels".into(), rows(table.view()));
            fields.insert("column_means".into(), columns.mean.clone().into());
            fields.insert("column_deviations".into(), columns.deviation.clone().into());
        }
        fields.insert("weights".into(), weights.to_vec().into());
        fields.insert("means".into(), rows(means.view()));
        fields.insert("covariances".into(), covariances);
        fields
    }

    /// Reads a mixture, and checks that it is one.
    pub fn read(path: &Path) -> Result<Self, SavedError> {
        let refuse = |problem| SavedError { path: path.into(), problem };
        let text = input::read_whole(path, input::MOST_LIBRARY)
            .map_err(|error| refuse(format!("cannot be read: {error}")))?;
        Self::parse(&text).map_err(refuse)
    }

    fn parse(text: &[u8]) -> Result<Self, String> {
        let fields: Fields =
            serde_json::from_slice(text).map_err(|error| format!("is not a mixture: {error}"))?;
        let means = matrix("means", &fields.means, None)?;
        let (components, dimensions) = means.dim();
        let covariances = &fields.covariances;
        let kind = CovarianceKind::ALL.into_iter().find(|kind| kind.name() == fields.covariance);
        let covariance = match kind {
            Some(CovarianceKind::Diagonal) => {
                Covariance::Diagonal(table("covariances", covariances, (components, dimensions))?)
            }
            Some(CovarianceKind::Spherical) => Covariance::Spherical(
                numbers("covariances", covariances)?.into_iter().collect::<Array1<f64>>(),
            ),
            Some(CovarianceKind::Tied) => {
                Covariance::Tied(table("covariances", covariances, (dimensions, dimensions))?)
            }
            Some(CovarianceKind::Full) => {
                let list = covariances.as_array().ok_or("covariances: must be a list")?;
                if list.len() != components {
                    return Err(format!(
                        "covariances: {} matrices for {components} components",
                        list.len()
                    ));
                }
                let mut all = Array3::zeros((components, dimensions, dimensions));
                for (k, (mut own, value)) in all.outer_iter_mut().zip(list).enumerate() {
                    let name = format!("covariances, matrix {k}");
                    own.assign(&table(&name, value, (dimensions, dimensions))?);
                }
                Covariance::Full(all)
            }
            None => {
                return Err(format!(
                    "covariance: {:?} is none of diag, full, spherical and tied",
                    fields.covariance
                ));
            }
        };
        let mixture = Mixture { weights: fields.weights.clone().into(), means, covariance };
        mixture.validate().map_err(|error| error.to_string())?;
        let labels = labels(fields, &mixture)?;
        Ok(Self { mixture, labels })
    }
}

fn labels(fields: Fields, mixture: &Mixture) -> Result<Option<SavedLabels>, String> {
    let (classes, list) = match (fields.classes, fields.labels) {
        (Some(classes), Some(list)) => (classes, list),
        (None, None) => return Ok(None),
        _ => return Err("classes and labels: one is there without the other".into()),
    };
    let classes = match classes {
        ClassList::Integers(values) => Classes::new(Labels::Integers(values)),
        ClassList::Texts(values) => Classes::new(Labels::Texts(values)),
    }
    .ok_or("classes: must be distinct and in order")?;
    if classes.len() < 2 {
        return Err("classes: there must be at least two".into());
    }
    if classes.names().iter().any(|name| name.contains(['\n', '\r'])) {
        return Err("classes: a name has a line break".into());
    }
    let table = matrix("labels", &list, Some((mixture.components(), classes.len())))?;
    for (k, row) in table.outer_iter().enumerate() {
        if row.iter().any(|share| !(0.0..=1.0).contains(share)) || (row.sum() - 1.0).abs() > 1e-9 {
            return Err(format!("labels: row {k} is not a distribution; it must sum to one"));
        }
    }
    if let Some(class) = (0..classes.len()).find(|class| table.column(*class).sum() <= 0.0) {
        return Err(format!("labels: class {} has no component", classes.names()[class]));
    }
    let (Some(mean), Some(deviation)) = (fields.column_means, fields.column_deviations) else {
        return Err("column_means and column_deviations: a labelled mixture needs both".into());
    };
    for (name, list, least) in
        [("column_means", &mean, f64::MIN), ("column_deviations", &deviation, 0.0)]
    {
        if list.len() != mixture.dimensions() {
            let (found, expected) = (list.len(), mixture.dimensions());
            return Err(format!("{name}: {found} numbers for {expected} columns"));
        }
        if let Some(column) = list.iter().position(|v| !v.is_finite() || *v < least) {
            return Err(format!("{name}: column {column} is {}", list[column]));
        }
    }
    let columns = Scaling { mean, deviation };
    if columns.mean_variance() <= 0.0 || !columns.mean_variance().is_finite() {
        return Err("column_deviations: the columns have no usable spread".into());
    }
    Ok(Some(SavedLabels { classes, table, columns }))
}

fn rows(matrix: ArrayView2<'_, f64>) -> Value {
    matrix.outer_iter().map(|row| Value::from(row.to_vec())).collect()
}

/// A matrix from a list of rows, which must have the shape if one is given.
fn matrix(
    name: &str,
    rows: &[Vec<f64>],
    shape: Option<(usize, usize)>,
) -> Result<Array2<f64>, String> {
    let shape = shape.unwrap_or((rows.len(), rows.first().map_or(0, Vec::len)));
    if rows.len() != shape.0 {
        return Err(format!("{name}: {} rows, expected {}", rows.len(), shape.0));
    }
    if let Some(row) = rows.iter().position(|row| row.len() != shape.1) {
        let found = rows[row].len();
        return Err(format!("{name}: row {row} has {found} numbers, expected {}", shape.1));
    }
    let values: Vec<f64> = rows.iter().flatten().copied().collect();
    Array2::from_shape_vec(shape, values).map_err(|error| format!("{name}: {error}"))
}

fn table(name: &str, value: &Value, shape: (usize, usize)) -> Result<Array2<f64>, String> {
    let list = value.as_array().ok_or_else(|| format!("{name}: must be a list of rows"))?;
    let row = |(index, row): (usize, &Value)| numbers(&format!("{name}, row {index}"), row);
    let rows = list.iter().enumerate().map(row).collect::<Result<Vec<_>, _>>()?;
    matrix(name, &rows, Some(shape))
}

fn numbers(name: &str, value: &Value) -> Result<Vec<f64>, String> {
    let list = value.as_array().ok_or_else(|| format!("{name}: must be a list of numbers"))?;
    let number = |(index, value): (usize, &Value)| {
        value.as_f64().ok_or_else(|| format!("{name}: entry {index} is not a number"))
    };
    list.iter().enumerate().map(number).collect()
}

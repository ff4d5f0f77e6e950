//! The words of a task, and the files they name.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use anyhow::{Context, bail};
use ndarray::{Array1, s};
use rebearing_host::files::npy::{self, Matrix};
use rebearing_host::mixture::{Covariance, EmSettings, Mixture, Start};

/// A task: a name and `key=value` words.
pub(crate) struct Task<'a> {
    pub(crate) name: &'a str,
    words: HashMap<&'a str, &'a str>,
}

impl<'a> Task<'a> {
    pub(crate) fn parse(line: &'a str) -> anyhow::Result<Self> {
        let mut words = line.split_whitespace();
        let name = words.next().context("an empty line is no task")?;
        let words = words
            .map(|word| word.split_once('=').with_context(|| format!("`{word}` is no key=value")))
            .collect::<anyhow::Result<_>>()?;
        Ok(Self { name, words })
    }

    pub(crate) fn text(&self, key: &str) -> anyhow::Result<&'a str> {
        self.words.get(key).copied().with_context(|| format!("`{key}=…` is missing"))
    }

    pub(crate) fn number<T: FromStr>(&self, key: &str) -> anyhow::Result<T> {
        let text = self.text(key)?;
        text.parse().ok().with_context(|| format!("`{key}={text}` is no number"))
    }

    /// Returns the path of the .npy file `name`.
    pub(crate) fn file(&self, name: &str) -> anyhow::Result<PathBuf> {
        Ok(Path::new(self.text("folder")?).join(format!("{name}.npy")))
    }

    pub(crate) fn vector(&self, name: &str) -> anyhow::Result<Array1<f64>> {
        Ok(npy::read_vector(&self.file(name)?)?)
    }

    /// Reads a feature matrix in the task's precision. `rows` and `dims` limit it to a corner.
    pub(crate) fn matrix(&self, name: &str) -> anyhow::Result<Matrix> {
        let whole = npy::read_matrix(&self.file(name)?)?;
        let matrix = if self.words.contains_key("rows") || self.words.contains_key("dims") {
            let (rows, dims) = (self.limit("rows", whole.dim().0)?, self.dims(whole.dim().1)?);
            match whole {
                Matrix::F32(x) => Matrix::F32(x.slice(s![..rows, ..dims]).to_owned()),
                Matrix::F64(x) => Matrix::F64(x.slice(s![..rows, ..dims]).to_owned()),
            }
        } else {
            whole
        };
        Ok(match (self.text("precision")?, matrix) {
            ("f64", matrix) => Matrix::F64(matrix.into_f64()),
            ("f32", Matrix::F32(x)) => Matrix::F32(x),
            ("f32", Matrix::F64(x)) => Matrix::F32(x.mapv(|v| v as f32)),
            (other, _) => bail!("`precision={other}` is neither f32 nor f64"),
        })
    }

    fn limit(&self, key: &str, most: usize) -> anyhow::Result<usize> {
        Ok(if self.words.contains_key(key) { self.number::<usize>(key)?.min(most) } else { most })
    }

    fn dims(&self, most: usize) -> anyhow::Result<usize> {
        self.limit("dims", most)
    }

    /// Reads the diagonal mixture from `name-weights`, `name-means` and `name-variances`.
    pub(crate) fn mixture(&self, name: &str) -> anyhow::Result<Mixture> {
        let matrix = |values| -> anyhow::Result<_> {
            let whole = npy::read_matrix(&self.file(&format!("{name}-{values}"))?)?.into_f64();
            let dims = self.dims(whole.ncols())?;
            Ok(whole.slice(s![.., ..dims]).to_owned())
        };
        Ok(Mixture {
            weights: self.vector(&format!("{name}-weights"))?,
            means: matrix("means")?,
            covariance: Covariance::Diagonal(matrix("variances")?),
        })
    }

    /// Returns the task's settings for EM. Components that lose their samples stay, as in
    /// scikit-learn.
    pub(crate) fn settings(&self, components: usize, start: Start) -> anyhow::Result<EmSettings> {
        Ok(EmSettings {
            tolerance: self.number("tolerance")?,
            max_iterations: self.number("iterations")?,
            variance_floor: self.number("floor")?,
            minimum_count: 0.0,
            seed: self.number("seed").unwrap_or(0),
            start,
            ..EmSettings::new(components)
        })
    }

    /// Writes a result for comparison: float64, little endian, nothing else.
    pub(crate) fn write<'v>(
        &self,
        name: &str,
        values: impl IntoIterator<Item = &'v f64>,
    ) -> anyhow::Result<()> {
        let Ok(out) = self.text("out") else { return Ok(()) };
        let bytes: Vec<u8> = values.into_iter().flat_map(|value| value.to_le_bytes()).collect();
        let path = format!("{out}-{name}");
        std::fs::write(&path, bytes).context(path)
    }
}

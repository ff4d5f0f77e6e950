//! Checks of the data and settings of EM, with messages about what is wrong.

use ndarray::ArrayView2;
use rayon::prelude::*;

use crate::mixture::sample::{Rows, Sample};
use crate::mixture::{EmSettings, MixtureError, Start};

/// Columns in which all values are equal.
pub(in crate::mixture) fn constant_columns<T: Sample>(rows: &Rows<T>) -> Vec<usize> {
    let value = |i: usize, j: usize| -> f64 { rows.row(i)[j].into() };
    let mut columns: Vec<usize> = (0..rows.dimensions()).collect();
    for i in 1..rows.len() {
        columns.retain(|&j| value(i, j).total_cmp(&value(0, j)).is_eq());
        if columns.is_empty() {
            break;
        }
    }
    columns
}

/// Refuses data that EM cannot work on.
pub(in crate::mixture) fn check_data<T: Sample>(
    x: ArrayView2<T>,
    sample_weights: Option<&[f64]>,
) -> Result<(), MixtureError> {
    let (rows, columns) = x.dim();
    if rows == 0 || columns == 0 {
        return Err(MixtureError::Empty { rows, columns });
    }
    if let Some((row, column, value)) = first_not_finite(x) {
        return Err(MixtureError::NotFinite { row, column, value });
    }
    if let Some(weights) = sample_weights {
        if weights.len() != rows {
            return Err(MixtureError::Length {
                what: "sample weights",
                expected: rows,
                found: weights.len(),
            });
        }
        if let Some(row) = weights.iter().position(|w| !w.is_finite() || *w < 0.0) {
            return Err(MixtureError::SampleWeight { row, value: weights[row] });
        }
    }
    Ok(())
}

/// The first value that is NaN or infinite, with its row and column.
pub(in crate::mixture) fn first_not_finite<T: Sample>(
    x: ArrayView2<T>,
) -> Option<(usize, usize, f64)> {
    (0..x.nrows()).into_par_iter().with_min_len(256).find_map_first(|row| {
        let values = x.row(row);
        // Counting first becomes vector code; looking for a position does not.
        if let Some(values) = values.as_slice()
            && values.iter().map(|v| u32::from(!v.finite())).sum::<u32>() == 0
        {
            return None;
        }
        let column = values.iter().position(|v| !v.finite())?;
        Some((row, column, values[column].into()))
    })
}

/// Refuses settings that are out of range or do not suit the rows.
pub(in crate::mixture) fn check_settings<T: Sample>(
    rows: &Rows<T>,
    settings: &EmSettings,
) -> Result<(), MixtureError> {
    let refuse = |name, value, expected| Err(MixtureError::Setting { name, value, expected });
    if settings.components == 0 {
        return refuse("components", 0.0, "at least 1");
    }
    if settings.max_iterations == 0 {
        return refuse("max_iterations", 0.0, "at least 1");
    }
    if settings.restarts == 0 {
        return refuse("restarts", 0.0, "at least 1");
    }
    for (name, value) in
        [("tolerance", settings.tolerance), ("minimum_count", settings.minimum_count)]
    {
        if value.is_nan() || value < 0.0 {
            return refuse(name, value, "zero or above");
        }
    }
    if !settings.variance_floor.is_finite() || settings.variance_floor <= 0.0 {
        return refuse("variance_floor", settings.variance_floor, "finite and above zero");
    }
    let samples = (0..rows.len()).filter(|&i| rows.weight(i) > 0.0).count();
    if samples < settings.components {
        return Err(MixtureError::TooFewSamples { samples, components: settings.components });
    }
    let means = match &settings.start {
        Start::KMeans | Start::KMeansPlusPlus => return Ok(()),
        Start::Means(means) => {
            if let Some((component, dimension, value)) = first_not_finite(means.view()) {
                return Err(MixtureError::Start(crate::mixture::InvalidMixture::Mean {
                    component,
                    dimension,
                    value,
                }));
            }
            means
        }
        Start::Mixture(mixture) => {
            mixture.validate()?;
            if mixture.covariance.kind() != settings.covariance {
                return Err(MixtureError::StartShape {
                    what: "covariance",
                    found: format!("{:?}", mixture.covariance.kind()),
                    expected: format!("{:?}", settings.covariance),
                });
            }
            &mixture.means
        }
    };
    let shape = |what, found: usize, expected: usize| {
        if found == expected {
            return Ok(());
        }
        Err(MixtureError::StartShape {
            what,
            found: found.to_string(),
            expected: expected.to_string(),
        })
    };
    shape("components", means.nrows(), settings.components)?;
    shape("dimensions", means.ncols(), rows.dimensions())
}

//! Arrow tables as arrays. Frames of pandas, polars and pyarrow all give their columns through the
//! Arrow `PyCapsule` interface, so none of these packages is needed here.

use arrow_array::cast::AsArray as _;
use arrow_array::types::{Float32Type, Float64Type};
use arrow_array::{ArrowPrimitiveType, RecordBatch};
use arrow_cast::cast;
use arrow_schema::DataType;
use ndarray::Array2;
use numpy::{Element, IntoPyArray as _};
use pyo3::prelude::*;
use pyo3_arrow::PyTable;

use crate::error::{Failed, refuse};
use crate::work::guarded;

/// Returns the table as a matrix, and the names of its columns. The matrix is in single precision if
/// every column is. A missing value is NaN.
#[pyfunction]
pub(crate) fn table(py: Python<'_>, table: PyTable) -> PyResult<(Bound<'_, PyAny>, Vec<String>)> {
    guarded(|| {
        let (batches, schema) = table.into_inner();
        let mut single = !schema.fields().is_empty();
        for field in schema.fields() {
            let kind = field.data_type();
            if !(kind.is_numeric() || *kind == DataType::Boolean || *kind == DataType::Null) {
                return refuse(format!(
                    "column '{}' holds {kind}; every column must hold numbers",
                    field.name()
                ));
            }
            single &= *kind == DataType::Float32;
        }
        let names: Vec<String> = schema.fields().iter().map(|field| field.name().clone()).collect();
        let matrix = if single {
            matrix::<Float32Type>(&batches, names.len(), f32::NAN)?.into_pyarray(py).into_any()
        } else {
            matrix::<Float64Type>(&batches, names.len(), f64::NAN)?.into_pyarray(py).into_any()
        };
        Ok((matrix, names))
    })
}

/// The columns side by side.
fn matrix<T: ArrowPrimitiveType>(
    batches: &[RecordBatch],
    columns: usize,
    missing: T::Native,
) -> PyResult<Array2<T::Native>>
where
    T::Native: Element + Copy,
{
    let rows = batches.iter().map(RecordBatch::num_rows).sum();
    let mut matrix = Array2::from_elem((rows, columns), missing);
    let mut first = 0;
    for batch in batches {
        for (column, values) in batch.columns().iter().enumerate() {
            let values = cast(values, &T::DATA_TYPE).map_err(Failed::from)?;
            for (row, value) in values.as_primitive::<T>().iter().enumerate() {
                matrix[[first + row, column]] = value.unwrap_or(missing);
            }
        }
        first += batch.num_rows();
    }
    Ok(matrix)
}

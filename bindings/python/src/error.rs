//! The engine's errors as Python exceptions.

use std::error::Error;

use pyo3::create_exception;
use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use rebearing_host::words::with_causes;

create_exception!(
    rebearing,
    RebearingError,
    PyValueError,
    "Input that rebearing cannot use. The message says what is wrong, where, and what to do."
);

/// An error of the engine, as text.
pub(crate) struct Failed(String);

impl<E: Into<anyhow::Error>> From<E> for Failed {
    fn from(error: E) -> Self {
        let error: anyhow::Error = error.into();
        let error: &(dyn Error + 'static) = error.as_ref();
        Self(with_causes(error))
    }
}

impl From<Failed> for PyErr {
    fn from(Failed(text): Failed) -> Self {
        RebearingError::new_err(text)
    }
}

/// The exception for an argument that is out of its range.
pub(crate) fn refuse<T>(text: impl Into<String>) -> PyResult<T> {
    Err(RebearingError::new_err(text.into()))
}

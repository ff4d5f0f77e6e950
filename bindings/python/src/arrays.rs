//! numpy arrays as views. Nothing is copied: python/rebearing/_arrays.py brings every array into a
//! layout that can be used in place.

use numpy::{PyReadonlyArray1, PyReadonlyArray2};
use pyo3::prelude::*;

/// A matrix of features in single or double precision.
#[derive(FromPyObject)]
pub(crate) enum Matrix<'py> {
    /// Single precision.
    #[pyo3(transparent, annotation = "float32 matrix")]
    F32(PyReadonlyArray2<'py, f32>),
    /// Double precision.
    #[pyo3(transparent, annotation = "float64 matrix")]
    F64(PyReadonlyArray2<'py, f64>),
}

/// Calls `$body` with the view of a [`Matrix`] as `$view`, in its own precision.
macro_rules! with_view {
    ($matrix:expr, $view:ident => $body:expr) => {
        match &$matrix {
            $crate::arrays::Matrix::F32(array) => {
                let $view = array.as_array();
                $body
            }
            $crate::arrays::Matrix::F64(array) => {
                let $view = array.as_array();
                $body
            }
        }
    };
}
pub(crate) use with_view;

/// A vector as a list of its own.
pub(crate) fn vector<T: numpy::Element + Copy>(array: &PyReadonlyArray1<'_, T>) -> Vec<T> {
    array.as_array().to_vec()
}

//! Labels of matrices.

/// Labels of the rows of a matrix.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Names.
    Texts(Vec<String>),
}

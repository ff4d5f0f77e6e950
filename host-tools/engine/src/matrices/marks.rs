//! How many labels are right.

use rebearing::Label;
use serde::Serialize;

use crate::evaluate::Confusion;

/// Shares of right labels, as fractions.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Marks {
    /// Rows with the right label. Unknown counts as wrong.
    pub accuracy: f64,
    /// The mean of the recalls.
    pub balanced_accuracy: f64,
    /// Rows that are called unknown.
    pub unknown_rate: f64,
    /// For each class, its rows with the right label. `None` if no row has the class.
    pub recall: Vec<Option<f64>>,
    /// Number of rows by true class (row) and found class (column). The last column is unknown.
    pub confusion: Vec<Vec<usize>>,
}

impl Marks {
    /// Compares the classes found with the true ones. `None` if there is no row.
    ///
    /// # Panics
    /// If a class is not below `classes`.
    pub fn new(truth: &[usize], found: &[Option<usize>], classes: usize) -> Option<Self> {
        let called: Vec<Label> =
            found.iter().map(|class| class.map_or(Label::Unknown, Label::Class)).collect();
        let confusion = Confusion::count(truth, &called, classes, classes, true);
        let scores = confusion.scores(None);
        // A fault of unknown type is a matter of machines.
        let confusion: Vec<Vec<usize>> =
            confusion.rows().into_iter().map(|row| row[..=classes].to_vec()).collect();
        let recall = |(class, row): (usize, &Vec<usize>)| {
            let rows: usize = row.iter().sum();
            (rows > 0).then(|| row[class] as f64 / rows as f64)
        };
        Some(Self {
            accuracy: scores.accuracy?,
            balanced_accuracy: scores.balanced_accuracy?,
            unknown_rate: scores.unknown_rate?,
            recall: confusion.iter().enumerate().map(recall).collect(),
            confusion,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn unknown_is_wrong_and_an_absent_class_has_no_recall() {
        let found = [Some(0), Some(1), None, Some(1), Some(1)];
        let marks = Marks::new(&[0, 0, 0, 1, 1], &found, 3).unwrap();
        assert_eq!((marks.accuracy, marks.unknown_rate), (0.6, 0.2));
        assert!((marks.balanced_accuracy - f64::midpoint(1.0 / 3.0, 1.0)).abs() < 1e-15);
        assert_eq!(marks.recall, [Some(1.0 / 3.0), Some(1.0), None]);
        assert_eq!(marks.confusion, [[1, 1, 0, 1], [0, 2, 0, 0], [0; 4]].map(|row| row.to_vec()));
        assert_eq!(Marks::new(&[], &[], 3), None);
    }
}

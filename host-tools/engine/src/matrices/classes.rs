//! The classes of a source: one for each distinct label.

use super::{MatrixError, Which};
use crate::files::matrix::Labels;

/// Most labels that a message lists.
const MOST_LISTED: usize = 10;

/// The distinct labels of a source, in order: whole numbers by value, texts by their bytes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Classes {
    labels: Labels,
}

impl Classes {
    /// The classes of these labels, and the class of each row.
    pub fn of(labels: &Labels) -> (Self, Vec<usize>) {
        match labels {
            Labels::Integers(values) => {
                let distinct = distinct(values);
                let rows = values.iter().map(|value| place(&distinct, value)).collect();
                (Self { labels: Labels::Integers(distinct) }, rows)
            }
            Labels::Texts(values) => {
                let distinct = distinct(values);
                let rows = values.iter().map(|value| place(&distinct, value)).collect();
                (Self { labels: Labels::Texts(distinct) }, rows)
            }
        }
    }

    /// The classes with these labels, which must be distinct and in order.
    pub fn new(labels: Labels) -> Option<Self> {
        let ordered = match &labels {
            Labels::Integers(values) => values.is_sorted_by(|a, b| a < b),
            Labels::Texts(values) => values.is_sorted_by(|a, b| a < b),
        };
        ordered.then_some(Self { labels })
    }

    /// Number of classes.
    pub fn len(&self) -> usize {
        match &self.labels {
            Labels::Integers(values) => values.len(),
            Labels::Texts(values) => values.len(),
        }
    }

    /// Whether there is no class.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The label of each class.
    pub fn of_classes(&self) -> &Labels {
        &self.labels
    }

    /// The name of each class.
    pub fn names(&self) -> Vec<String> {
        match &self.labels {
            Labels::Integers(values) => values.iter().map(ToString::to_string).collect(),
            Labels::Texts(values) => values.clone(),
        }
    }

    /// The class of each label. A label that no class has is an error.
    pub fn indices(&self, labels: &Labels, which: Which) -> Result<Vec<usize>, MatrixError> {
        let unseen = |(row, label): (usize, String)| MatrixError::Unseen {
            which,
            label,
            row,
            known: self.listed(),
        };
        let found = match (&self.labels, labels) {
            (Labels::Integers(known), Labels::Integers(given)) => indices(known, given),
            (Labels::Texts(known), Labels::Texts(given)) => indices(known, given),
            // One file may have numbers where the other has the same numbers as texts.
            (Labels::Integers(_), Labels::Texts(given)) => indices(&self.names(), given),
            (Labels::Texts(known), Labels::Integers(given)) => {
                indices(known, &given.iter().map(ToString::to_string).collect::<Vec<_>>())
            }
        };
        found.map_err(unseen)
    }

    /// The labels of these classes. `None` becomes [`Classes::unknown`].
    pub fn labels(&self, classes: &[Option<usize>]) -> Labels {
        match (&self.labels, self.unknown()) {
            (Labels::Integers(known), Labels::Integers(unknown)) => Labels::Integers(
                classes
                    .iter()
                    .map(|class| class.map_or(unknown[0], |class| known[class]))
                    .collect(),
            ),
            (_, unknown) => {
                let (names, Labels::Texts(unknown)) = (self.names(), unknown) else {
                    unreachable!("the unknown label is of the kind of the others")
                };
                let name = |class: &Option<usize>| {
                    class.map_or_else(|| unknown[0].clone(), |class| names[class].clone())
                };
                Labels::Texts(classes.iter().map(name).collect())
            }
        }
    }

    /// The label, one alone, of a row without a class: −1 or `unknown`. If a class is called so, it
    /// is one below the smallest number, or has more underscores behind it.
    pub fn unknown(&self) -> Labels {
        match &self.labels {
            Labels::Integers(known) => {
                let below = |least: &i64| least.checked_sub(1);
                let taken = known.contains(&-1);
                let free = known.first().filter(|_| taken).map_or(Some(-1), below);
                // The smallest number of all has none below it.
                let unused = || (0..i64::MAX).find(|value| !known.contains(value)).unwrap_or(0);
                Labels::Integers(vec![free.unwrap_or_else(unused)])
            }
            Labels::Texts(known) => {
                let mut name = String::from("unknown");
                while known.contains(&name) {
                    name.push('_');
                }
                Labels::Texts(vec![name])
            }
        }
    }

    /// The labels in words, not too many of them.
    fn listed(&self) -> String {
        let names = self.names();
        let shown = names[..names.len().min(MOST_LISTED)].join(", ");
        if names.len() > MOST_LISTED {
            return format!("{shown} and {} more", names.len() - MOST_LISTED);
        }
        shown
    }
}

fn distinct<T: Ord + Clone>(values: &[T]) -> Vec<T> {
    let mut distinct: Vec<T> = values.to_vec();
    distinct.sort_unstable();
    distinct.dedup();
    distinct
}

fn place<T: Ord>(distinct: &[T], value: &T) -> usize {
    distinct.partition_point(|other| other < value)
}

/// The place of each value among the known ones, or the first that is not there.
fn indices<T: PartialEq + ToString>(
    known: &[T],
    given: &[T],
) -> Result<Vec<usize>, (usize, String)> {
    let find = |(row, value): (usize, &T)| {
        known.iter().position(|other| other == value).ok_or_else(|| (row, value.to_string()))
    };
    given.iter().enumerate().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(values: &[&str]) -> Labels {
        Labels::Texts(values.iter().map(ToString::to_string).collect())
    }

    #[test]
    fn numbers_are_sorted_by_value_and_texts_by_bytes() {
        let (classes, rows) = Classes::of(&Labels::Integers(vec![10, 9, -1, 10]));
        assert_eq!(classes.names(), ["-1", "9", "10"]);
        assert_eq!(rows, [2, 1, 0, 2]);
        let (classes, rows) = Classes::of(&texts(&["b", "10", "Z", "9", "b"]));
        assert_eq!(classes.names(), ["10", "9", "Z", "b"]);
        assert_eq!(rows, [3, 0, 2, 1, 3]);
    }

    #[test]
    fn labels_come_back_and_unknown_is_never_a_class() {
        let (classes, rows) = Classes::of(&texts(&["unknown", "a"]));
        let back: Vec<Option<usize>> = rows.into_iter().map(Some).chain([None]).collect();
        assert_eq!(classes.labels(&back), texts(&["unknown", "a", "unknown_"]));
        for (labels, unknown) in
            [(vec![3, 4], -1), (vec![-1, 0], -2), (vec![i64::MIN, -1, 0, 1], 2)]
        {
            let (classes, _) = Classes::of(&Labels::Integers(labels));
            assert_eq!(classes.labels(&[None]), Labels::Integers(vec![unknown]));
        }
    }

    #[test]
    fn a_label_that_the_source_never_has_is_named_with_its_row() {
        let (classes, _) = Classes::of(&Labels::Integers((0..20).collect()));
        let given = Labels::Integers(vec![3, 0, 42, 43]);
        let error = classes.indices(&given, Which::TargetLabels).unwrap_err().to_string();
        assert!(error.contains("target labels have 42 in row 2"), "{error}");
        assert!(error.contains("0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 10 more"), "{error}");
        let mixed = classes.indices(&texts(&["7", "0"]), Which::TestLabels).unwrap();
        assert_eq!(mixed, [7, 0]);
    }
}

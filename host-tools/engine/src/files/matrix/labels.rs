//! Labels of rows, and the rules for what is one.

/// One label for each row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Labels {
    /// Whole numbers.
    Integers(Vec<i64>),
    /// Names.
    Texts(Vec<String>),
}

impl Labels {
    /// Number of labels.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(labels) => labels.len(),
            Self::Texts(labels) => labels.len(),
        }
    }

    /// Returns true if there is no label.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The labels as texts.
    pub fn into_texts(self) -> Vec<String> {
        match self {
            Self::Integers(labels) => labels.iter().map(i64::to_string).collect(),
            Self::Texts(labels) => labels,
        }
    }
}

/// Most memory that labels may take, in bytes. A small Parquet file can announce any number of
/// equal labels.
const MOST: usize = 1 << 30;

/// Collects labels and refuses those that are none. Rows count from 0.
#[derive(Debug, Default)]
pub(super) struct Collector {
    integers: Vec<i64>,
    texts: Vec<String>,
    bytes: usize,
}

impl Collector {
    fn row(&self) -> usize {
        self.integers.len() + self.texts.len()
    }

    fn count(&mut self, bytes: usize) -> Result<(), String> {
        self.bytes += bytes;
        if self.bytes > MOST {
            return Err(format!("more than {} MB of labels; split the file", MOST >> 20));
        }
        Ok(())
    }

    /// Adds an integer.
    pub(super) fn integer(&mut self, label: impl Into<i128>) -> Result<(), String> {
        let label: i128 = label.into();
        let label = i64::try_from(label).map_err(|_| {
            format!(
                "row {}: the label {label} has more than 64 bits; number the classes from 0",
                self.row()
            )
        })?;
        self.count(size_of::<i64>())?;
        self.integers.push(label);
        Ok(())
    }

    /// Adds a float that must be a whole number.
    pub(super) fn float(&mut self, label: f64) -> Result<(), String> {
        // Whole numbers up to 2^53 are exact.
        if label.fract() != 0.0 || label.abs() > 9_007_199_254_740_992.0 {
            return Err(format!(
                "row {}: the label {label} is no whole number; labels are whole numbers or names",
                self.row()
            ));
        }
        self.integer(label as i64)
    }

    /// Adds a text.
    pub(super) fn text(&mut self, label: &str) -> Result<(), String> {
        if label.is_empty() {
            return Err(self.missing());
        }
        self.count(size_of::<String>() + label.len())?;
        self.texts.push(label.into());
        Ok(())
    }

    /// The problem of a row without a label.
    pub(super) fn missing(&self) -> String {
        format!("row {} has no label; give every row one, or leave the row out", self.row())
    }

    /// The labels. A file holds only one kind of them.
    pub(super) fn labels(self) -> Labels {
        if self.texts.is_empty() {
            Labels::Integers(self.integers)
        } else {
            Labels::Texts(self.texts)
        }
    }
}

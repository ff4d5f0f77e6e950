//! Matrices and labels in files: as other programs write them, as we write them, and damaged.

mod golden;
mod hostile;
mod round_trip;

use std::path::{Path, PathBuf};

use ndarray::Array2;
use rebearing_host::files::matrix::{Labels, MatrixError, read, read_labels};

fn golden_file(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/files/golden/matrices").join(name)
}

/// A folder, and a file in it.
fn file(name: &str, content: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join(name);
    std::fs::write(&path, content).unwrap();
    (folder, path)
}

/// The numbers of the golden matrices.
fn expected() -> Array2<f64> {
    Array2::from_shape_fn((12, 3), |(i, j)| (((37 * i + 11 * j) % 101) as f64 - 50.0) / 64.0)
}

fn integers() -> Labels {
    Labels::Integers((0..12).map(|i| i % 3).collect())
}

fn names() -> Labels {
    let names = ["Healthy", "Innenring", "Kugel ü"];
    Labels::Texts((0..12).map(|i| names[i % 3].to_owned()).collect())
}

/// Asserts that an error names the file and has all of `parts`.
fn says<T: std::fmt::Debug>(path: &Path, result: Result<T, MatrixError>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    assert!(message.starts_with(&path.display().to_string()), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part}: {message}");
    }
}

/// Asserts that a text is refused as a matrix in a CSV file.
fn refused(text: &str, parts: &[&str]) {
    let (_folder, path) = file("x.csv", text);
    says(&path, read(&path), parts);
}

/// Asserts that a text is refused as labels in a CSV file.
fn refused_labels(text: &str, parts: &[&str]) {
    let (_folder, path) = file("y.csv", text);
    says(&path, read_labels(&path), parts);
}

//! Files by numpy, pandas, polars and pyarrow. golden/matrices.py made them.

use rebearing_host::data::recording;
use rebearing_host::files::matrix::{Labels, Matrix, read, read_labels};

use crate::{expected, golden_file, integers, names, says};

fn matrix(name: &str) -> Matrix {
    read(&golden_file(name)).unwrap_or_else(|error| panic!("{error}"))
}

fn labels(name: &str) -> Labels {
    read_labels(&golden_file(name)).unwrap_or_else(|error| panic!("{error}"))
}

#[test]
fn csv_and_npy() {
    assert_eq!(matrix("x.npy"), Matrix::F32(expected().mapv(|number| number as f32)));
    assert_eq!(matrix("numpy.csv"), Matrix::F64(expected()));
    assert_eq!(matrix("polars.csv"), Matrix::F64(expected()));
    assert_eq!(labels("polars.csv"), names());
    let path = golden_file("pandas-index.csv");
    says(&path, read(&path), &["column 0 has no name", "index=False"]);
}

#[test]
fn labels_in_npy_have_any_width_and_byte_order() {
    for kind in ["i1", "big-i2", "little-u4", "little-i8", "big-u8", "little-f4", "big-f8"] {
        assert_eq!(labels(&format!("y-{kind}.npy")), integers(), "{kind}");
    }
    for kind in ["little-U12", "big-U12", "bytes"] {
        assert_eq!(labels(&format!("y-{kind}.npy")), names(), "{kind}");
    }
    let truth = (0..12).map(|i| i64::from(i % 3 != 0)).collect();
    assert_eq!(labels("y-bool.npy"), Labels::Integers(truth));
    let path = golden_file("y-half.npy");
    says(&path, read_labels(&path), &["row 2", "1.5", "whole number"]);
}

#[cfg(feature = "parquet")]
#[test]
fn parquet_by_pandas_and_pyarrow() {
    assert_eq!(matrix("pyarrow-snappy.parquet"), Matrix::F64(expected()));
    assert_eq!(labels("pandas-names.parquet"), names());
    let Matrix::F64(gaps) = matrix("pandas-null.parquet") else { panic!("doubles") };
    let differ: ndarray::Array2<bool> = ndarray::Array2::from_shape_fn((12, 3), |at| {
        gaps[at].to_bits() != expected()[at].to_bits()
    });
    assert_eq!(
        differ.indexed_iter().filter(|(_, d)| **d).map(|(at, _)| at).collect::<Vec<_>>(),
        [(7, 1)]
    );
    assert!(gaps[(7, 1)].is_nan());
    let path = golden_file("pyarrow-snappy.parquet");
    says(&path, read_labels(&path), &["which column", "`label`", "f0, f1, f2"]);
    let path = golden_file("pandas-names.parquet");
    says(&path, read(&path), &["no column of numbers", "y"]);
}

#[cfg(feature = "zstd")]
#[test]
fn parquet_with_zstd_is_read() {
    assert_eq!(matrix("polars.parquet"), Matrix::F32(expected().mapv(|number| number as f32)));
    assert_eq!(labels("polars.parquet"), names());
    assert_eq!(labels("polars-labels.parquet"), integers());
    assert_eq!(matrix("pyarrow-zstd.parquet"), Matrix::F64(expected()));
    let f1 = recording::read(&golden_file("polars.parquet"), Some("f1")).unwrap();
    let column: Vec<f32> = expected().column(1).iter().map(|number| *number as f32).collect();
    assert_eq!(f1.stretches().unwrap()[0], column);
}

#[cfg(all(feature = "parquet", not(feature = "zstd")))]
#[test]
fn parquet_with_zstd_is_refused_with_the_remedy() {
    let path = golden_file("polars.parquet");
    let parts = ["compressed with zstd", "the feature `zstd`", "snappy"];
    says(&path, read(&path), &parts);
    says(&path, read_labels(&path), &parts);
    let message = recording::read(&path, Some("f1")).unwrap_err().to_string();
    assert!(parts.iter().all(|part| message.contains(part)), "{message}");
}

#[cfg(not(feature = "parquet"))]
#[test]
fn a_build_without_parquet_says_so() {
    let path = golden_file("pyarrow-snappy.parquet");
    says(&path, read(&path), &["the feature `parquet`"]);
    says(&path, read_labels(&path), &["the feature `parquet`"]);
    assert!(recording::read(&path, None).is_err());
}

#[cfg(feature = "parquet")]
#[test]
fn other_codecs_are_named() {
    let path = golden_file("pyarrow-brotli.parquet");
    says(&path, read(&path), &["compressed with brotli", "snappy"]);
    let message = recording::read(&path, Some("f1")).unwrap_err().to_string();
    assert!(message.contains("compressed with brotli"), "{message}");
}

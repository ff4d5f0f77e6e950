//! Files that are damaged, or made to confuse or to fill the memory.

use rebearing_host::files::matrix::{Labels, Matrix, read, read_labels};

use crate::{file, refused, refused_labels, says};

#[test]
fn cells_that_are_no_numbers_are_named() {
    refused("a,b\n1,2\n3,x\n", &["line 3, column b", "\"x\"", "no number"]);
    refused("a,b\n1,2\n\n3,\n", &["line 4, column b", "empty", "NaN"]);
    refused("1,2\n3,x\n", &["line 2, column 1"]);
    refused("a,b\n1,2,3\n", &["line 2", "3 fields", "first row has 2"]);
    refused("a;b\n1,5;2\n", &["line 2, column a", "\"1,5\""]);
    refused("a\n1\n\n3\n", &["line 3 is empty"]);
    refused("a\r\n1\r\n\r\n3\r\n", &["line 3 is empty"]);
    refused("", &["no numbers"]);
    refused("a,b\n", &["no numbers", "0 rows"]);
    refused("label,time\nx,1\n", &["no numbers", "0 columns"]);
    refused("a,b\n1,\0\n", &["no text"]);
    refused("PAR1 and more", &["is a parquet file", "named .csv"]);
}

#[test]
fn tables_in_other_dialects_are_read() {
    for text in [
        "a,b\n1,2\n3,4\n",
        "1,2\n3,4",
        "\u{feff}a;b\r\n1;2\r\n\r\n3;4\r\n\r\n",
        "a\tb\n1\t2\n3\t4\n",
        "# a,b\n1, 2\n\"3\", 4\n",
        "a,time,b,label,domain,recording\n1,0,2,x,,\"r\n1\"\n3,9,4,,\"\",\n",
    ] {
        let (_folder, path) = file("X.CSV", text);
        let expected = ndarray::array![[1.0, 2.0], [3.0, 4.0]];
        assert_eq!(read(&path).unwrap_or_else(|e| panic!("{e}")), Matrix::F64(expected), "{text}");
    }
}

#[test]
fn labels_that_are_none_are_named() {
    refused_labels("0\n1\n1.5\n", &["line 3", "1.5", "whole number"]);
    refused_labels("0\n\n1\n", &["line 2 is empty"]);
    refused_labels("label\na\n\"\"\n", &["line 3", "no label"]);
    refused_labels("a,b\n1,2\n", &["line 1", "which column", "`label`", "a, b"]);
    refused_labels("label\n", &["no labels"]);
    refused_labels("", &["no labels"]);
    refused_labels("0\n9223372036854775808\n", &["line 2", "whole number"]);
    refused_labels("0\nNaN\n", &["line 2", "whole number"]);
    let (_folder, path) = file("y.csv", b"a\n\xff\n");
    says(&path, read_labels(&path), &["line 2", "UTF-8"]);
}

#[test]
fn a_header_is_not_taken_for_a_label() {
    for (text, expected) in [
        ("label\n1\n2\n", Labels::Integers(vec![1, 2])),
        ("y\n1\n2.0\n", Labels::Integers(vec![1, 2])),
        ("1\n2\n", Labels::Integers(vec![1, 2])),
        ("a\n2\nb", Labels::Texts(vec!["a".into(), "2".into(), "b".into()])),
        ("a", Labels::Texts(vec!["a".into()])),
        ("7", Labels::Integers(vec![7])),
        ("x,label\n1,a\n2,b\n", Labels::Texts(vec!["a".into(), "b".into()])),
    ] {
        let (_folder, path) = file("y.csv", text);
        assert_eq!(read_labels(&path).unwrap_or_else(|e| panic!("{e}")), expected, "{text}");
    }
}

#[test]
fn npy_labels_that_do_not_fit_are_refused() {
    let npy = |kind: &str, shape: &str, data: &[u8]| {
        let text = format!("{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}\n");
        let length = (text.len() as u16).to_le_bytes();
        [b"\x93NUMPY\x01\0", &length[..], text.as_bytes(), data].concat()
    };
    for (bytes, part) in [
        (npy("<i8", "(2,)", &[0; 15]), "cut off"),
        (npy("<i8", "(4294967296, 1)", &[0; 8]), "cut off"),
        (npy("<U0", "(1000000000000,)", &[]), "not supported"),
        (npy("<U4294967295", "(1,)", &[0; 4]), "not supported"),
        (npy("<c16", "(1,)", &[0; 16]), "not supported"),
        (npy("<i8", "(2, 2)", &[0; 32]), "one label a row"),
        (npy("<i8", "()", &[0; 8]), "one label a row"),
        (npy("<i8", "(0,)", &[]), "no labels"),
        (npy("<U1", "(1,)", &[0, 0, 0x11, 0]), "no text"),
        (npy("<U1", "(1,)", &[0; 4]), "no label"),
        (npy("|S1", "(1,)", &[0xff]), "UTF-8"),
        (npy("<u8", "(1,)", &[0xff; 8]), "more than 64 bits"),
    ] {
        let (_folder, path) = file("y.npy", bytes);
        says(&path, read_labels(&path), &[part]);
    }
    let (_folder, path) = file("x.npy", npy("<f8", "(0, 1000000000)", &[]));
    says(&path, read(&path), &["no numbers"]);
}

#[cfg(feature = "zstd")]
#[test]
fn small_parquet_files_cannot_fill_the_memory() {
    let path = crate::golden_file("large-page.parquet");
    let parts = ["column x, page at byte 4", "72000", "compressed bytes"];
    says(&path, read(&path), &parts);
    says(&path, read_labels(&path), &parts);
    let message = rebearing_host::data::recording::read(&path, None).unwrap_err().to_string();
    assert!(message.contains("page at byte 4"), "{message}");
    let path = crate::golden_file("many-rows.parquet");
    says(&path, read(&path), &["40000000 rows × 1 columns", "507 bytes"]);
}

/// Damaged files are read or refused, but never panic, hang or fill the memory.
#[cfg(feature = "parquet")]
#[test]
fn damaged_parquet_files_are_read_or_refused() {
    // A multiplicative generator is random enough to choose bytes.
    let mut state = 1_u64;
    let mut random = |n: usize| {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        (state >> 33) as usize % n
    };
    let (_folder, path) = file("x.parquet", "");
    let (mut well, mut refused) = (0, 0);
    for name in ["pyarrow-snappy", "pyarrow-zstd", "polars", "polars-labels", "pandas-names"] {
        let seed = std::fs::read(crate::golden_file(&format!("{name}.parquet"))).unwrap();
        for _ in 0..150 {
            let mut bytes = seed.clone();
            for _ in 0..=random(3) {
                let at = random(bytes.len());
                bytes[at] = random(256) as u8;
            }
            bytes.truncate(if random(8) == 0 { random(bytes.len()) } else { bytes.len() });
            std::fs::write(&path, bytes).unwrap();
            for good in [read(&path).is_ok(), read_labels(&path).is_ok()] {
                if good { well += 1 } else { refused += 1 }
            }
        }
    }
    assert!(well > 50 && refused > 50, "{well} {refused}");
}

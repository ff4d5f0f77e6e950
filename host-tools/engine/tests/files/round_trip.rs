//! Files that we write come back as they were.

use ndarray::{Array2, array};
use rebearing_host::files::matrix::{
    Beside, Block, Labels, Matrix, Table, read, read_labels, rows_file, write, write_labels,
    write_table,
};

use crate::{expected, file, integers, names, says};

const FORMATS: &[&str] =
    if cfg!(feature = "parquet") { &["npy", "csv", "parquet"] } else { &["npy", "csv"] };

fn columns(count: usize) -> Vec<String> {
    (0..count).map(|column| format!("c{column}")).collect()
}

#[test]
fn a_matrix_keeps_every_bit() {
    let folder = tempfile::tempdir().unwrap();
    let odd = array![
        [0.1, -0.0, 1e-300, 1.0 / 3.0],
        [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX],
        [f64::from(0.1_f32), 5e-324, -1e300, 123_456_789.123_456_78],
    ];
    let tall = Array2::from_shape_fn((70_000, 2), |(i, j)| (i as f64).sqrt() - j as f64);
    for x in [odd, expected(), tall, array![[7.0]]] {
        for format in FORMATS {
            let path = folder.path().join(format!("x.{format}"));
            write(&path, x.view(), &columns(x.ncols())).unwrap();
            let Matrix::F64(read) = read(&path).unwrap() else { panic!("{format}") };
            let bits = |x: &Array2<f64>| x.mapv(f64::to_bits);
            assert_eq!(bits(&read), bits(&x), "{format}");
        }
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), FORMATS.len());
}

#[test]
fn labels_come_back() {
    let folder = tempfile::tempdir().unwrap();
    let hostile = ["=cmd|' /C calc'!A0", "'=1", "a,b", "\"q\"", "+1", "#1", "日本", "x y"];
    for labels in [
        integers(),
        names(),
        Labels::Integers(vec![i64::MIN, -1, 0, i64::MAX]),
        Labels::Texts(hostile.map(String::from).to_vec()),
    ] {
        for format in FORMATS {
            let path = folder.path().join(format!("y.{format}"));
            write_labels(&path, &labels).unwrap();
            assert_eq!(read_labels(&path).unwrap(), labels, "{format}");
        }
    }
}

#[test]
fn a_table_gives_its_numbers_and_its_labels() {
    let folder = tempfile::tempdir().unwrap();
    let x = expected().mapv(|number| number as f32 / 3.0);
    let (first, last) = (x.slice(ndarray::s![..5, ..]), x.slice(ndarray::s![5.., ..]));
    let Labels::Texts(texts) = names() else { panic!("texts") };
    let columns = columns(3);
    let table = Table {
        beside: vec![
            ("label", Beside::Texts(texts.iter().map(|text| Some(text.as_str())).collect())),
            ("domain", Beside::Texts(vec![None; 12])),
            ("time", Beside::Numbers((0..12).map(f64::from).collect())),
        ],
        columns: &columns,
        blocks: vec![Block::F32(first), Block::F32(last)],
    };
    for format in FORMATS {
        let path = folder.path().join(format!("x.{format}"));
        write_table(&path, &table).unwrap();
        assert_eq!(read(&path).unwrap().into_f64(), x.mapv(f64::from), "{format}");
        let labelled = rows_file(&path).unwrap_or_else(|| path.clone());
        assert_eq!(read_labels(&labelled).unwrap(), names(), "{format}");
    }
    // Double precision would hide that the numbers are those of the device.
    let single = |name: &str| matches!(read(&folder.path().join(name)).unwrap(), Matrix::F32(_));
    assert!(FORMATS.iter().filter(|f| **f != "csv").all(|f| single(&format!("x.{f}"))));
}

#[test]
fn what_cannot_be_written_leaves_the_old_file() {
    let (folder, path) = file("x.csv", "old");
    let x = array![[1.0, 2.0]];
    for names in [vec!["a"], vec!["a", "a"], vec!["a", "time"], vec!["a", ""]] {
        let names: Vec<String> = names.into_iter().map(String::from).collect();
        assert!(write(&path, x.view(), &names).is_err(), "{names:?}");
    }
    let message = write(&path, x.view(), &["a".into(), "time".into()]).unwrap_err().to_string();
    assert!(message.contains("\"time\""), "{message}");
    assert_eq!(std::fs::read(&path).unwrap(), b"old");
    for name in ["x.txt", "x", "x.npz"] {
        let path = folder.path().join(name);
        says(&path, write(&path, x.view(), &columns(2)), &[".npy, .csv or .parquet"]);
        says(&path, write_labels(&path, &integers()), &[".npy, .csv or .parquet"]);
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}

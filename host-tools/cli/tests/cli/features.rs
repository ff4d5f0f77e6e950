//! `rebearing features` as its users run it: the same numbers in every format, the rows' columns,
//! and its messages for bad input.

use std::path::Path;
use std::sync::LazyLock;

use ndarray::Array2;
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::features::front_end::{Blocks, EqualBands, FrontEndSettings};
use rebearing_host::files::matrix::{self, Labels, Matrix};
use rebearing_host::source::LabelledFeatures;

use crate::workplace::Workplace;

const FORMATS: &[&str] =
    if cfg!(feature = "parquet") { &["npy", "csv", "parquet"] } else { &["npy", "csv"] };

/// Two simulated machines of one axis, and one of three.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let place = Workplace::new();
    place.json("simulate --out m --seconds 1 --classes Healthy,InnerRace");
    place
        .json("simulate --out three --seconds 1 --axes 3 --machines 1 --classes Healthy,InnerRace");
    place
});

/// A copy of the recordings in a folder of its own.
fn copied(files: &[(&str, &str)]) -> Workplace {
    let place = Workplace::new();
    for (from, to) in files {
        place.write(to, WORLD.bytes(from));
    }
    place
}

fn numbers(path: &Path) -> Array2<f64> {
    matrix::read(path).unwrap_or_else(|error| panic!("{error}")).into_f64()
}

/// The rows of a CSV file with its header.
fn csv_rows(place: &Workplace, name: &str) -> Vec<Vec<String>> {
    let text = place.bytes(name);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).from_reader(text.as_slice());
    reader.records().map(|row| row.unwrap().iter().map(String::from).collect()).collect()
}

#[test]
fn every_format_holds_the_features_that_fit_sees() {
    let manifest = Manifest::read(&WORLD.path().join("m/manifest.csv")).unwrap();
    let mut expected = Vec::new();
    let mut labels = Vec::new();
    for name in ["motor-b", "motor-a"] {
        let domain = Domain::read(&manifest, name).unwrap();
        let front_end =
            FrontEndSettings::equal_bands(EqualBands::usual(domain.rate_hz, domain.axes)).unwrap();
        let known = LabelledFeatures::extract(&domain, &front_end).unwrap();
        expected.extend(known.features.x.iter().map(|number| number.to_bits()));
        labels.extend(known.labels.iter().map(|label| known.classes[*label].clone()));
    }
    for format in FORMATS {
        let out = format!("fit.{format}");
        let json = WORLD.json(&format!(
            "features --manifest m/manifest.csv --domain motor-b,motor-a --out {out}"
        ));
        let path = WORLD.path().join(&out);
        let read = matrix::read(&path).unwrap();
        assert_eq!(matches!(read, Matrix::F32(_)), *format != "csv", "{format}");
        let read = read.into_f64();
        assert!(read.iter().all(|x| f64::from(*x as f32) == *x), "{format}: single precision");
        let bits: Vec<u32> = read.iter().map(|x| (*x as f32).to_bits()).collect();
        assert_eq!(bits, expected, "{format}");
        assert_eq!(
            (json["rows"].as_u64(), json["features"].as_u64()),
            (Some(read.nrows() as u64), Some(read.ncols() as u64))
        );
        let labelled = if *format == "npy" { "fit.rows.csv" } else { &out };
        let read = matrix::read_labels(&WORLD.path().join(labelled)).unwrap();
        assert_eq!(read, Labels::Texts(labels.clone()), "{format}");
        assert_eq!(json["out"], out.as_str());
        assert_eq!(json["domains"], serde_json::json!(["motor-b", "motor-a"]));
        assert_eq!(json["classes"], serde_json::json!(["Healthy", "InnerRace"]));
        assert_eq!(json["rows_out"].is_string(), *format == "npy");
        assert_eq!(json["columns"][31], "x_band31_9688to10000Hz");
        assert_eq!((&json["unlabelled"], &json["resampled"]["recordings"]), (&0.into(), &0.into()));
    }
}

#[test]
fn a_row_says_where_its_window_comes_from() {
    WORLD.json("features --manifest m/manifest.csv --out all.csv");
    WORLD.json("features --manifest m/manifest.csv --domain all --out all.npy");
    let rows = csv_rows(&WORLD, "all.csv");
    let beside = csv_rows(&WORLD, "all.rows.csv");
    assert_eq!(beside[0], ["label", "domain", "recording", "time"]);
    assert_eq!(rows[0][4], "x_band00_0to313Hz");
    assert_eq!(rows.iter().map(|row| row[..4].to_vec()).collect::<Vec<_>>(), beside);
    // 20,000 samples give 17 windows of 3072 samples, one every 1024.
    assert_eq!(rows.len(), 1 + 4 * 17);
    let manifest = csv_rows(&WORLD, "m/manifest.csv");
    for (index, row) in beside[1..].iter().enumerate() {
        let (recording, window) = (&manifest[1 + index / 17], index % 17);
        assert_eq!(row[..3], [&recording[1], &recording[2], &recording[0]].map(Clone::clone));
        assert_eq!(row[3].parse::<f64>().unwrap(), window as f64 * 1024.0 / 20_000.0);
    }
}

#[test]
fn axes_and_blocks_name_the_columns() {
    let json = WORLD.json(
        "features --manifest three/manifest.csv --blocks bands,orders,envelope --bands mel:8 \
         --out three.csv",
    );
    let columns: Vec<&str> =
        json["columns"].as_array().unwrap().iter().map(|name| name.as_str().unwrap()).collect();
    assert_eq!(columns.len(), 3 * (8 + 32 + 32));
    assert_eq!(columns[8], "x_order00_0.5to1");
    assert_eq!(columns[40], "x_envelope00_0.5to1");
    assert_eq!(columns[72], columns[0].replace('x', "y"));
    assert_eq!(csv_rows(&WORLD, "three.csv")[0][4..], columns);
    // The order of the columns is the device's.
    let manifest = Manifest::read(&WORLD.path().join("three/manifest.csv")).unwrap();
    let domain = Domain::read(&manifest, manifest.domains()[0]).unwrap();
    let bands = EqualBands { bands: 8, ..EqualBands::usual(domain.rate_hz, 3) };
    let front_end = FrontEndSettings::equal_bands(bands)
        .unwrap()
        .spaced(rebearing_host::features::bands::Spacing::Mel)
        .with_blocks(Blocks { orders: true, envelope: true })
        .unwrap();
    let known = LabelledFeatures::extract(&domain, &front_end).unwrap();
    assert_eq!(numbers(&WORLD.path().join("three.csv")), known.features.x.mapv(f64::from));
}

#[test]
fn the_table_serves_gmm() {
    let name = FORMATS[FORMATS.len() - 1];
    WORLD.json(&format!("features --manifest m/manifest.csv --out g.{name}"));
    let json = WORLD.json(&format!("gmm --data g.{name} --components 2 --out g.json"));
    assert_eq!((json["samples"].as_u64(), json["features"].as_u64()), (Some(68), Some(32)));
}

#[test]
fn recordings_need_no_label_and_names_are_only_text() {
    let place = copied(&[("m/motor-a/Healthy.wav", "a, \"b\".wav")]);
    place.write(
        "m.csv",
        "path,label,domain,rate_hz\n\"a, \"\"b\"\".wav\",,'=1+1,20000\n\"a, \"\"b\"\".wav\",'@x,z,20000\n",
    );
    let json = place.json("features --manifest m.csv --out x.csv");
    assert_eq!((&json["unlabelled"], &json["classes"]), (&17.into(), &serde_json::json!(["@x"])));
    let rows = csv_rows(&place, "x.csv");
    assert_eq!(rows[1][..3], ["", "'=1+1", "a, \"b\".wav"]);
    assert_eq!(rows[18][..2], ["'@x", "z"], "a spreadsheet runs no cell");
    let labels = matrix::read_labels(&place.path().join("x.csv")).unwrap_err().to_string();
    assert!(labels.contains("line 2") && labels.contains("no label"), "{labels}");
    // Only Parquet can hold this one: a spreadsheet would run a part of it.
    place.write("r.csv", "path,label,domain,rate_hz\n\"a, \"\"b\"\".wav\",x;=1,a,20000\n");
    for format in ["csv", "npy"] {
        let command = format!("features --manifest r.csv --out r.{format}");
        place.refused(&command, &["x;=1", "spreadsheet", ".parquet"]);
        assert!(!place.has("r.csv.npy") && !place.has("r.npy") && !place.has("r.rows.csv"));
    }
    if cfg!(feature = "parquet") {
        place.json("features --manifest r.csv --out r.parquet");
        let labels = matrix::read_labels(&place.path().join("r.parquet")).unwrap();
        assert_eq!(labels, Labels::Texts(vec!["x;=1".into(); 17]));
    }
}

#[test]
fn what_cannot_be_done_is_refused_and_leaves_nothing() {
    let place =
        copied(&[("m/motor-a/Healthy.wav", "one.wav"), ("three/motor-a/Healthy.wav", "three.wav")]);
    let header = "path,label,domain,rate_hz\n";
    place.write("m.csv", format!("{header}one.wav,x,a,20000\nthree.wav,x,b,20000\n"));
    place.write("fast.csv", format!("{header}one.wav,x,a,12000\n"));
    let files = || std::fs::read_dir(place.path()).unwrap().count();
    let before = files();
    for (options, parts) in [
        ("--manifest m.csv --domain a --out x.txt", &["x.txt", ".npy, .csv or .parquet"][..]),
        ("--manifest m.csv --domain a --out x", &[".npy, .csv or .parquet"]),
        ("--manifest m.csv --domain a --out no/x.csv", &["no/x.csv", "folder that exists"]),
        ("--manifest m.csv --domain c --out x.csv", &["\"c\"", "a, b"]),
        ("--manifest no.csv --out x.csv", &["no.csv"]),
        ("--manifest fast.csv --out x.csv", &["12000", "20000"]),
        ("--manifest m.csv --out x.csv", &["domain b has 3 axes", "domain a has 1 axis"]),
        ("--manifest m.csv --domain a --out x.csv --fft 1000", &["1000", "1024"]),
        ("--manifest m.csv --domain a --out x.csv --segments 60", &["one.wav", "--segments"]),
        ("--manifest m.csv --domain a --out x.csv --blocks bands,orders", &["rpm column"]),
    ] {
        place.refused(&format!("features {options}"), parts);
        assert_eq!(files(), before, "{options}");
    }
    // The rows' file has to be writable too, and an old file stays if something is wrong.
    std::fs::create_dir(place.path().join("y.rows.csv")).unwrap();
    place.refused("features --manifest m.csv --domain a --out y.npy", &["y.rows.csv"]);
    assert!(!place.has("y.npy"));
    place.write("old.csv", "old");
    place.refused("features --manifest m.csv --out old.csv", &["domain b has 3 axes"]);
    assert_eq!(place.read("old.csv"), "old");
}

#[test]
fn machines_of_different_rates_have_bands_at_the_same_frequencies() {
    WORLD.json("simulate --out slow --rate 10000 --seconds 1 --machines 1 --classes Healthy");
    let fast = WORLD.read("m/manifest.csv").replace("motor-", "m/motor-");
    let slow = WORLD.read("slow/manifest.csv").replace("motor-", "slow/motor-");
    let slow: Vec<String> =
        slow.lines().skip(1).map(|row| row.replace(",slow/motor-a,", ",slow,")).collect();
    let fast = fast.replace(",m/motor-", ",motor-");
    WORLD.write("rates.csv", format!("{}\n{}\n", fast.trim_end(), slow.join("\n")));
    let json =
        WORLD.json("features --manifest rates.csv --domain motor-a,slow --out rates.csv.csv");
    assert_eq!(json["columns"][31], "x_band31_4844to5000Hz");
    let json =
        WORLD.json("features --manifest rates.csv --domain motor-a,slow --resample --out r.csv");
    assert_eq!((&json["rate_hz"], &json["resampled"]["recordings"]), (&10_000.0.into(), &2.into()));
}

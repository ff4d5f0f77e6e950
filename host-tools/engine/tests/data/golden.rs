//! Every format as other programs write it. golden/recordings.py made the files with scipy, numpy,
//! pandas, pyarrow and sox. The numbers are exact in f32, so the tests compare them for equality.

use std::path::{Path, PathBuf};

use rebearing_host::data::recording::{Recording, read, read_within};

fn golden(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/golden/recordings").join(name)
}

fn counts() -> Vec<f32> {
    (0..40).map(|i| ((37 * i) % 101 - 50) as f32).collect()
}

fn x() -> Vec<f32> {
    counts().iter().map(|c| c / 64.0).collect()
}

fn y() -> Vec<f32> {
    x().iter().map(|x| -x / 2.0).collect()
}

fn z() -> Vec<f32> {
    x().iter().map(|x| x + 1.0).collect()
}

fn scaled(factor: f32) -> Vec<f32> {
    counts().iter().map(|c| c * factor).collect()
}

/// Returns the axes of a recording of one stretch. Asserts that memory and stream agree.
fn axes(name: &str, channel: Option<&str>) -> (Vec<Vec<f32>>, Option<f64>) {
    let path = golden(name);
    let recording = read(&path, channel).unwrap_or_else(|error| panic!("{error}"));
    let streamed = read_within(&path, channel, 0).unwrap();
    assert!(streamed.stretches().unwrap_err().to_string().contains("cut the file"), "{name}");
    let in_memory = recording.stretches().unwrap();
    assert_eq!(in_memory.len(), 1, "{name}");
    assert_eq!(gathered(&streamed), in_memory, "{name}: streamed");
    let axis = |axis| in_memory[0].iter().skip(axis).step_by(recording.axes).copied().collect();
    ((0..recording.axes).map(axis).collect(), recording.rate_hz)
}

fn gathered(recording: &Recording) -> Vec<Vec<f32>> {
    let frames = recording.stretch_frames().into_iter().enumerate();
    let stretch = |(stretch, frames)| {
        let mut samples = Vec::new();
        recording
            .each_chunk(stretch, 0..frames, |chunk| {
                samples.extend_from_slice(chunk);
                Ok::<_, rebearing_host::data::recording::RecordingError>(())
            })
            .unwrap();
        samples
    };
    frames.map(stretch).collect()
}

#[test]
fn matlab_by_scipy() {
    for file in ["plain.mat", "compressed.mat"] {
        let one = |channel: &str| {
            let (axes, rate_hz) = axes(file, Some(channel));
            assert_eq!((axes.len(), rate_hz), (1, None), "{file} {channel}");
            axes.into_iter().next().unwrap()
        };
        for (channel, values) in [
            ("x", x()),
            ("single", x()),
            ("counts32", counts()),
            ("counts8", counts()),
            ("data.vibration.x", x()),
            ("data.vibration.y", y()),
            ("cells{1}", x()),
            ("cells{2}", y()),
            ("runs(1).signal", x()),
            ("runs(2).signal", y()),
            ("xyz(:,2)", y()),
            ("wide(2,:)", y()),
            ("seven(:,2)", z()),
        ] {
            assert_eq!(one(channel), values, "{file} {channel}");
        }
        assert_eq!(axes(file, Some("xyz")).0, [x(), y(), z()]);
        assert_eq!(axes(file, Some("wide")).0, [x(), y()]);
        let mixed = axes(file, Some("data.vibration.y;wide(1,:);xyz(:,3)")).0;
        assert_eq!(mixed, [y(), x(), z()]);
        for (channel, says) in [
            (None, "which channel?"),
            (None, "data.vibration.x (1×40), data.vibration.y (1×40), data.rate (1×1)"),
            (Some("data.vibration"), "no channel \"data.vibration\""),
            (Some("seven"), "choose a column, as seven(:,1)"),
            (Some("seven(:,8)"), "no channel \"seven(:,8)\""),
            (Some("seven(:,0)"), "no channel"),
            (Some("note"), "no channel \"note\""),
            (Some("x;rpm"), "x has 40 samples and rpm has 1"),
        ] {
            let message = read(&golden(file), channel).unwrap_err().to_string();
            assert!(message.contains(says), "{message}");
        }
    }
    let message = read(&golden("version4.mat"), None).unwrap_err().to_string();
    assert!(message.contains("not a MATLAB v5 file") && message.contains("-v7"), "{message}");
}

#[test]
fn numpy_arrays_and_archives() {
    assert_eq!(axes("x.npy", None).0, [x()]);
    assert_eq!(axes("big_endian.npy", None).0, [x()]);
    assert_eq!(axes("counts.npy", None).0, [counts()]);
    assert_eq!(axes("axes.npy", None).0, [x(), y(), z()]);
    assert_eq!(axes("axes.npy", Some("2;0")).0, [z(), x()]);
    for name in ["segments.npy", "fortran.npy"] {
        assert_eq!(read(&golden(name), None).unwrap().stretches().unwrap(), [x(), y()]);
        assert_eq!(gathered(&read_within(&golden(name), None, 0).unwrap()), [x(), y()]);
    }
    assert_eq!(axes("compressed.npz", None).0, [x()]);
    assert_eq!(axes("plain.npz", Some("counts;x;y")).0, [counts(), x(), y()]);
    let message = read(&golden("plain.npz"), None).unwrap_err().to_string();
    assert!(message.contains("x [40], y [40], counts [40], rate []"), "{message}");
    let message = read(&golden("plain.npz"), Some("v")).unwrap_err().to_string();
    assert!(message.contains("no channel \"v\""), "{message}");
}

#[test]
fn tables_by_pandas_and_numpy() {
    let rate = Some(8000.0);
    for (name, channel, expected) in [
        ("header.csv", Some("x"), (vec![x()], rate)),
        ("header.csv", Some("y;x"), (vec![y(), x()], rate)),
        ("time.csv", None, (vec![x()], rate)),
        ("german.csv", Some("x;y"), (vec![x(), y()], rate)),
        ("time.tsv", None, (vec![x()], rate)),
        ("blanks.txt", None, (vec![x()], rate)),
        ("one.csv", None, (vec![x()], None)),
        ("index.csv", None, (vec![x()], None)),
        ("numbered.csv", Some("0;1"), (vec![x(), y()], None)),
    ] {
        assert_eq!(axes(name, channel), expected, "{name}");
    }
}

#[test]
fn parquet_by_pandas_and_pyarrow() {
    if cfg!(not(feature = "parquet")) {
        let message = read(&golden("none.parquet"), None).unwrap_err().to_string();
        assert!(message.contains("the feature `parquet`"), "{message}");
        return;
    }
    assert_eq!(axes("pandas.parquet", Some("x;y")), (vec![x(), y()], Some(8000.0)));
    let zstd = cfg!(feature = "zstd").then_some("zstd");
    for codec in ["none", "snappy", "gzip", "lz4"].into_iter().chain(zstd) {
        let name = format!("{codec}.parquet");
        let unsigned = counts().iter().map(|c| c + 50.0).collect();
        assert_eq!(axes(&name, Some("f32;i16;u32")).0, [x(), counts(), unsigned], "{name}");
        assert_eq!(axes(&name, Some("i64")).0, [counts()], "{name}");
        let message = read(&golden(&name), Some("text")).unwrap_err().to_string();
        assert!(message.contains("the file has: f32, i16, u32, i64"), "{message}");
    }
    let null = read(&golden("null.parquet"), None).unwrap();
    assert_eq!(null.rate_hz, Some(8000.0));
    assert_eq!(null.first_non_finite().unwrap().unwrap().frame, 7);
}

#[test]
fn wav_by_scipy_and_sox() {
    let rate = Some(8000.0);
    let y_counts: Vec<f32> = counts().iter().map(|c| (-c / 2.0).trunc()).collect();
    for name in ["scipy_i16.wav", "scipy_i32.wav"] {
        assert_eq!(axes(name, None), (vec![counts(), y_counts.clone()], rate), "{name}");
    }
    for name in ["scipy_f32.wav", "scipy_f64.wav"] {
        assert_eq!(axes(name, None), (vec![x(), y()], rate), "{name}");
        assert_eq!(axes(name, Some("1")).0, [y()]);
    }
    assert_eq!(axes("scipy_u8.wav", None), (vec![counts()], rate));
    for (name, factor) in [
        ("sox_i8.wav", 1.0),
        ("sox_i16.wav", 256.0),
        ("sox_i24.wav", 65_536.0),
        ("sox_i32.wav", 16_777_216.0),
        ("sox_f32.wav", 1.0 / 128.0),
        ("sox_f64.wav", 1.0 / 128.0),
    ] {
        assert_eq!(axes(name, None), (vec![scaled(factor)], rate), "{name}");
    }
}

//! A recording streamed from disk gives the same bits as one in memory.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

use rebearing_host::data::domain::Domain;
use rebearing_host::data::recording::{Recording, Samples, read_within};
use rebearing_host::data::split::Part;
use rebearing_host::device;
use rebearing_host::features::extract::extract;
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::model::encoded::ModelBytes;

/// Returns a sample of a wave with noise. The wave is longer than a chunk of the stream.
fn sample(i: u32) -> f32 {
    let noise = i.wrapping_mul(2_654_435_761).wrapping_mul(i | 1) >> 8;
    (i as f32 * 0.37).sin() + noise as f32 / 16_777_216.0 - 0.5
}

const FRAMES: u32 = 60_000;

/// Writes the same samples in every format, with two axes.
fn files(folder: &Path) -> Vec<(PathBuf, Option<&'static str>)> {
    let spec = hound::WavSpec {
        channels: 2,
        sample_rate: 10_000,
        bits_per_sample: 32,
        sample_format: hound::SampleFormat::Float,
    };
    let wav = folder.join("r.wav");
    let mut writer = hound::WavWriter::create(&wav, spec).unwrap();
    let mut csv = String::from("t,x,y\n");
    let mut npy = Vec::new();
    for i in 0..FRAMES {
        let [x, y] = [sample(i), sample(i + FRAMES)];
        writer.write_sample(x).unwrap();
        writer.write_sample(y).unwrap();
        writeln!(csv, "{:.5},{x},{y}", f64::from(i) / 10_000.0).unwrap();
        npy.extend([x, y].iter().flat_map(|x| x.to_le_bytes()));
    }
    writer.finalize().unwrap();
    let table = folder.join("r.csv");
    std::fs::write(&table, csv).unwrap();
    let header =
        format!("{{'descr': '<f4', 'fortran_order': False, 'shape': (1, {FRAMES}, 2), }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend(npy);
    let array = folder.join("r.npy");
    std::fs::write(&array, bytes).unwrap();
    vec![(wav, None), (table, Some("x;y")), (array, None)]
}

fn domain(recording: Recording) -> Domain {
    Domain {
        name: "d".into(),
        rate_hz: 10_000.0,
        axes: recording.axes,
        recordings: vec![recording],
        labels: vec![None],
        ..Domain::default()
    }
}

#[test]
fn features_hash_and_parts_are_those_of_memory() {
    let folder = tempfile::tempdir().unwrap();
    let front_end = FrontEndSettings::equal_bands(EqualBands {
        rate_hz: 10_000.0,
        axes: 2,
        fft_len: 512,
        hop: 256,
        segments: 3,
        bands: 16,
    })
    .unwrap();
    let mut hashes = Vec::new();
    for (path, channel) in files(folder.path()) {
        let memory = read_within(&path, channel, usize::MAX).unwrap();
        let stored = read_within(&path, channel, 100_000).unwrap();
        assert!(matches!(memory.samples, Samples::Memory(_)));
        assert!(matches!(stored.samples, Samples::Stored(_)));
        assert_eq!(memory.stretches().unwrap()[0].len(), 2 * FRAMES as usize);
        assert_eq!(memory.stretches().unwrap()[0][5], sample(2 + FRAMES));
        assert_eq!(stored.stretch_frames(), memory.stretch_frames());
        assert_eq!(stored.first_non_finite().unwrap(), None);

        let parts = [
            Part { recording: 0, stretch: 0, start: 0, end: 30_001 },
            Part { recording: 0, stretch: 0, start: 40_000, end: 60_000 },
        ];
        let features = [&memory, &stored]
            .map(|r| extract(std::slice::from_ref(r), &parts, &front_end).unwrap());
        assert_eq!(features[0].x, features[1].x, "{}", path.display());
        assert!(features[0].x.nrows() > 150);

        let [mut memory, mut stored] = [memory, stored].map(domain);
        hashes.push(memory.hash(true).unwrap());
        assert_eq!(memory.hash(true).unwrap(), stored.hash(true).unwrap());
        memory.keep_first(0.3).unwrap();
        stored.keep_first(0.3).unwrap();
        assert_eq!(memory.frames(), [[18_000]]);
        assert_eq!(memory.hash(true).unwrap(), stored.hash(true).unwrap(), "{}", path.display());
        // A part of a part.
        let [memory, stored] = [memory, stored]
            .map(|d| domain(d.recordings[0].cut([(0, 17_000..18_000)].into_iter())));
        assert_eq!(memory.hash(true).unwrap(), stored.hash(true).unwrap(), "{}", path.display());
    }
    assert!(hashes.iter().all(|hash| *hash == hashes[0]), "the formats hold the same samples");
}

#[test]
fn the_device_reports_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let model = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden/model-v1.rbm");
    let model = ModelBytes::from_bytes(&std::fs::read(model).unwrap()).unwrap();
    for (path, channel) in files(folder.path()) {
        let channel = if channel.is_some() { Some("x") } else { Some("0") };
        let run = |in_memory| {
            let recording = read_within(&path, channel, in_memory).unwrap();
            device::run(model.model(), &recording).unwrap()
        };
        let (memory, stored) = (run(usize::MAX), run(0));
        assert!(memory.len() > 100);
        assert_eq!(memory.len(), stored.len());
        assert!(memory.iter().zip(&stored).all(|(a, b)| a.same_bits(b)), "{}", path.display());
    }
}

#[test]
fn a_file_that_shrinks_under_the_reader_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    for (path, channel) in files(folder.path()) {
        let stored = read_within(&path, channel, 0).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let half = bytes[..bytes.len() / 2].iter().rposition(|&b| b == b'\n').unwrap_or(0);
        let keep = if channel.is_some() { half + 1 } else { bytes.len() / 2 };
        std::fs::write(&path, &bytes[..keep]).unwrap();
        let message = stored.first_non_finite().unwrap_err().to_string();
        assert!(message.starts_with(&path.display().to_string()), "{message}");
        assert!(message.contains("frame"), "{message}");
    }
}

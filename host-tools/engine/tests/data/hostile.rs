//! Files made to stall the host. A quadratic reader would take minutes here.

use std::fmt::Write as _;
use std::path::Path;

use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::recording;

/// Writes an array of signed bytes that count from 0 to 99.
fn write_bytes(path: &Path, stretches: usize, frames: usize) {
    let shape = format!("({stretches}, {frames})");
    let header = format!("{{'descr': '|i1', 'fortran_order': False, 'shape': {shape}, }}\n");
    let mut bytes = b"\x93NUMPY\x01\x00".to_vec();
    bytes.extend((header.len() as u16).to_le_bytes());
    bytes.extend(header.as_bytes());
    bytes.extend((0..stretches * frames).map(|i| (i % 100) as u8));
    std::fs::write(path, bytes).unwrap();
}

#[test]
fn four_million_stretches_are_read_in_one_pass() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("short.npy");
    write_bytes(&path, 4_000_000, 1);
    let recording = recording::read(&path, None).unwrap();
    let stretches = recording.stretches().unwrap();
    assert_eq!((stretches.len(), recording.frames_of(3_999_999)), (4_000_000, 1));
    assert!(stretches.iter().enumerate().all(|(i, stretch)| stretch == &[(i % 100) as f32]));
    assert_eq!(recording.frames_of(4_000_000), 0);
    // Read stretch by stretch from the disk, they are the same.
    write_bytes(&path, 301, 7);
    let loaded = recording::read(&path, None).unwrap();
    let streamed = recording::read_within(&path, None, 0).unwrap();
    for (stretch, samples) in loaded.stretches().unwrap().iter().enumerate() {
        let mut read = Vec::new();
        let take = |chunk: &[f32]| {
            read.extend_from_slice(chunk);
            Ok::<_, recording::RecordingError>(())
        };
        streamed.each_chunk(stretch, 0..streamed.frames_of(stretch), take).unwrap();
        assert_eq!(&read, samples, "stretch {stretch}");
    }
}

#[test]
fn a_hundred_thousand_domains_are_listed_in_order() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.csv");
    let mut text = String::from("path,label,domain,rate_hz\n");
    for row in 0..200_000 {
        writeln!(text, "{row}.wav,,machine-{},20000", row % 100_000).unwrap();
    }
    std::fs::write(&path, text).unwrap();
    let manifest = Manifest::read(&path).unwrap();
    let domains = manifest.domains();
    assert_eq!(domains.len(), 100_000);
    assert_eq!(domains[..2], ["machine-0", "machine-1"]);
    assert_eq!(domains[99_999], "machine-99999");
    let error = manifest.rows_of("absent").unwrap_err().to_string();
    assert!(error.contains("machine-0, machine-1,") && error.contains("100000 in all"), "{error}");
    assert!(error.len() < 1000, "{} bytes", error.len());
}

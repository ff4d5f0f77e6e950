//! Real recordings, read whole. They are not part of the project: set `REBEARING_DATA` to the
//! folder that holds `cwru.csv`, `uestc.csv` and `adi.csv` (default: `../shared/data` beside the
//! workspace).

use std::io::Write;
use std::path::{Path, PathBuf};

use rebearing_host::data::domain::Domain;
use rebearing_host::data::levels::{levels, odd_levels};
use rebearing_host::data::manifest::Manifest;

/// Returns a manifest of real recordings. If there is none, says so loudly.
fn manifest(name: &str) -> Option<Manifest> {
    let folder = std::env::var_os("REBEARING_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if !path.is_file() {
        // Not eprintln: the test harness would swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {}; set REBEARING_DATA", path.display());
        return None;
    }
    Some(Manifest::read(&path).unwrap())
}

#[test]
fn cwru_reads_whole() {
    let Some(manifest) = manifest("cwru.csv") else {
        return;
    };
    assert_eq!(manifest.domains(), ["load0", "load1", "load2", "load3"]);
    for domain in manifest.domains() {
        for row in manifest.rows_of(domain).unwrap() {
            let recording = manifest.recording(row).unwrap();
            assert_eq!((recording.axes, recording.rate_hz), (1, None), "{}", row.name);
            assert!(recording.frames() > 100_000, "{}", row.name);
            assert_eq!(recording.first_non_finite().unwrap(), None, "{}", row.name);
            // Accelerations of a test stand in g, not counts and not byte-swapped numbers.
            let peak =
                recording.stretches().unwrap().iter().flatten().fold(0f32, |m, x| m.max(x.abs()));
            assert!((0.05..20.0).contains(&peak), "{}: peak {peak}", row.name);
            if row.path.extension().is_some_and(|e| e == "npy") {
                assert_eq!(recording.stretch_frames(), vec![3500; 103]);
            } else {
                assert_eq!(recording.stretches().unwrap().len(), 1, "{}", row.name);
            }
        }
    }
}

#[test]
fn uestc_reads_whole() {
    let Some(manifest) = manifest("uestc.csv") else {
        return;
    };
    assert_eq!(manifest.rows.len(), 16);
    for row in &manifest.rows {
        let recording = manifest.recording(row).unwrap();
        assert_eq!(recording.stretch_frames(), [262_144], "{}", row.name);
        assert_eq!(recording.first_non_finite().unwrap(), None, "{}", row.name);
    }
}

/// Every recording of these sets is fine, so none may be flagged, even if all speeds and loads are
/// taken for one domain.
#[test]
fn no_real_recording_has_an_odd_level() {
    for name in ["cwru.csv", "uestc.csv", "adi.csv"] {
        let Some(manifest) = manifest(name) else { continue };
        let mut all = Vec::new();
        for domain in manifest.domains() {
            let found = levels(&Domain::read(&manifest, domain).unwrap()).unwrap();
            assert_eq!(odd_levels(&found), [], "{name}: {domain}");
            all.extend(found);
        }
        assert_eq!(all.len(), manifest.rows.len());
        assert_eq!(odd_levels(&all), [], "{name}");
    }
}

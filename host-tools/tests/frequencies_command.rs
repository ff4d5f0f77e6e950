//! `rebearing frequencies` from the outside: on a simulated machine, and on bad input.

use std::path::Path;
use std::process::{Command, Output};

use serde_json::Value;

fn rebearing(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rebearing"))
        .current_dir(folder)
        .args(arguments)
        .arg("--json")
        .output()
        .expect("runs")
}

fn json(output: &Output) -> Value {
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object")
}

#[test]
fn a_geometry_alone_gives_the_published_orders() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let json = json(&rebearing(folder.path(), &["frequencies", "--bearing", "9,7.94,39.04"]));
    let order = |name: &str| json["frequencies"][name]["orders"].as_f64().expect("a number");
    for (name, published) in
        [("bpfi", 5.4152), ("bpfo", 3.5848), ("ftf", 0.39828), ("bsf", 4.7135 / 2.0)]
    {
        assert!((order(name) - published).abs() < 5e-3, "{name}: {}", order(name));
    }
    assert!(json["frequencies"]["bpfi"]["hz"].is_null());
}

/// The simulated machines have a 6205 bearing, and their manifest tells their speeds.
#[test]
fn a_simulated_race_fault_stands_out_at_its_own_frequency() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    json(&rebearing(folder.path(), &["simulate", "--out", "."]));
    let manifest = std::fs::read_to_string(folder.path().join("manifest.csv")).expect("a manifest");
    let mut seen = 0;
    for row in manifest.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [path, label, _, rate, rpm, ..] = fields[..] else { panic!("{row}") };
        let part = match label {
            "InnerRace" => "inner_race",
            "OuterRace" => "outer_race",
            _ => continue,
        };
        let arguments =
            ["frequencies", "--bearing", "9,7.94,39.04", "--rpm", rpm, "--rate", rate, path];
        let json = json(&rebearing(folder.path(), &arguments));
        let evidence = json["files"][0]["axes"][0].as_array().expect("a list");
        let level = |e: &Value| e["level_db"].as_f64().expect("a number");
        let best = evidence.iter().max_by(|a, b| level(a).total_cmp(&level(b))).expect("four");
        assert_eq!(best["part"], part, "{row}: {evidence:?}");
        assert!(level(best) > 10.0, "{row}: {evidence:?}");
        seen += 1;
    }
    assert!(seen >= 2, "no race faults in {manifest}");
}

#[test]
fn what_is_missing_is_named_with_the_remedy() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("short.csv"), "x\n1\n2\n3\n").expect("writes");
    let bearing = ["frequencies", "--bearing", "9,7.94,39.04"];
    for (more, part) in [
        (&["short.csv"][..], "--rpm N"),
        (&["--rpm", "1797", "short.csv"], "--rate HZ"),
        (&["--rpm", "0"], "positive"),
        (&["--rpm", "1797", "--rate", "12000", "short.csv"], "turns of the shaft"),
    ] {
        let output = rebearing(folder.path(), &[&bearing[..], more].concat());
        let message = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{message}");
        assert!(message.contains(part), "{message}");
    }
}

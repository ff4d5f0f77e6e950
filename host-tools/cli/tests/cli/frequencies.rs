//! `rebearing frequencies` as its users run it: on a simulated machine, and on bad input.

use crate::workplace::Workplace;
use serde_json::Value;

#[test]
fn a_geometry_alone_gives_the_published_orders() {
    let folder = Workplace::new();
    let json = folder.json("frequencies --bearing 9,7.94,39.04");
    let order = |name: &str| json["frequencies"][name]["orders"].as_f64().expect("a number");
    for (name, published) in
        [("bpfi", 5.4152), ("bpfo", 3.5848), ("ftf", 0.39828), ("bsf", 4.7135 / 2.0)]
    {
        assert!((order(name) - published).abs() < 5e-3, "{name}: {}", order(name));
    }
    assert!(json["frequencies"]["bpfi"]["hz"].is_null());
}

/// The simulated machines have a 6205 bearing, and their manifest gives their speeds.
#[test]
fn a_simulated_race_fault_stands_out_at_its_own_frequency() {
    let folder = Workplace::new();
    folder.json("simulate --out .");
    let manifest = folder.read("manifest.csv");
    let mut seen = 0;
    for row in manifest.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let [path, label, _, rate, rpm, ..] = fields[..] else { panic!("{row}") };
        let part = match label {
            "InnerRace" => "inner_race",
            "OuterRace" => "outer_race",
            _ => continue,
        };
        let json = folder
            .json(&format!("frequencies --bearing 9,7.94,39.04 --rpm {rpm} --rate {rate} {path}"));
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
    let folder = Workplace::new();
    folder.write("short.csv", "x\n1\n2\n3\n");
    for (more, part) in [
        ("short.csv", "--rpm N"),
        ("--rpm 1797 short.csv", "--rate HZ"),
        ("--rpm 0", "positive"),
        ("--rpm 1797 --rate 12000 short.csv", "turns of the shaft"),
    ] {
        folder.refused(&format!("frequencies --bearing 9,7.94,39.04 --json {more}"), &[part]);
    }
}

//! Units and full scale from the manifest to the model, and units that do not match.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::workplace::Workplace;
use rebearing::model::Section;
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::units::Unit;
use rebearing_host::model::bytes::Payload;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::sections::unit_section;
use serde_json::Value;

/// Two simulated machines, and a source in g.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 4 --classes Healthy,InnerRace,OuterRace");
    for (name, unit, full_scale) in [
        ("plain", "", ""),
        ("g", "g", "50"),
        ("metric", "m/s2", ""),
        ("velocity", "mm/s", ""),
        ("counts", "counts", ""),
        ("scaled", "counts", "16 g"),
    ] {
        let mut text = String::from("path,label,domain,rate_hz,unit,full_scale\n");
        for machine in ["motor-a", "motor-b"] {
            for label in ["Healthy", "InnerRace", "OuterRace"] {
                let _ = writeln!(
                    text,
                    "m/{machine}/{label}.wav,{label},{machine},20000,{unit},{full_scale}"
                );
            }
        }
        world.write(&format!("{name}.csv"), text);
    }
    world.run("fit --manifest g.csv --domain motor-a --out g.json");
    world.run("fit --manifest plain.csv --domain motor-a --out plain.json");
    world
});

fn json(arguments: &str) -> Value {
    WORLD.json(arguments)
}

fn refused(arguments: &str, parts: &[&str]) {
    WORLD.refused(arguments, parts);
}

fn adapt(source: &str, manifest: &str, out: &str) -> String {
    format!(
        "adapt --source {source}.json --manifest {manifest}.csv --domain motor-b --pool-is all --force --out {out}.rbm"
    )
}

#[test]
fn units_go_from_the_manifest_to_the_model() {
    let source: Value = serde_json::from_str(&WORLD.read("g.json")).unwrap();
    assert_eq!((&source["unit"], &source["full_scale"]), (&"g".into(), &50.0.into()));
    let found = json(&adapt("g", "g", "g"));
    assert_eq!((&found["unit"], &found["full_scale"]), (&"g".into(), &50.0.into()));
    let found = json("inspect g.rbm");
    assert_eq!((&found["unit"], &found["full_scale"]), (&"g".into(), &50.0.into()));
    let text = WORLD.run("inspect g.rbm");
    assert!(text.contains("samples      g, full scale ±50 g"), "{text}");
    // A reader may skip the section: the labels are the same without it.
    json(&adapt("plain", "plain", "plain"));
    let found = json("inspect plain.rbm");
    assert_eq!((&found["unit"], &found["full_scale"]), (&Value::Null, &Value::Null));
    let labels = |model: &str| {
        let found = json(&format!("predict --model {model}.rbm m/motor-b/InnerRace.wav"));
        found["files"][0]["reports"]
            .as_array()
            .unwrap()
            .iter()
            .map(|r| r["label"].clone())
            .collect()
    };
    let (with, without): (Vec<Value>, Vec<Value>) = (labels("g"), labels("plain"));
    assert_eq!(with, without);
}

#[test]
fn another_quantity_is_refused_and_another_unit_of_the_same_is_not() {
    assert_eq!(json(&adapt("g", "metric", "metric"))["unit"], "m/s2");
    assert_eq!(json(&adapt("g", "plain", "unsaid"))["unit"], Value::Null);
    let scaled = json(&adapt("g", "scaled", "scaled"));
    assert_eq!((&scaled["unit"], &scaled["full_scale"]), (&"g".into(), &16.0.into()));
    refused(
        &adapt("g", "velocity", "no"),
        &["velocity.csv: domain motor-b is recorded in mm/s, the source motor-a in g"],
    );
    refused(&adapt("g", "counts", "no"), &["recorded in counts", "full_scale column, as 16 g"]);
    assert!(!WORLD.has("no.rbm"));
}

#[test]
fn severity_and_counts_take_the_manifests_unit() {
    let severity = |manifest: &str, rest: &str| {
        adapt("plain", manifest, "severe")
            + " --severity 1.4,2.8,4.5 --severity-band 20,1000"
            + rest
    };
    json(&severity("g", ""));
    let unit = json("inspect severe.rbm")["severity"]["unit"].as_f64().unwrap();
    assert!((unit - 9.806_65).abs() < 1e-5, "{unit}");
    json(&severity("g", " --unit g"));
    refused(&severity("g", " --unit m/s2"), &["--unit", "unit column says g"]);
    refused(&severity("plain", ""), &["--severity", "--unit", "unit column"]);
    refused(&severity("velocity", ""), &["mm/s, is not an acceleration"]);
    let integer = |manifest: &str| {
        let found = json(&(adapt("plain", manifest, "integer") + " --encoding i16"));
        found["full_scale"].as_f64().unwrap()
    };
    assert!((integer("g") - 50.0).abs() < 1e-4);
    assert_eq!(json("inspect integer.rbm")["unit"], "g");
    assert!((integer("plain") - 50.0).abs() > 1.0);
}

#[test]
fn a_domain_has_one_unit() {
    WORLD.write("a.csv", "1\n-2\n0.5\n");
    WORLD.write("b.csv", "9.80665\n-19.6133\n4.903325\n");
    WORLD.write("c.csv", "2048\n-4096\n1024\n");
    let header = "path,label,domain,rate_hz,unit,full_scale\n";
    let rows = "a.csv,,d,10,g,\nb.csv,,d,10,m/s2,\nc.csv,,d,10,counts,15.99951171875 g\n";
    let write = |rows: &str| WORLD.write("d.csv", format!("{header}{rows}"));
    write(rows);
    let manifest = Manifest::read(&WORLD.path().join("d.csv")).unwrap();
    let domain = Domain::read(&manifest, "d").unwrap();
    assert_eq!(domain.unit.unwrap().to_string(), "g");
    for recording in &domain.recordings {
        let found = &recording.stretches().unwrap()[0];
        for (found, wanted) in found.iter().zip([1.0, -2.0, 0.5]) {
            assert!((found - wanted).abs() < 1e-6, "{recording:?}");
        }
    }
    let read = |rows: &str| {
        write(rows);
        let manifest =
            Manifest::read(&WORLD.path().join("d.csv")).map_err(|error| error.to_string())?;
        Domain::read(&manifest, "d").map(drop).map_err(|error| format!("{error:#}"))
    };
    for (rows, says) in [
        ("a.csv,,d,10,g,\nb.csv,,d,10,,\n", "row 3: only one of this row and row 2"),
        ("a.csv,,d,10,,\nb.csv,,d,10,g,\n", "of the same domain has a unit"),
        ("a.csv,,d,10,g,\nb.csv,,d,10,mm/s,\n", "row 3: its unit differs from that of row 2"),
        ("c.csv,,d,10,counts12,2 g\n", "frame 1 of stretch 0, axis x: -4096"),
        ("a.csv,,d,10,counts,16\n", "line 2: full_scale of a.csv"),
        ("a.csv,,d,10,g,much\n", "line 2: full_scale of a.csv: \"much\" is not a full scale"),
        ("a.csv,,d,10,9.81,\n", "line 2: unit of a.csv: \"9.81\" is not a unit"),
    ] {
        let message = read(rows).unwrap_err();
        assert!(message.contains(says) && message.contains("d.csv"), "{message}");
    }
}

#[test]
fn damaged_sections_are_refused() {
    json(&adapt("plain", "plain", "f32"));
    json(&(adapt("plain", "plain", "i16") + " --encoding i16"));
    let section = |bytes: &[u8]| Payload { section: Section::Unit, bytes: bytes.to_vec() };
    let good = unit_section(&Unit::G, Some(16.0));
    for model in ["f32.rbm", "i16.rbm"] {
        let model = DeployedModel::read(&WORLD.path().join(model)).unwrap();
        let with = model.with_sections(std::slice::from_ref(&good)).unwrap();
        let unit = with.unit().unwrap();
        assert_eq!((unit.name, unit.full_scale), ("g", Some(16.0)));
        for bad in [
            vec![good.clone(), good.clone()],
            vec![section(&[])],
            vec![section(&[0; 4])],
            // No name; a name that is not UTF-8; an end behind the text; text behind the end.
            vec![section(&[0; 8])],
            vec![section(&[0, 0, 0, 0, 1, 0, 0, 0, 0xff, 0, 0, 0])],
            vec![section(&[0, 0, 0, 0, 5, 0, 0, 0, b'g', 0, 0, 0])],
            vec![section(&[0, 0, 0, 0, 1, 0, 0, 0, b'g', b'g', 0, 0])],
            // Full scales of NaN, infinity and below zero.
            vec![section(&[0, 0, 0xc0, 0x7f, 1, 0, 0, 0, b'g', 0, 0, 0])],
            vec![section(&[0, 0, 0x80, 0x7f, 1, 0, 0, 0, b'g', 0, 0, 0])],
            vec![section(&[0, 0, 0x80, 0xbf, 1, 0, 0, 0, b'g', 0, 0, 0])],
        ] {
            assert!(model.with_sections(&bad).is_err(), "{bad:?}");
        }
    }
}

/// If a model in g ran on counts, its severity and idle threshold would be wrong by a factor of
/// thousands.
#[test]
fn a_monitor_of_counts_is_offered_only_to_a_model_that_does_not_mind() {
    for (source, manifest, options, offered) in [
        ("g", "g", "", true),
        ("g", "g", "--running-rms 0.02", false),
        ("g", "g", "--severity 1.4,2.8,4.5 --severity-band 20,1000", false),
        ("plain", "plain", "--running-rms 0.02", false),
        ("plain", "counts", "--running-rms 0.02", true),
    ] {
        WORLD.run(&format!("{} {options}", adapt(source, manifest, "offered")));
        let found = json("inspect offered.rbm");
        assert_eq!(found["monitor_i16"].is_string(), offered, "{manifest} {options}");
        assert_eq!(found["ram_i16"].is_u64(), offered, "{manifest} {options}");
        assert!(found.get("monitor_i16").is_some(), "the field stays");
        let shown = WORLD.run("inspect offered.rbm");
        assert_eq!(shown.contains("as Monitor<i16"), offered, "{shown}");
        assert_eq!(shown.contains("not for i16 samples: "), !offered, "{shown}");
    }
}

//! `rebearing manifest` on folders as people have them, and on folders that nobody should have.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use crate::workplace::Workplace;
use rebearing_host::data::manifest::Manifest;
use serde_json::Value;

/// Writes a file with one column of numbers.
fn recording(folder: &Workplace, name: &str) {
    folder.write(name, "1\n2\n3\n");
}

/// Returns the text for a person. Asserts that no line is wider than a terminal.
fn shown(folder: &Workplace, arguments: &str) -> String {
    let text = folder.run(arguments);
    for line in text.lines() {
        assert!(line.chars().count() <= 80, "{line}");
    }
    text
}

/// Returns path, label, domain and channel of every recording that was understood.
fn understood(json: &Value) -> Vec<String> {
    let text = |value: &Value| value.as_str().unwrap_or("-").to_owned();
    let recordings = json["recordings"].as_array().unwrap().iter();
    let fields = ["path", "label", "domain", "channel"];
    recordings.map(|one| fields.map(|field| text(&one[field])).join(" ")).collect()
}

fn reason(json: &Value, path: &str) -> String {
    let over = json["passed_over"].as_array().unwrap().iter().find(|one| one["path"] == path);
    over.unwrap_or_else(|| panic!("{path} in {json}"))["reason"].as_str().unwrap().to_owned()
}

#[test]
fn simulated_machines_are_understood_and_fitted() {
    let folder = Workplace::new();
    folder.run("simulate --out m --seconds 3 --classes Healthy,InnerRace");
    let text = shown(&folder, "manifest m");
    for part in ["{domain}/{label}.*  (guessed", "motor-a", "InnerRace", "20000", "4 of 4 files"] {
        assert!(text.contains(part), "{text}");
    }
    assert!(
        text.contains("a manifest: manifest.csv") && text.contains("nothing written"),
        "{text}"
    );
    let json = folder.json("manifest m --out new.csv --unit g");
    assert_eq!((&json["guessed"], &json["healthy"][0]), (&true.into(), &"Healthy".into()));
    assert_eq!(json["recordings"][0]["rate_hz"], 20_000.0);
    let manifest = Manifest::read(&folder.path().join("new.csv")).unwrap();
    assert_eq!(manifest.rows[0].name, "m/motor-a/Healthy.wav");
    let text = folder.run("fit --manifest new.csv --domain motor-a --out source.json");
    assert!(text.contains("samples in g"), "{text}");
}

#[test]
fn a_manifest_is_never_overwritten_unasked() {
    let folder = Workplace::new();
    recording(&folder, "d/normal/a.csv");
    folder.write("m.csv", "mine");
    let arguments = "manifest d --rate 1000 --out m.csv";
    folder.refused(arguments, &["m.csv: exists", "--force"]);
    assert_eq!(folder.read("m.csv"), "mine");
    folder.json(&format!("{arguments} --force"));
    let written = folder.read("m.csv");
    assert_eq!(written, "path,label,domain,rate_hz,rpm,channel\nd/normal/a.csv,normal,d,1000,,\n");
}

#[test]
fn patterns_say_label_domain_speed_and_rate() {
    let folder = Workplace::new();
    for name in ["load 0/outer_race_1797rpm@12k.csv", "load 0/ok_1790rpm@12k.csv", "notes.txt"] {
        recording(&folder, &format!("d/{name}"));
    }
    folder.write("d/load 0/readme.md", "x");
    let pattern = "{domain}/{label}_{rpm}@{rate}.csv";
    let json = folder.json(&format!("manifest d --pattern {pattern} --out m.csv"));
    assert_eq!(understood(&json)[1], "load 0/outer_race_1797rpm@12k.csv outer_race load 0 -");
    assert_eq!(reason(&json, "notes.txt"), "its path does not fit the pattern");
    assert_eq!(reason(&json, "load 0/readme.md"), "no reader for .md");
    let manifest = Manifest::read(&folder.path().join("m.csv")).unwrap();
    assert_eq!((manifest.rows[1].rpm, manifest.rows[1].rate_hz), (Some(1797.0), 12_000.0));
    let text = shown(&folder, &format!("manifest d --pattern {pattern}"));
    assert!(text.contains("healthy  ok; fit with --healthy ok"), "{text}");
    for (pattern, says) in [
        ("{speed}/*", "no field \"speed\""),
        ("*", "neither label nor domain"),
        ("x/{label}", "no recording found that fits x/{label}"),
    ] {
        folder.refused(&format!("manifest d --pattern {pattern}"), &[says]);
    }
}

#[test]
fn the_rate_of_a_time_column_is_found_and_must_agree() {
    let folder = Workplace::new();
    let rows = (0..50).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{:.4},{n}", f64::from(n) / 2000.0);
        text
    });
    folder.write("d/normal_2000.csv", format!("time,x\n{rows}"));
    folder.write("d/ball_1000.csv", format!("time,x\n{rows}"));
    let json = folder.json("manifest d --pattern {label}_{rate}.csv");
    assert_eq!(json["recordings"][0]["rate_hz"], 2000.0);
    assert_eq!(json["recordings"][0]["carries_rate"], true);
    assert!(reason(&json, "ball_1000.csv").contains("carries 2000 Hz, but its path says 1000 Hz"));
}

#[test]
fn an_open_choice_of_channel_or_rate_is_named_and_writes_nothing() {
    let folder = Workplace::new();
    for (name, axis) in [("normal", "X7_DE"), ("ball", "X8_DE")] {
        folder.write(&format!("d/{name}.csv"), format!("{axis},temperature\n1,2\n3,5\n4,1\n"));
    }
    // Lines are broken at 80 columns.
    let text = shown(&folder, "manifest d").split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(text.contains("which?") && text.contains("one of X8_DE, temperature"), "{text}");
    assert!(text.contains("give --rate HZ"), "{text}");
    // The recordings that were understood are shown all the same.
    folder.refused(
        "manifest d --rate 10 --out m.csv",
        &["files", "2 recordings leave a choice", "X8_DE, temperature"],
    );
    let arguments = "manifest d --channel *_DE --out m.csv";
    folder.refused(arguments, &["2 recordings carry no sample rate", "--rate HZ"]);
    assert!(!folder.has("m.csv"));
    let json = folder.json(&format!("{arguments} --rate 10"));
    assert_eq!(understood(&json), ["ball.csv ball d X8_DE", "normal.csv normal d X7_DE"]);
    let json = folder.json("manifest d --channel *_DE;temp*");
    assert_eq!(json["recordings"][0]["channel"], "X8_DE;temperature");
    assert_eq!(json["recordings"][0]["axes"], 2);
    // If several channels match one axis, the user must choose. If none matches, the file is passed
    // over.
    let json = folder.json("manifest d --channel *e*");
    assert_eq!(json["recordings"][0]["axes"], 1, "{json}");
    let json = folder.json("manifest d --channel *");
    assert_eq!(json["recordings"][0]["choice"][0], "X8_DE");
    folder.refused("manifest d --channel speed", &["no channel \"speed\""]);
}

#[test]
fn paths_are_relative_to_the_manifest() {
    let folder = Workplace::new();
    recording(&folder, "data/d/normal/a.csv");
    fs::create_dir_all(folder.path().join("lists/today")).unwrap();
    folder.json("manifest data/d --rate 9 --out lists/today/m.csv");
    let manifest = Manifest::read(&folder.path().join("lists/today/m.csv")).unwrap();
    assert_eq!(manifest.rows[0].name, "../../data/d/normal/a.csv");
    assert!(manifest.rows[0].path.is_file());
    #[cfg(unix)]
    {
        // `..` behind a link leads elsewhere: the manifest is in the folder that the link points
        // to.
        std::os::unix::fs::symlink("lists/today", folder.path().join("link")).unwrap();
        folder.json("manifest data/d --rate 9 --out link/n.csv");
        let manifest = Manifest::read(&folder.path().join("link/n.csv")).unwrap();
        assert!(manifest.rows[0].path.is_file(), "{}", manifest.rows[0].name);
    }
}

#[cfg(unix)]
#[test]
fn hostile_names_and_links_do_no_harm() {
    use std::ffi::OsStr;
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{PermissionsExt, symlink};

    let folder = Workplace::new();
    let names = [
        "d/m,1/nor\"mal/a, b.csv",
        "d/m,1/new\nline/x.csv",
        "d/m,1/\u{1b}[31mred/x.csv",
        "d/m,1/ünï/x.csv",
    ];
    for name in names {
        recording(&folder, name);
    }
    let d = folder.path().join("d");
    recording(&folder, "d/m,1/ball/.hidden.csv");
    recording(&folder, "d/m,1/ball/end .csv");
    recording(&folder, "d/ space/ball/x.csv");
    let strange = d.join(OsStr::from_bytes(b"m,1/ball/\xff\xfe.csv"));
    fs::write(&strange, "1\n").unwrap();
    symlink("..", d.join("m,1/loop")).unwrap();
    symlink("nowhere.csv", d.join("m,1/dangling.csv")).unwrap();
    symlink("nor\"mal/a, b.csv", d.join("m,1/z.csv")).unwrap();
    let pipe = d.join("m,1/ball/pipe.csv");
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let shut = d.join("shut");
    fs::create_dir(&shut).unwrap();
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o000)).unwrap();

    let arguments = "manifest d --pattern {domain}/{label}/* --rate 5";
    let json = folder.json(&format!("{arguments} --out m.csv"));
    for (path, says) in [
        ("m,1/ball/.hidden.csv", "hidden"),
        ("m,1/loop", "a link to a folder above it"),
        ("m,1/dangling.csv", "cannot be read"),
        ("m,1/z.csv", "the same file as m,1/nor\"mal/a, b.csv"),
        ("m,1/ball/pipe.csv", "no file"),
        ("m,1/ball/\u{fffd}\u{fffd}.csv", "not UTF-8"),
        ("m,1/new\nline/x.csv", "line break"),
        (" space/ball/x.csv", "begins or ends with a space"),
    ] {
        assert!(reason(&json, path).contains(says), "{path}: {}", reason(&json, path));
    }
    if fs::read_dir(&shut).is_err() {
        assert!(reason(&json, "shut").contains("cannot be read"));
    } else {
        let _ = writeln!(std::io::stderr(), "SKIPPED: root reads folders that are shut");
    }
    let manifest = Manifest::read(&folder.path().join("m.csv")).unwrap();
    assert_eq!(manifest.rows.len(), 4, "{:?}", manifest.rows);
    assert!(manifest.rows.iter().all(|row| row.path.is_file()), "{:?}", manifest.rows);
    let labels: Vec<&str> = manifest.rows.iter().filter_map(|row| row.label.as_deref()).collect();
    for label in ["nor\"mal", "\u{1b}[31mred", "ünï", "ball"] {
        assert!(labels.contains(&label), "{label:?} in {labels:?}");
    }
    // Control characters never reach the terminal unescaped.
    let text = shown(&folder, arguments);
    assert!(!text.contains('\u{1b}') && text.contains("\\u{1b}[31mred"), "{text}");
    fs::set_permissions(&shut, fs::Permissions::from_mode(0o755)).unwrap();

    // The manifest's paths would lead through this folder, but its name is not UTF-8.
    let name = OsStr::from_bytes(b"\xff");
    fs::create_dir(folder.path().join(name)).unwrap();
    fs::write(folder.path().join(name).join("normal_1.csv"), "1\n2\n").unwrap();
    let output = Command::new(env!("CARGO_BIN_EXE_rebearing"))
        .args(["manifest", "--rate", "5", "--out", "n.csv"])
        .arg(name)
        .current_dir(folder.path())
        .output()
        .unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("cannot hold this path"));
    assert!(!folder.has("n.csv"));
}

#[test]
fn what_is_no_folder_of_recordings_is_refused() {
    let folder = Workplace::new();
    folder.write("file.csv", "1\n");
    fs::create_dir(folder.path().join("empty")).unwrap();
    folder.write("other/readme.md", "x");
    folder.write("broken/normal/x.wav", "RIFF");
    folder.refused("manifest absent", &["absent: cannot be read", "give a folder"]);
    folder.refused("manifest file.csv", &["file.csv: cannot be read"]);
    folder.refused("manifest empty", &["empty: no recording found", "wav, mat"]);
    folder.refused("manifest other", &["no reader for .md"]);
    folder.refused("manifest broken", &["skipped", "x.wav"]);
    for (option, value, says) in [
        ("--rate", "0", "above 0"),
        ("--rpm", "x", "above 0"),
        ("--unit", "", "is not a unit"),
        ("--domain", " ", "needs a name"),
        ("--out", "absent/m.csv", "folder that exists"),
    ] {
        recording(&folder, "d/normal/a.csv");
        folder.refused_words(&["manifest", "d", option, value], &[says]);
    }
    folder.refused("manifest d --unit counts --full-scale 16", &["as 16 g"]);
}

/// Returns the folder of real recordings. If there is none, says so loudly.
fn real(name: &str) -> Option<PathBuf> {
    let folder = std::env::var_os("REBEARING_DATA").map_or_else(
        || Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data"),
        PathBuf::from,
    );
    let path = folder.join(name);
    if !path.is_dir() || !path.with_extension("csv").is_file() {
        // Not eprintln: the test harness would swallow it.
        let _ = writeln!(std::io::stderr(), "SKIPPED: no {}; set REBEARING_DATA", path.display());
        return None;
    }
    Some(path)
}

/// Returns file, rate and channel of each row, sorted by file.
fn rows(manifest: &Path) -> Vec<(String, f64, Option<String>)> {
    let file = |name: &str| name.rsplit('/').next().unwrap().to_owned();
    let rows = Manifest::read(manifest).unwrap().rows.into_iter();
    let mut rows: Vec<_> = rows.map(|row| (file(&row.name), row.rate_hz, row.channel)).collect();
    rows.sort_by(|a, b| a.0.cmp(&b.0));
    rows
}

#[test]
fn cwru_is_understood_as_its_manifest_says() {
    let Some(data) = real("cwru") else { return };
    let folder = Workplace::new();
    let dir = data.to_str().unwrap();
    let choice = ["--rate", "12000", "--channel", "*_DE_time", "--out", "m.csv"];
    let json = folder.json_words(&[&["manifest", dir], &choice[..]].concat());
    assert_eq!(json["pattern"], "{label}_{domain}.*");
    assert_eq!(
        (&json["healthy"][0], json["domains"].as_array().unwrap().len()),
        (&"Normal".into(), 4)
    );
    let found = rows(&folder.path().join("m.csv"));
    assert_eq!(found.len(), 38);
    assert_eq!(found, rows(&data.with_extension("csv")));
}

#[test]
fn uestc_is_understood_as_its_manifest_says() {
    let Some(data) = real("uestc") else { return };
    let folder = Workplace::new();
    let choice = ["--pattern", "{label}_{domain,rpm}.mat", "--rate", "20000", "--channel", "Data"];
    let arguments = [&["manifest", data.to_str().unwrap(), "--out", "m.csv"], &choice[..]].concat();
    folder.json_words(&arguments);
    assert_eq!(rows(&folder.path().join("m.csv")), rows(&data.with_extension("csv")));
    let manifest = Manifest::read(&folder.path().join("m.csv")).unwrap();
    assert!(manifest.rows.iter().all(|row| row.rpm == row.domain.parse().ok()));
}

//! Names and lines of others never reach a terminal as commands to it.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use rebearing::operation::report_line::checksum;
use serde_json::Value;

use crate::workplace::Workplace;

/// A window title, a bell, a clear screen by C1, a reversal of the writing direction, a line
/// separator and DEL.
const HOSTILE: &str = "\x1b]0;pwned\x07\u{9b}2J\u{202e}\u{2028}\x7f";

/// The bytes of hidden characters in UTF-8.
fn hidden(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let is = |c: char| (c.is_control() && c != '\n') || "\u{202e}\u{2028}".contains(c);
    text.lines().find(|line| line.contains(is)).map(|line| format!("{line:?}"))
}

/// Runs a command, looks for hidden characters in both outputs, and returns standard output.
fn run(place: &Workplace, code: i32, words: &[&str]) -> String {
    let output = place.output(words);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(code), "{words:?}: {said}");
    assert_eq!(hidden(&output.stdout), None, "{words:?}: standard output");
    assert_eq!(hidden(&output.stderr), None, "{words:?}: standard error");
    String::from_utf8(output.stdout).unwrap()
}

/// Two simulated machines with hostile names of files, machines and a class.
fn world(place: &Workplace) {
    place.run("simulate --out m --seconds 4 --classes Healthy,InnerRace");
    let mut rows = csv::Reader::from_path(place.path().join("m/manifest.csv")).unwrap();
    let mut text = csv::Writer::from_writer(Vec::new());
    text.write_record(["path", "label", "domain", "rate_hz", "rpm"]).unwrap();
    for row in rows.records().map(Result::unwrap) {
        let to = row[0].replace(".wav", &format!("{HOSTILE}.wav"));
        fs::rename(place.path().join("m").join(&row[0]), place.path().join("m").join(&to)).unwrap();
        let label = row[1].replace("InnerRace", &format!("Inner{HOSTILE}"));
        let domain = format!("{}{HOSTILE}", &row[2]);
        text.write_record([&to, &label, &domain, &row[3], &row[4]]).unwrap();
    }
    place.write("m/m.csv", text.into_inner().unwrap());
}

#[test]
fn hostile_names_are_shown_and_not_obeyed() {
    let place = Workplace::new();
    world(&place);
    let [a, b] = ["motor-a", "motor-b"].map(|name| format!("{name}{HOSTILE}"));
    let [source, model] = ["s", "m"].map(|name| format!("{name}{HOSTILE}.rb"));
    let wav = format!("m/motor-b/InnerRace{HOSTILE}.wav");
    let fit = ["fit", "--manifest", "m/m.csv", "--domain", &a, "--out", &source];
    let shown = run(&place, 0, &fit);
    assert!(shown.contains(r"motor-a\u{1b}]0;pwned\u{7}\u{9b}2J\u{202e}\u{2028}\u{7f}"), "{shown}");
    let adapt = ["adapt", "--source", &source, "--manifest", "m/m.csv", "--domain", &b];
    let adapt = [&adapt[..], &["--pool-is", "all", "--force", "--out", &model]].concat();
    run(&place, 0, &[&adapt[..], &["--report", "r.html"]].concat());
    let again = [&adapt[..], &["--report", "r.html", "--json"]].concat();
    let json: Value = serde_json::from_str(&run(&place, 0, &again)).unwrap();
    assert!(json.to_string().contains('\u{202e}'), "the same names in JSON");
    assert_eq!(hidden(place.read("r.html").as_bytes()), None, "the page");
    assert!(place.read("r.html").contains("motor-b"));
    for json in [&["--json"][..], &[]] {
        let run = |code, words: &[&str]| {
            let text = run(&place, code, &[words, json].concat());
            if !json.is_empty() && code == 0 {
                serde_json::from_str::<Value>(&text).unwrap();
            }
        };
        run(0, &fit);
        run(0, &["inspect", &model]);
        run(0, &["inspect", &source]);
        run(0, &["predict", "--model", &model, &wav]);
        run(0, &["manifest", "m"]);
        run(0, &["frequencies", "--bearing", "9,7.94,39.04", "--rpm", "1480", &wav]);
        let evaluate = ["evaluate", "--manifest", "m/m.csv", "--source", &a, "--target", &b];
        run(0, &[&evaluate[..], &["--report", "e.html"]].concat());
        assert_eq!(hidden(place.read("e.html").as_bytes()), None, "the page of evaluate");
        let report = ["report", "--model", &model, "--source", &source, "--manifest", "m/m.csv"];
        run(0, &[&report[..], &["--domain", &b, "--out", "p.html"]].concat());
        assert_eq!(hidden(place.read("p.html").as_bytes()), None, "the page of report");
    }
    // Errors, of the command and of its arguments.
    run(&place, 2, &["fit", "--manifest", "m/m.csv", "--domain", HOSTILE, "--out", "x.json"]);
    for command in ["inspect", "watch", "emulate", HOSTILE] {
        run(&place, 2, &[command, HOSTILE]);
        run(&place, 2, &[command, &model, HOSTILE, &format!("--no{HOSTILE}")]);
    }
    for (option, command) in [("--rate", "manifest"), ("--model", "predict"), ("--data", "gmm")] {
        run(&place, 2, &[command, option, HOSTILE, HOSTILE]);
    }
}

#[test]
fn a_line_break_in_a_name_is_refused() {
    let place = Workplace::new();
    let break_in = "a\nerror: b";
    let words = ["inspect", break_in];
    place.refused_words(&words, &[r"a\u{a}error: b: an argument with a line break"]);
    place.write("m.csv", "path,label,domain,rate_hz\na.wav,\"Healthy\nx\",d,20000\n");
    let fit = "fit --manifest m.csv --domain d --out x.json";
    place.refused(fit, &["m.csv, line 2: label has a line break"]);
}

#[test]
fn lines_of_a_device_are_shown_and_not_obeyed() {
    let place = Workplace::new();
    let with = |line: String| format!("{line} crc={:08x}\n", checksum(line.as_bytes()));
    let mut name = String::new();
    for byte in HOSTILE.bytes() {
        write!(name, "%{byte:02x}").unwrap();
    }
    let log = [
        with(format!("rb1 report 1 label=0:{name} p=1000 rms=1.0")),
        with(format!("rb1 report 2 {HOSTILE}=1 {HOSTILE}=1")),
        with(format!("rb1 report 3 label={HOSTILE} p=1000 rms=1.0")),
        with(format!("rb1 {HOSTILE} 1")),
        with(format!("rb1 model bytes=1 rate=1 fft=1 axes=1 classes={name} edges=0,1")),
        format!("hello {HOSTILE}\n"),
    ];
    let file = format!("log{HOSTILE}.txt");
    place.write(&file, log.concat());
    let shown = run(&place, 0, &["watch", "--plain", &file]);
    assert!(shown.contains("damaged lines 3, other lines 1"), "{shown}");
    assert!(shown.contains(r"\u{202e}"), "{shown}");
    run(&place, 0, &["watch", "--json", &file]);
}

/// One module prints, so nothing can pass by it.
#[test]
fn only_one_module_prints() {
    fn sources(folder: &Path, found: &mut Vec<(String, String)>) {
        for entry in fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path()) {
            if entry.is_dir() {
                sources(&entry, found);
            } else {
                let text = fs::read_to_string(&entry).unwrap();
                found.push((entry.display().to_string(), text));
            }
        }
    }
    let mut found = Vec::new();
    sources(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut found);
    assert!(found.len() > 40);
    for (file, text) in found.iter().filter(|(file, _)| !file.ends_with("terminal.rs")) {
        for word in
            ["print!(", "println!(", "dbg!(", "stdout().write", "stderr().write", "stdout().lock"]
        {
            assert!(!text.contains(word), "{file}: {word} prints past terminal.rs");
        }
    }
}

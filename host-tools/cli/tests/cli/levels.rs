//! Recordings that contradict the rest are named, loudly, by every command that learns from them.

use std::fmt::Write as _;
use std::sync::LazyLock;

use serde_json::Value;

use crate::workplace::Workplace;

/// Two simulated machines in three conditions, and two manifests of them: `manifest.csv` as it is,
/// and `odd.csv` with a recording of motor-b at rest and with shafts at 600 rpm.
static MACHINES: LazyLock<Workplace> = LazyLock::new(|| {
    let machines = Workplace::new();
    machines.run("simulate --out . --seconds 6 --classes Healthy,InnerRace,OuterRace");
    // The noise of a sensor on a machine at rest.
    let mut still = String::from("x\n");
    for n in 0..120_000_u64 {
        let _ = writeln!(still, "{}e-9", n * n % 977);
    }
    machines.write("still.csv", still);
    let manifest = machines.read("manifest.csv");
    let mut odd = String::from("path,label,domain,rate_hz,rpm\n");
    for row in manifest.lines().skip(1) {
        let fields: Vec<&str> = row.split(',').collect();
        let _ = writeln!(odd, "{},600", fields[..4].join(","));
    }
    let _ = writeln!(odd, "still.csv,Healthy,motor-b,20000,600");
    machines.write("odd.csv", odd);
    machines.run("fit --manifest manifest.csv --domain motor-a --out a.json");
    machines
});

const STILL: &str = "still.csv: rms ";
const TURNS: &str = "a window of 0.154 s holds 1.54 turns at 600 rpm";

/// Asserts that the text begins with both warnings, and that the JSON has them and all levels.
fn warned(arguments: &str, recordings: usize) -> Value {
    let text = MACHINES.run(arguments);
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines[0].starts_with("warning: "), "{text}");
    let warnings: Vec<&&str> = lines.iter().filter(|line| line.starts_with("warning: ")).collect();
    assert!(warnings.iter().any(|line| line.contains(STILL)), "{text}");
    assert!(warnings.iter().any(|line| line.contains("did the machine stand still")), "{text}");
    assert!(warnings.iter().any(|line| line.contains(TURNS)), "{text}");
    assert!(warnings.iter().any(|line| line.contains("--segments 3 or more")), "{text}");
    let header = lines.iter().position(|line| line.starts_with("  recording ")).expect("a table");
    let table = &lines[header + 1..];
    assert_eq!(table.len(), recordings, "{text}");
    assert!(table.iter().all(|line| line.chars().count() <= 80), "{text}");

    let json = MACHINES.json(arguments);
    let said = json["warnings"].as_array().expect("warnings");
    assert_eq!(said.len(), warnings.len(), "{json}");
    for (line, said) in warnings.iter().zip(said) {
        assert_eq!(line.strip_prefix("warning: "), said.as_str());
    }
    let levels = json["recording_levels"].as_array().expect("levels");
    assert_eq!(levels.len(), recordings);
    for recording in levels {
        let axis = &recording["axes"][0];
        assert!(recording["path"].is_string() && recording["label"].is_string(), "{recording}");
        for number in ["rms", "kurtosis", "crest"] {
            assert!(axis[number].as_f64() > Some(0.0), "{number} in {recording}");
        }
    }
    json
}

#[test]
fn fit_adapt_and_evaluate_name_a_machine_at_rest() {
    warned("fit --manifest odd.csv --domain motor-b --out odd.json", 4);
    let adapt = "adapt --source a.json --manifest odd.csv --domain motor-b --pool-is all";
    warned(&format!("{adapt} --out odd.rbm --report odd.html"), 4);
    warned("evaluate --manifest odd.csv --source motor-a --target motor-b --pool-is all", 7);
    warned("evaluate --manifest odd.csv --source all --target all --pool-is all", 7);

    let page = MACHINES.read("odd.html");
    let (_, section) = page.split_once("<section id=\"recordings\">").expect("the section");
    let (section, _) = section.split_once("</section>").expect("its end");
    for part in ["<p class=\"caution\">still.csv: rms ", "<b>far too quiet</b>", "1.54 turns"] {
        assert!(section.contains(part), "{part}: {section}");
    }
    assert_eq!(section.matches("<tr>").count(), 1 + 4);
    assert_eq!(section.matches("<b>").count(), 1);
}

#[test]
fn recordings_that_fit_are_not_warned_about() {
    for arguments in [
        "fit --manifest manifest.csv --domain motor-b --out fine.json",
        "adapt --source a.json --manifest manifest.csv --domain motor-b --pool-is all --out f.rbm",
        "evaluate --manifest manifest.csv --source motor-a --target motor-b",
    ] {
        assert!(!MACHINES.run(arguments).contains("warning"), "{arguments}");
        assert_eq!(MACHINES.json(arguments)["warnings"], serde_json::json!([]), "{arguments}");
    }
}

#[test]
fn many_recordings_are_one_line_of_text() {
    MACHINES.run("simulate --out many --seconds 2 --machines 8 --classes Healthy,Ball,InnerRace");
    let every =
        "evaluate --manifest many/manifest.csv --source all --target all --method source-only";
    let text = MACHINES.run(every);
    assert!(text.contains("\n24 recordings: rms "), "{text}");
    assert!(!text.contains("  recording "), "{text}");
    assert_eq!(MACHINES.json(every)["recording_levels"].as_array().map(Vec::len), Some(24));
}

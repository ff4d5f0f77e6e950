//! Alarm and severity on the command line: written by `adapt`, shown by `inspect`, applied by
//! `predict`.

use std::sync::LazyLock;

use crate::workplace::Workplace;
use serde_json::Value;

/// Simulated machines and a source, made once.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 4 --classes Healthy,InnerRace,OuterRace");
    world.run("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    world
});

fn json(arguments: &str) -> Value {
    WORLD.json(arguments)
}

fn text(arguments: &str) -> String {
    WORLD.run(arguments)
}

/// Asserts a refusal that names `part`, and that no model is written.
fn refused(options: &str, part: &str) {
    WORLD.refused(&adapt("refused.rbm", options), &[part]);
    assert!(!WORLD.has("refused.rbm"), "{options}");
}

fn adapt(out: &str, options: &str) -> String {
    format!(
        "adapt --source source.json --manifest m/manifest.csv --domain motor-b --pool-is all --force \
         --out {out} {options}"
    )
}

const ALL: &str = "--average 4 --raise 0.8 --clear 0.25 --delay 2 --settle 1 --fault-windows 7 \
                   --no-hold --running-rms 0.02 --idle-rms 0.01";

fn check_parameters(decision: &Value) {
    let near = |name: &str, value: f64| {
        let found = decision[name].as_f64().unwrap_or(f64::NAN);
        assert!((found - value).abs() < 1e-3 * value, "{name}: {decision}");
    };
    for (name, value) in [("average", 4), ("delay", 2), ("settle", 1), ("fault_windows", 7)] {
        assert_eq!(decision[name], value, "{name}");
    }
    assert_eq!(decision["hold"], false);
    near("raise", 0.8);
    near("clear", 0.25);
    near("running_rms", 0.02);
    near("idle_rms", 0.01);
    assert_eq!(decision["type"], "Alarm<3, 4>");
}

#[test]
fn what_adapt_is_told_stands_in_the_model_of_either_encoding() {
    for (out, encoding) in [("all.rbm", "f32"), ("all16.rbm", "i16")] {
        let adapted = json(&adapt(out, &format!("{ALL} --encoding {encoding}")));
        check_parameters(&adapted["decision"]);
        check_parameters(&json(&format!("inspect {out}"))["decision"]);
        let shown = text(&format!("inspect {out}"));
        for part in ["mean of 4 windows", "at least 0.80 for 2 windows", "below an rms of 0.0100"] {
            assert!(shown.contains(part), "no {part:?} in {shown}");
        }
    }
}

#[test]
fn a_model_without_options_has_no_section_and_the_defaults() {
    json(&adapt("plain.rbm", ""));
    let bytes = WORLD.bytes("plain.rbm");
    assert!(!bytes.windows(4).any(|tag| tag == b"dcsn" || tag == b"sevr"));
    let inspected = json("inspect plain.rbm");
    let decision = &inspected["decision"];
    let counts = ["average", "delay", "settle", "fault_windows"].map(|name| &decision[name]);
    assert_eq!(counts, [8, 3, 3, 5]);
    assert_eq!((&decision["hold"], &decision["running_rms"]), (&true.into(), &Value::Null));
    assert_eq!(inspected["severity"], Value::Null);
}

#[test]
fn predict_decides_as_the_device_does() {
    for (out, encoding) in [("p.rbm", "f32"), ("p16.rbm", "i16")] {
        json(&adapt(out, &format!("--average 4 --delay 2 --settle 1 --encoding {encoding}")));
        let faulty = json(&format!("predict --model {out} m/motor-b/InnerRace.wav"));
        let reports = faulty["files"][0]["reports"].as_array().expect("reports");
        let states: Vec<&str> =
            reports.iter().map(|report| report["decision"]["state"].as_str().unwrap()).collect();
        assert_eq!(states[..5], ["settling", "filling", "filling", "filling", "running"]);
        let alarm = |window: usize| &reports[window]["decision"]["alarm"];
        assert_eq!(alarm(4), &Value::Null, "one window over the threshold is not enough");
        assert_eq!(alarm(5)["label"], "InnerRace");
        assert_eq!(alarm(5)["active"], true);
        assert!(reports[5]["decision"]["level"].as_f64().unwrap() > 0.7);
        let healthy = json(&format!("predict --model {out} m/motor-b/Healthy.wav"));
        for report in healthy["files"][0]["reports"].as_array().expect("reports") {
            assert_eq!(report["decision"]["alarm"], Value::Null, "{report}");
        }
    }
    let shown = text("predict --model p.rbm m/motor-b/InnerRace.wav");
    assert!(shown.contains(" settling\n") && shown.contains(" ALARM InnerRace\n"), "{shown}");
}

#[test]
fn a_standing_machine_is_idle() {
    // The threshold is above the level of any recording, so the machine is at standstill in all of
    // them.
    json(&adapt("idle.rbm", "--running-rms 1e6"));
    let found = json("predict --model idle.rbm m/motor-b/InnerRace.wav");
    for report in found["files"][0]["reports"].as_array().expect("reports") {
        assert_eq!(report["decision"]["state"], "idle");
    }
    // With `auto`, the quietest window sets the threshold, and no window is idle.
    for encoding in ["f32", "i16"] {
        let adapted =
            json(&adapt("auto.rbm", &format!("--running-rms auto --encoding {encoding}")));
        let running = adapted["decision"]["running_rms"].as_f64().expect("a threshold");
        let idle = adapted["decision"]["idle_rms"].as_f64().expect("a threshold");
        let mut quietest = f64::INFINITY;
        for class in ["Healthy", "InnerRace", "OuterRace"] {
            let found = json(&format!("predict --model auto.rbm m/motor-b/{class}.wav"));
            for report in found["files"][0]["reports"].as_array().expect("reports") {
                quietest = quietest.min(report["statistics"][0]["rms"].as_f64().expect("an rms"));
                assert_ne!(report["decision"]["state"], "idle");
            }
        }
        assert!((running - 0.5 * quietest).abs() < 1e-3 * quietest, "{running} {quietest}");
        assert!((idle - 0.75 * running).abs() < 1e-3 * running, "{idle} {running}");
    }
}

#[test]
fn severity_is_measured_where_it_is_asked_for() {
    let adapted =
        json(&adapt("severe.rbm", "--severity 1.4,2.8,4.5 --unit g --severity-band 20,1000"));
    let severity = json("inspect severe.rbm")["severity"].clone();
    assert_eq!(adapted["severity"], severity);
    assert_eq!((&severity["low_hz"], &severity["high_hz"]), (&20.0.into(), &1000.0.into()));
    assert!((severity["unit"].as_f64().unwrap() - 9.80665).abs() < 1e-5);
    let found = json("predict --model severe.rbm m/motor-b/InnerRace.wav");
    let report = &found["files"][0]["reports"][0]["severity"];
    let velocity = report["velocity"][0].as_f64().expect("a velocity");
    let zone = match velocity {
        v if v < 1.4 => "A",
        v if v < 2.8 => "B",
        v if v < 4.5 => "C",
        _ => "D",
    };
    assert!(velocity > 0.0 && report["zone"] == zone, "{report}");
    let shown = text("inspect severe.rbm");
    assert!(shown.contains("20 to 1000 Hz") && shown.contains("within 3.5 %"), "{shown}");
    assert!(text("predict --model severe.rbm m/motor-b/InnerRace.wav").contains("mm/s zone"));
}

#[test]
fn options_that_make_no_sense_are_refused() {
    refused("--average 0", "--average 0");
    refused("--average 257", "1 to 256");
    refused("--raise 1.5", "--raise 1.5");
    refused("--raise nan", "--raise");
    refused("--raise 0.4 --clear 0.4", "below --raise");
    refused("--clear 0", "--clear 0");
    refused("--delay 0", "--delay 0");
    refused("--settle 2000000", "--settle 2000000");
    refused("--fault-windows 0", "--fault-windows 0");
    refused("--running-rms=-1", "--running-rms");
    refused("--running-rms loud", "auto");
    refused("--running-rms inf", "auto");
    refused("--idle-rms 1", "--running-rms");
    refused("--running-rms 1 --idle-rms 2", "--idle-rms 2");
    refused("--running-rms 1e30 --encoding i16", "--running-rms");
    // A 2048-point FFT at 20 kHz has bins of 9.8 Hz.
    refused("--severity 1.4,2.8,4.5 --unit g", "--severity-band 19.6,1000");
    refused("--severity 1.4,2.8,4.5 --unit g --severity-band 20,20000", "10000 Hz");
    refused("--severity 1.4,2.8 --unit g", "three rising numbers");
    refused("--severity 2.8,1.4,4.5 --unit g", "three rising numbers");
    refused("--severity 1.4,2.8,4.5", "--unit");
    refused("--severity 1.4,2.8,4.5 --unit furlongs", "--unit");
    refused("--unit g", "--severity");
    refused("--severity 1.4,2.8,4.5 --unit g --encoding i16", "--encoding f32");
}

/// With one second of each condition, `adapt` holds out six windows. No block could be outside
/// limits from so few.
#[test]
fn too_few_windows_give_no_drift_reference_and_adapt_says_so() {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 1 --classes Healthy,InnerRace,OuterRace");
    world.run("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    let shown = world.run(&adapt("few.rbm", ""));
    assert!(shown.contains("drift watch: none: 6 held-out windows are too few"), "{shown}");
    assert!(world.json(&adapt("few.rbm", ""))["drift"].is_null());
    assert!(world.json("inspect few.rbm")["drift"].is_null());
    assert!(!json(&adapt("enough.rbm", ""))["drift"].is_null(), "four seconds are enough");
}

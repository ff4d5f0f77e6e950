//! Models in integers on the command line.

use std::path::Path;
use std::process::{Command, Output};

fn rebearing(directory: &Path, arguments: &str) -> Output {
    Command::new(env!("CARGO_BIN_EXE_rebearing"))
        .args(arguments.split(' '))
        .current_dir(directory)
        .output()
        .expect("the command runs")
}

fn json(directory: &Path, arguments: &str) -> serde_json::Value {
    let output = rebearing(directory, &format!("{arguments} --json"));
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).expect("one JSON object and nothing else")
}

fn refused(directory: &Path, arguments: &str, part: &str) {
    let output = rebearing(directory, arguments);
    let message = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{arguments}: {message}");
    assert!(message.contains(part), "{arguments}: {message}");
}

#[test]
fn an_i16_model_is_written_measured_and_run() {
    let world = tempfile::tempdir().expect("a temporary directory");
    let directory = world.path();
    for command in [
        "simulate --out m --seconds 3 --classes Healthy,InnerRace,OuterRace",
        "fit --manifest m/manifest.csv --domain motor-a --out source.json",
    ] {
        assert!(rebearing(directory, command).status.success(), "{command}");
    }
    let adapt = "adapt --source source.json --manifest m/manifest.csv --domain motor-b \
                 --pool-is all --out i16.rbm";
    let adapted = json(directory, &format!("{adapt} --encoding i16"));
    let loss = &adapted["quantisation"];
    assert!(loss["label_agreement"].as_f64().unwrap() >= 0.995, "{loss}");
    let error = loss["score_error_rms"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.2, "{loss}");
    assert_eq!(adapted["encoding"], "i16");

    let inspected = json(directory, "inspect i16.rbm");
    assert_eq!(inspected["encoding"], "i16");
    assert_eq!(inspected["ram"], adapted["ram"]);
    assert!(inspected["monitor"].as_str().unwrap().starts_with("IntegerMonitor<2048, 1, 32,"));

    let recording = "m/motor-b/InnerRace.wav";
    let predicted = json(directory, &format!("predict --model i16.rbm {recording}"));
    assert_eq!(predicted["encoding"], "i16");
    let file = &predicted["files"][0];
    assert!(file["windows"].as_u64().unwrap() > 10, "{file}");
    let (report, labels) = (&file["reports"][0], &file["labels"]);
    assert!(report["statistics"][0]["rms"].as_f64().unwrap() > 0.0, "{report}");
    assert!(labels.as_object().is_some_and(|labels| !labels.is_empty()), "{labels}");

    // What a sensor would clip is named, and nothing is written.
    let out = directory.join("i16.rbm");
    std::fs::remove_file(&out).expect("it was written");
    refused(directory, &format!("{adapt} --encoding i16 --full-scale 0.001"), "--full-scale");
    refused(directory, &format!("{adapt} --encoding i16 --full-scale 0"), "--full-scale");
    refused(directory, &format!("{adapt} --full-scale 16"), "--encoding i16");
    assert!(!out.exists());
}

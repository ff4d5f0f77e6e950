//! Integer models on the command line.

use crate::workplace::Workplace;

#[test]
fn an_i16_model_is_written_measured_and_run() {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 3 --classes Healthy,InnerRace,OuterRace");
    world.run("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    let adapt = "adapt --source source.json --manifest m/manifest.csv --domain motor-b \
                 --pool-is all --force --out i16.rbm";
    let adapted = world.json(&format!("{adapt} --encoding i16"));
    let loss = &adapted["quantisation"];
    assert!(loss["label_agreement"].as_f64().unwrap() >= 0.995, "{loss}");
    let error = loss["score_error_rms"].as_f64().unwrap();
    assert!(error > 0.0 && error < 0.2, "{loss}");
    assert_eq!(adapted["encoding"], "i16");

    let inspected = world.json("inspect i16.rbm");
    assert_eq!(inspected["encoding"], "i16");
    assert_eq!(inspected["ram"], adapted["ram"]);
    assert!(inspected["monitor"].as_str().unwrap().starts_with("IntegerMonitor<2048, 1, 32,"));
    let shown = world.run("inspect i16.rbm");
    let alias = "type MotorB<'m> = rebearing::monitor!('m, model: i16, fft: 2048, axes: 1, ";
    assert!(shown.contains(alias), "{shown}");

    let recording = "m/motor-b/InnerRace.wav";
    let predicted = world.json(&format!("predict --model i16.rbm {recording}"));
    assert_eq!(predicted["encoding"], "i16");
    let file = &predicted["files"][0];
    assert!(file["windows"].as_u64().unwrap() > 10, "{file}");
    let (report, labels) = (&file["reports"][0], &file["labels"]);
    assert!(report["statistics"][0]["rms"].as_f64().unwrap() > 0.0, "{report}");
    assert!(labels.as_object().is_some_and(|labels| !labels.is_empty()), "{labels}");

    // A full scale at which the sensor would clip is refused, and nothing is written.
    std::fs::remove_file(world.path().join("i16.rbm")).expect("it was written");
    world.refused(&format!("{adapt} --encoding i16 --full-scale 0.001"), &["--full-scale"]);
    world.refused(&format!("{adapt} --encoding i16 --full-scale 0"), &["--full-scale"]);
    world.refused(&format!("{adapt} --full-scale 16"), &["--encoding i16"]);
    assert!(!world.has("i16.rbm"));
}

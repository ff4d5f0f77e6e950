//! Mel-like bands on the command line, in both encodings and between sample rates.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::workplace::Workplace;
use serde_json::Value;

/// Two machines at 12 kHz, and the second one at 24 kHz too.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    for rate in ["12000", "24000"] {
        world.run(&format!(
            "simulate --out r{rate} --rate {rate} --seconds 4 --classes Healthy,InnerRace,OuterRace"
        ));
    }
    let mut text = String::from("path,label,domain,rate_hz\n");
    for label in ["Healthy", "InnerRace", "OuterRace"] {
        let _ = writeln!(text, "r12000/motor-a/{label}.wav,{label},known,12000");
        let _ = writeln!(text, "r12000/motor-b/{label}.wav,{label},slow,12000");
        let _ = writeln!(text, "r24000/motor-b/{label}.wav,{label},fast,24000");
    }
    world.write("m.csv", text);
    world.run("fit --manifest m.csv --domain known --bands mel:64 --out known.json");
    world
});

/// The edges of a model's bands in Hz.
fn edges(model: &str) -> Vec<f64> {
    let found = WORLD.json(&format!("inspect {model}"));
    let bin_hz = found["rate_hz"].as_f64().unwrap() / found["fft"].as_f64().unwrap();
    let edges = found["band_edges"].as_array().unwrap();
    edges.iter().map(|edge| edge.as_f64().unwrap() * bin_hz).collect()
}

/// The part of a recording's windows that have this label.
fn share(model: &str, recording: &str, label: &str) -> f64 {
    let found = WORLD.json(&format!("predict --model {model} {recording}"));
    let file = &found["files"][0];
    file["labels"][label].as_f64().unwrap_or(0.0) / file["windows"].as_f64().unwrap()
}

#[test]
fn a_mel_model_runs_in_both_encodings() {
    let adapt = "adapt --source known.json --manifest m.csv --domain slow --pool-is all --force";
    WORLD.run(&format!("{adapt} --out f32.rbm"));
    let adapted = WORLD.json(&format!("{adapt} --encoding i16 --out i16.rbm"));
    let loss = &adapted["quantisation"];
    assert!(loss["label_agreement"].as_f64().unwrap() >= 0.995, "{loss}");
    assert_eq!(edges("f32.rbm"), edges("i16.rbm"));
    for model in ["f32.rbm", "i16.rbm"] {
        let shown = WORLD.run(&format!("inspect {model}"));
        assert!(shown.contains("64 mel-like bands, 0 to 6000 Hz"), "{shown}");
        let edges = edges(model);
        // On the mel scale the middle of 0 to 6000 Hz is at 1466 Hz.
        assert!((edges[32] - 1466.0).abs() < 6.0, "{edges:?}");
        assert_eq!((edges.len(), edges[64]), (65, 6000.0));
        for label in ["Healthy", "InnerRace", "OuterRace"] {
            let share = share(model, &format!("r12000/motor-b/{label}.wav"), label);
            assert!(share > 0.9, "{model} {label}: {share}");
        }
    }
}

#[test]
fn a_mel_source_keeps_its_frequencies_at_another_rate() {
    let adapt = "adapt --manifest m.csv --pool-is all --force";
    WORLD.run(&format!("{adapt} --source known.json --domain slow --out slow.rbm"));
    WORLD.run(&format!("{adapt} --source known.json --domain fast --out fast.rbm"));
    let shown = WORLD.run("inspect fast.rbm");
    assert!(shown.contains("24000 Hz") && shown.contains("64 mel-like bands, 0 to 6000 Hz"));
    for (slow, fast) in edges("slow.rbm").into_iter().zip(edges("fast.rbm")) {
        assert!((slow - fast).abs() <= 0.5 * 24_000.0 / 2048.0, "{slow} {fast}");
    }
    assert!(share("fast.rbm", "r24000/motor-b/InnerRace.wav", "InnerRace") > 0.9);

    let evaluate = "evaluate --manifest m.csv --source known --target fast --method gmm-otda-map";
    let found = WORLD.json(&format!("{evaluate} --bands mel:64"));
    assert!(found["accuracy"].as_f64().unwrap() > 0.9, "{found}");
    // A band of one bin at 12 kHz would be half a bin at 24 kHz.
    let short = "--bands mel:64 --fft 256";
    WORLD.refused(&format!("{evaluate} {short}"), &["24000 Hz", "--fft", "--bands"]);
    WORLD.run(&format!("fit --manifest m.csv --domain known {short} --out short.json"));
    let other_rate = format!("{adapt} --source short.json --domain fast --out short.rbm");
    WORLD.refused(&other_rate, &["24000 Hz", "--fft", "--bands"]);
}

#[test]
fn resampled_mel_bands_end_below_the_filter() {
    WORLD.run("fit --manifest m.csv --domain fast --resample 12000 --bands mel:32 --out r.json");
    let source: Value = serde_json::from_str(&WORLD.read("r.json")).unwrap();
    let edges = &source["front_end"]["band_edges"];
    assert_eq!(edges[32], 972, "0.95 of 1024 bins");
    // 2595·log10(1 + 5695.3/700) / 2 is at 1415.8 Hz, bin 241.6.
    assert_eq!(edges[16], 242);
}

#[test]
fn equal_bands_stay_the_default_and_other_words_are_refused() {
    WORLD.run("fit --manifest m.csv --domain known --out equal.json");
    WORLD.run(
        "adapt --source equal.json --manifest m.csv --domain slow --pool-is all --force --out equal.rbm",
    );
    let shown = WORLD.run("inspect equal.rbm");
    assert!(shown.contains(" 32 bands, 0 to 6000 Hz"), "{shown}");
    let fit = "fit --manifest m.csv --domain known --out x.json";
    for wrong in ["mel", "mel:", "mel:x", "bark:32"] {
        WORLD.refused(&format!("{fit} --bands {wrong}"), &["--bands", wrong, "mel:64"]);
    }
    WORLD.refused(&format!("{fit} --bands mel:1"), &["--bands 1", "between 2 and 256"]);
    WORLD.refused(&format!("{fit} --bands mel:129 --fft 256"), &["between 2 and 128"]);
    assert!(!WORLD.has("x.json"));
}

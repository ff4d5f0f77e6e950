//! `--resample` as its users see it: different rates in one domain, and between machines.

use std::fmt::Write as _;
use std::sync::LazyLock;

use crate::workplace::Workplace;
use serde_json::Value;

/// Machines at 24 and at 12 kHz, and manifests that mix them.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    for rate in ["24000", "12000"] {
        world.run(&format!(
            "simulate --out r{rate} --rate {rate} --seconds 4 --classes Healthy,InnerRace,OuterRace"
        ));
    }
    let mut text = String::from("path,label,domain,rate_hz,rpm\n");
    for (label, rate) in [("Healthy", 24_000), ("InnerRace", 12_000), ("OuterRace", 24_000)] {
        let _ = writeln!(text, "r{rate}/motor-a/{label}.wav,{label},known,{rate},1500");
        let _ = writeln!(text, "r24000/motor-b/{label}.wav,{label},fast,24000,1500");
        let _ = writeln!(text, "r12000/motor-b/{label}.wav,{label},slow,12000,1500");
    }
    world.write("m.csv", text);
    world.run("fit --manifest m.csv --domain known --resample --out known.json");
    world.run("fit --manifest m.csv --domain fast --out fast.json");
    world.run(
        "adapt --source known.json --manifest m.csv --domain fast --resample --pool-is all --force --out fast.rbm",
    );
    world
});

fn json(arguments: &str) -> Value {
    WORLD.json(arguments)
}

fn refused(arguments: &str, parts: &[&str]) {
    WORLD.refused(arguments, parts);
}

#[test]
fn rates_in_a_domain_are_brought_to_the_lowest_or_refused() {
    refused(
        "fit --manifest m.csv --domain known --out x.json",
        &["m.csv, row 5: rate_hz is 12000, but row 2", "--resample"],
    );
    let found = json("fit --manifest m.csv --domain known --resample --out x.json");
    assert_eq!(
        (&found["rate_hz"], &found["resampled"]["recordings"]),
        (&12_000.0.into(), &2.into())
    );
    let found = json("fit --manifest m.csv --domain known --resample 8000 --out y.json");
    assert_eq!((&found["rate_hz"], &found["resampled"]["recordings"]), (&8000.0.into(), &3.into()));
    // The bands end at the frequency where the filter begins to roll off.
    let source: Value = serde_json::from_str(&WORLD.read("x.json")).unwrap();
    assert_eq!(source["front_end"]["band_edges"][32], 972, "0.95 of 1024 bins");
    refused(
        "fit --manifest m.csv --domain known --resample 16000 --out z.json",
        &["12000 Hz cannot be resampled to 16000 Hz", "above 6000 Hz", "row 5", "InnerRace.wav"],
    );
    refused(
        "fit --manifest m.csv --domain known --resample 0 --out z.json",
        &["--resample", "above 0"],
    );
    assert!(!WORLD.has("z.json"));
}

#[test]
fn a_model_for_the_sources_rate_comes_from_faster_recordings() {
    let found = json("inspect fast.rbm");
    assert_eq!(found["rate_hz"], 12_000.0);
    // Without `--resample` the model keeps the recordings' own rate.
    let adapt = "adapt --source known.json --manifest m.csv --domain fast --pool-is all --force --out own.rbm";
    assert_eq!(json(adapt)["resampled"]["recordings"], 0);
    assert_eq!(json("inspect own.rbm")["rate_hz"], 24_000.0);

    let file = "r24000/motor-b/InnerRace.wav";
    refused(&format!("predict --model fast.rbm {file}"), &["24000 Hz", "12000 Hz", "--resample"]);
    let resampled = json(&format!("predict --model fast.rbm --resample {file}"));
    let (windows, labels) = (&resampled["files"][0]["windows"], &resampled["files"][0]["labels"]);
    // 4 s at 12 kHz: a window of 3072 samples every 2048.
    assert_eq!(windows, 22, "{resampled}");
    assert_eq!(labels["InnerRace"], 22, "{resampled}");
    assert_eq!(resampled["resample_note"], Value::Null);
    refused(
        "adapt --source fast.json --manifest m.csv --domain slow --resample --out z.rbm",
        &["12000 Hz cannot be resampled to 24000 Hz", "fit or evaluate with --resample 12000"],
    );
}

#[test]
fn bands_that_the_filter_empties_are_named() {
    let fit = "fit --manifest m.csv --domain slow --out slow.json";
    json(fit);
    let adapt = "adapt --source slow.json --manifest m.csv --domain fast --resample --pool-is all --force --out slow.rbm";
    let text = WORLD.run(adapt);
    assert!(text.contains("3 of 3 recordings resampled to 12000 Hz"), "{text}");
    assert!(text.contains("above 5700 Hz, where the last 2 bands reach"), "{text}");
    let note = json("predict --model slow.rbm --resample r24000/motor-b/Healthy.wav");
    assert!(note["resample_note"].as_str().unwrap().contains("5700 Hz"), "{note}");
}

#[test]
fn files_without_a_rate_have_it_from_the_command_line() {
    let samples: String = (0..48_000_u32).fold(String::new(), |mut text, n| {
        let _ = writeln!(text, "{}", (n * 7919) % 1013);
        text
    });
    WORLD.write("plain.csv", samples);
    let predict = "predict --model fast.rbm --rate 24000";
    refused(&format!("{predict} plain.csv"), &["--rate 24000", "--resample"]);
    let found = json(&format!("{predict} --resample plain.csv"));
    // 24000 samples at 12 kHz.
    assert_eq!(found["files"][0]["windows"], (24_000 - 3072) / 2048 + 1);
    refused("predict --model fast.rbm --rate 6000 --resample plain.csv", &["cannot be resampled"]);
}

#[test]
fn domains_are_compared_at_one_rate() {
    let evaluate = "evaluate --manifest m.csv --source slow --target fast --method gmm-otda-map";
    let found = json(&format!("{evaluate} --resample"));
    // The same machine at two rates: after resampling nothing tells them apart.
    assert!(found["accuracy"].as_f64().unwrap() > 0.98, "{found}");
    refused("evaluate --manifest m.csv --source known --target fast", &["row 5", "--resample"]);
    refused(&format!("{evaluate} --resample 20000"), &["12000 Hz cannot be resampled"]);
}

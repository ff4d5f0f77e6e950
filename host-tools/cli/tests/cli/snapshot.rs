//! Snapshots as target data: they give the same labels as recordings, and bad files are refused.

use std::fs;

use crate::workplace::Workplace;
use rebearing::Label;
use rebearing_host::adapt::verdict::{self, AdaptSettings, Pool};
use rebearing_host::data::domain::Domain;
use rebearing_host::data::manifest::Manifest;
use rebearing_host::data::recording::Recording;
use rebearing_host::data::split::{self, Part};
use rebearing_host::device;
use rebearing_host::features::extract::{Features, extract};
use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
use rebearing_host::features::snapshot::{self, with_snapshots};
use rebearing_host::model::encoded::ModelBytes;
use rebearing_host::simulate::{SimulateSettings, simulate};
use rebearing_host::source::library::Library;
use rebearing_host::source::{Source, SourceSettings};

/// Returns the parts of each recording.
fn cut(domain: &Domain, parts: &[Part]) -> Vec<Recording> {
    let own = |index: usize| parts.iter().filter(move |part| part.recording == index);
    let recordings = domain.recordings.iter().enumerate();
    recordings.map(|(i, r)| r.cut(own(i).map(|part| (part.stretch, part.frames())))).collect()
}

/// Returns the label of every window of the test.
fn labels(model: &ModelBytes, test: &[Recording]) -> Vec<Vec<Option<Label>>> {
    let of = |recording: &Recording| {
        let findings = device::run(model.model(), recording).expect("the model fits");
        findings.into_iter().map(|finding| finding.result.ok().map(|f| f.label)).collect()
    };
    test.iter().map(of).collect()
}

#[test]
fn a_snapshot_adapts_as_well_as_the_recordings() {
    for seed in 1..=3 {
        let folder = tempfile::tempdir().unwrap();
        let settings = SimulateSettings { seed, seconds: 20.0, ..Default::default() };
        let simulated = simulate(&settings, folder.path(), &|_, _| ()).unwrap();
        let manifest = Manifest::read(&simulated.manifest).unwrap();
        let known = Domain::read(&manifest, "motor-a").unwrap();
        let front_end =
            FrontEndSettings::equal_bands(EqualBands::usual(known.rate_hz, known.axes)).unwrap();
        let source = Source::fit(&known, &front_end, &SourceSettings::default()).unwrap();
        let new = Domain::read(&manifest, "motor-b").unwrap();
        let parts = split::in_time(&new.frames(), 0.6).unwrap();
        let (first, test) = (cut(&new, &parts.first), cut(&new, &parts.last));
        let settings =
            AdaptSettings { pool_is: Pool::All, force: true, ..AdaptSettings::default() };
        let library = Library::from(source.clone());
        let adapt = |features: &Features| {
            let adaptation = verdict::adapt(&library, features, &settings).unwrap();
            adaptation.model("motor-b", [0; 32]).unwrap()
        };
        let recordings = adapt(&extract(&new.recordings, &parts.first, &source.front_end).unwrap());

        // The device runs the source's model, not yet adapted, and sends its features.
        let mut sent = Vec::new();
        for recording in &first {
            device::run_sending(source.model(false).unwrap().model(), recording, &mut sent)
                .unwrap();
        }
        let path = folder.path().join("motor-b.rbs");
        fs::write(&path, &sent).unwrap();
        let records = snapshot::read(&path).unwrap();
        for record in &records {
            record.check(&source.front_end).unwrap();
        }
        let none = extract(&[], &[], &source.front_end).unwrap();
        let snapshots = adapt(&with_snapshots(none, 0, &records));

        let (of_recordings, of_snapshots) = (labels(&recordings, &test), labels(&snapshots, &test));
        let truth = |index: usize| {
            let label = new.labels[index].as_ref().unwrap();
            Some(Label::Class(source.classes.iter().position(|class| class == label).unwrap()))
        };
        let (mut windows, mut same, mut right) = (0, 0, [0; 2]);
        for (index, (a, b)) in of_recordings.iter().zip(&of_snapshots).enumerate() {
            for (a, b) in a.iter().zip(b) {
                windows += 1;
                same += usize::from(a == b);
                right[0] += usize::from(*a == truth(index));
                right[1] += usize::from(*b == truth(index));
            }
        }
        let percent = |n: usize| 100.0 * n as f64 / windows as f64;
        println!(
            "seed {seed}: {windows} windows; recordings {:.1} % right, snapshot ({} windows, {} bytes) {:.1} %, \
             the same label in {:.1} %",
            percent(right[0]),
            records.iter().map(|record| record.windows.len()).sum::<usize>(),
            sent.len(),
            percent(right[1]),
            percent(same)
        );
        assert!(percent(same) >= 97.0, "seed {seed}: {same} of {windows} labels agree");
        assert!(percent(right[1]) >= percent(right[0]) - 1.0, "seed {seed}: {right:?}");
    }
}

#[test]
fn snapshots_and_drift_on_the_command_line() {
    let world = Workplace::new();
    world.json("simulate --out m --seconds 8 --classes Healthy,InnerRace");
    world.json("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    let adapt = "adapt --source source.json --pool-is all --force";
    let recorded = "--manifest m/manifest.csv --domain motor-b";
    let adapted = world.json(&format!("{adapt} {recorded} --out model.rbm"));
    let (healthy, inner) = ("m/motor-b/Healthy.wav", "m/motor-b/InnerRace.wav");

    // The reference comes from held-out windows, and `inspect` shows it.
    let drift = &world.json("inspect model.rbm")["drift"];
    assert_eq!(drift, &adapted["drift"]);
    let held_out = drift["held_out"].as_u64().unwrap();
    assert!(held_out > 30 && held_out < adapted["windows"].as_u64().unwrap() / 3, "{drift}");
    assert_eq!(drift["blocks_per_false_alarm"], 1_000_000);
    assert!(drift["classes"]["Healthy"]["spread"].as_f64().unwrap() > 0.0, "{drift}");

    // The machine itself does not drift, another one does. A recording has 77 windows, a block 512.
    let predict =
        |model: &str, files: &str| world.json(&format!("predict --model {model} {files}"));
    let own = predict("model.rbm", &[healthy, inner].repeat(4).join(" "));
    assert_eq!(own["drift"]["judged"], true, "{}", own["drift"]);
    assert_eq!(own["drift"]["readapt"], false, "{}", own["drift"]);
    let other = predict("model.rbm", &["m/motor-a/Healthy.wav"; 7].join(" "));
    assert_eq!(other["drift"]["readapt"], true, "{}", other["drift"]);
    let few = predict("model.rbm", healthy);
    assert_eq!(few["drift"]["judged"], false);
    let text = world.run(&format!("predict --model model.rbm {healthy}"));
    assert!(text.contains("drift: not judged") && text.contains("of the 512"), "{text}");

    // Snapshots from the device are target data, like recordings.
    let sent = predict("model.rbm", &format!("--snapshot-out b.rbs {healthy} {inner}"));
    assert_eq!(sent["snapshot"], "b.rbs");
    let alone = world.json(&format!("{adapt} --snapshot b.rbs --domain motor-b --out s.rbm"));
    assert_eq!((alone["windows"].as_u64(), alone["snapshots"].as_u64()), (Some(154), Some(2)));
    assert_eq!(alone["target"], "motor-b");
    let found = predict("s.rbm", inner);
    let file = &found["files"][0];
    assert!(file["labels"]["InnerRace"].as_u64() >= Some(75), "{}", file["labels"]);
    let both = world.json(&format!("{adapt} {recorded} --snapshot b.rbs b.rbs --out t.rbm"));
    assert_eq!(both["windows"].as_u64(), adapted["windows"].as_u64().map(|windows| windows + 308));

    // The same for the integer line. Its snapshots have no full scale.
    let integers = format!("{adapt} --encoding i16");
    world.json(&format!("{integers} {recorded} --out i.rbm"));
    let full_scale = &world.json("inspect i.rbm")["full_scale"];
    predict("i.rbm", &format!("--snapshot-out i.rbs {healthy} {inner}"));
    let of = format!("{integers} --snapshot i.rbs --full-scale {full_scale} --out j.rbm");
    let quantised = world.json(&of);
    assert_eq!(quantised["quantisation"]["windows"], 154);
    assert!(world.json("inspect j.rbm")["drift"]["block"].is_u64());
    world
        .refused(&format!("{integers} --snapshot i.rbs --out k.rbm"), &["--full-scale", "inspect"]);
}

#[test]
fn bad_snapshots_are_refused_with_file_place_and_remedy() {
    let world = Workplace::new();
    world.json("simulate --out m --seconds 3 --classes Healthy,Ball");
    world.json("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    world.json("fit --manifest m/manifest.csv --domain motor-a --bands 16 --out coarse.json");
    world.json("fit --manifest m/manifest.csv --domain motor-a --segments 3 --out long.json");
    let recorded =
        "--manifest m/manifest.csv --domain motor-b --pool-is all --force --out model.rbm";
    world.json(&format!("adapt --source source.json {recorded}"));
    world.json("predict --model model.rbm --snapshot-out good.rbs m/motor-b/Ball.wav");
    let good = world.bytes("good.rbs");
    world.write("cut.rbs", &good[..good.len() - 9]);
    world.write("second.rbs", [&good[..], &good[..20]].concat());
    let mut flipped = good.clone();
    flipped[100] ^= 4;
    world.write("flipped.rbs", &flipped);
    world.write("foreign.rbs", b"RIFF....WAVE and so on");
    world.write("empty.rbs", b"");
    let adapt = |source: &str, file: &str, parts: &[&str]| {
        let arguments = format!("adapt --source {source} --snapshot {file} --out out.rbm");
        world.refused(&arguments, parts);
        assert!(!world.has("out.rbm"));
    };
    adapt("source.json", "cut.rbs", &["cut.rbs", "record 1", "cut short", "send it again"]);
    let place = format!("byte {}", good.len());
    adapt("source.json", "second.rbs", &["second.rbs", "record 2", &place, "cut short"]);
    adapt("source.json", "flipped.rbs", &["flipped.rbs", "checksum", "send it again"]);
    adapt("source.json", "foreign.rbs", &["foreign.rbs", "RBSN", "--snapshot-out"]);
    adapt("source.json", "empty.rbs", &["empty.rbs", "cut short"]);
    adapt("source.json", "absent.rbs", &["absent.rbs", "cannot be read"]);
    adapt("source.json", "model.rbm", &["model.rbm", "is not a snapshot"]);
    adapt("coarse.json", "good.rbs", &["good.rbs", "number of features is 32", "16"]);
    adapt("long.json", "good.rbs", &["good.rbs", "number of segments is 2", "3"]);
    let alone = "adapt --source source.json --out out.rbm";
    world.refused(alone, &["--manifest"]);
    world.refused(&format!("{alone} --manifest m/manifest.csv --snapshot good.rbs"), &["--domain"]);
    world.refused(&format!("{alone} --snapshot good.rbs --bearing 9,7.9,39"), &["--bearing"]);
}

//! The verdict in a model file: shown by `inspect`, and by `predict` if names were forced.

use crate::workplace::Workplace;
use rebearing::model::{AccuracyCurve, Verdict};
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::sections::verdict_section;
use rebearing_host::model::verdict::VerdictContents;
use serde_json::{Value, json};

const ENCODINGS: [(&str, &[u8]); 2] = [
    ("f32.rbm", include_bytes!("../../../../tests/golden/model-v1.rbm")),
    ("i16.rbm", include_bytes!("../../../../tests/golden/model-v1-i16.rbm")),
];

const ADAPT: VerdictContents = VerdictContents {
    verdict: Verdict::Adapt,
    forced: false,
    predicted_accuracy: Some(0.948),
    promise: 0.9,
    transfers: 11,
    curve: Some(AccuracyCurve::Library),
};

const ABSTAIN: VerdictContents = VerdictContents {
    verdict: Verdict::Abstain,
    predicted_accuracy: None,
    transfers: 0,
    curve: None,
    ..ADAPT
};

const FORCED: VerdictContents = VerdictContents { forced: true, ..ABSTAIN };

/// Writes the model `name` with this verdict as `verdict.rbm`.
fn write(place: &Workplace, name: &str, contents: &VerdictContents) {
    let model = DeployedModel::read(&place.path().join(name)).unwrap();
    place.write("verdict.rbm", model.with_sections(&[verdict_section(contents)]).unwrap().bytes());
}

/// A place with both models, and a recording for them.
fn place() -> Workplace {
    let place = Workplace::new();
    for (name, bytes) in ENCODINGS {
        place.write(name, bytes);
    }
    let samples = (0..2000).map(|n| format!("{:.4}\n", 0.5 * f64::from(n * n % 251) / 251.0));
    place.write("x.csv", samples.collect::<String>());
    place
}

fn line<'t>(text: &'t str, start: &str) -> Option<&'t str> {
    text.lines().find_map(|line| line.strip_prefix(start)).map(str::trim_start)
}

#[test]
fn inspect_shows_the_verdict_and_nothing_without_one() {
    let place = place();
    for (name, _) in ENCODINGS {
        let shown = place.run(&format!("inspect {name}"));
        assert_eq!(line(&shown, "verdict"), None, "{shown}");
        let found = place.json(&format!("inspect {name}"));
        assert_eq!(found.get("verdict"), Some(&Value::Null), "the field stays");
        for (contents, text, scripts) in [
            (
                ADAPT,
                "adapt: at least 94 % of windows are right, on pools like these \
                 (11 known transfers, library curve; promise 90 %)",
                json!({
                    "verdict": "adapt",
                    "forced": false,
                    "predicted_accuracy": 0.948,
                    "promise": 0.9,
                    "transfers": 11,
                    "curve": "library",
                }),
            ),
            (
                FORCED,
                "abstain, FORCED: fault types are named all the same; no accuracy is predicted \
                 (promise 90 %)",
                json!({
                    "verdict": "abstain",
                    "forced": true,
                    "predicted_accuracy": null,
                    "promise": 0.9,
                    "transfers": 0,
                    "curve": null,
                }),
            ),
        ] {
            write(&place, name, &contents);
            let shown = place.run("inspect verdict.rbm");
            assert_eq!(line(&shown, "verdict"), Some(text), "{shown}");
            assert_eq!(place.json("inspect verdict.rbm")["verdict"], scripts);
        }
    }
}

#[test]
fn predict_begins_with_a_forced_verdict() {
    let place = place();
    for (name, _) in ENCODINGS {
        let predict = |model: &str| format!("predict --model {model} --rate 20000 x.csv");
        assert_eq!(place.json(&predict(name)).get("verdict"), Some(&Value::Null));
        let plain = place.run(&predict(name));
        for contents in [ADAPT, ABSTAIN, FORCED] {
            write(&place, name, &contents);
            let shown = place.run(&predict("verdict.rbm"));
            let warned = line(&shown, "verdict: abstain, FORCED: ").is_some();
            assert_eq!(warned, contents.forced, "{shown}");
            // The line is the first, and the labels are the same.
            let labels = if warned { shown.split_once('\n').unwrap().1 } else { &shown };
            assert_eq!(labels, plain);
            let found = place.json(&predict("verdict.rbm"));
            assert_eq!(found["verdict"]["verdict"], contents.verdict.name());
            assert_eq!(found["verdict"]["forced"], contents.forced);
        }
    }
}

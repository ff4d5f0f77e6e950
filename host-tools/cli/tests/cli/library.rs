//! A library of known machines as its users see it: `fit`, `inspect`, `adapt` and `evaluate`.

use std::sync::LazyLock;

use serde_json::Value;

use crate::workplace::Workplace;

/// Five simulated machines. The last four are alike; the first one is another specimen.
static MACHINES: LazyLock<Workplace> = LazyLock::new(|| {
    let machines = Workplace::new();
    machines.run(
        "simulate --out . --machines 5 --seconds 6 --classes Healthy,InnerRace,OuterRace,Ball",
    );
    machines.run("fit --manifest manifest.csv --domain motor-b,motor-c,motor-d --out library.json");
    machines
});

fn adapt(rest: &str) -> Value {
    MACHINES.json(&format!("adapt --source library.json --manifest manifest.csv {rest}"))
}

#[test]
fn a_library_is_fitted_and_shown() {
    let fitted = MACHINES.json("fit --manifest manifest.csv --domain all --out all.json");
    assert_eq!(fitted["sources"].as_array().unwrap().len(), 5);
    assert_eq!(fitted["transfers"].as_array().unwrap().len(), 20);
    let text = MACHINES.run("inspect all.json");
    for part in ["5 machines", "motor-e", "% of labels right", "as a new machine", "labels agree"] {
        assert!(text.contains(part), "{part} in {text}");
    }
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    let json = MACHINES.json("inspect all.json");
    assert_eq!(json["best"].as_array().unwrap().len(), 5);
    // A list of one is a source file, as ever.
    MACHINES.run("fit --manifest manifest.csv --domain motor-b --out one.json");
    assert!(!MACHINES.read("one.json").contains("\"sources\""));
}

#[test]
fn the_machine_that_fits_best_is_chosen_and_another_can_be_forced() {
    let chosen = adapt("--domain motor-b --pool-is all --from motor-c --out b.rbm");
    assert_eq!(chosen["source"], "motor-c");
    assert_eq!(chosen["library"].as_array().unwrap().len(), 1);
    let json = adapt("--domain motor-c --pool-is all --out c.rbm");
    let sources = json["sources"].as_array().unwrap();
    let weight: f64 = sources.iter().map(|source| source["weight"].as_f64().unwrap()).sum();
    assert_eq!((sources.len(), weight), (3, 1.0));
    let heaviest = sources.iter().find(|source| source["weight"] == 1.0).expect("a chosen one");
    assert_eq!((&json["source"], &json["verdict"]), (&heaviest["domain"], &"adapt".into()));
    let quality = |source: &Value| source["quality"].as_f64().unwrap();
    assert!(sources.iter().all(|source| quality(source) <= quality(heaviest)), "{json}");
    assert!(json["predicted_accuracy"].as_f64().unwrap() >= 0.9, "{json}");
    assert_eq!(json["prediction"]["transfers"], 3);
    let reasons = json["reasons"].to_string();
    assert!(reasons.contains("fits best: labels agree"), "{reasons}");
    assert!(reasons.contains("at least, on pools like these"), "{reasons}");
    let inspected = MACHINES.run("inspect c.rbm");
    assert!(inspected.contains("verdict") && inspected.contains("at least"), "{inspected}");
    MACHINES.refused(
        "adapt --source library.json --manifest manifest.csv --domain motor-e --from motor-x --out e.rbm",
        &["--from motor-x", "motor-b, motor-c, motor-d"],
    );
}

#[test]
fn below_the_promise_nothing_is_named_unless_it_is_forced() {
    let command = "--domain motor-b --pool-is all --promise 0.999 --out strict.rbm";
    let strict = adapt(command);
    assert_eq!((&strict["verdict"], &strict["forced"]), (&"abstain".into(), &false.into()));
    let predict = "predict --model strict.rbm motor-b/Ball.wav motor-b/Healthy.wav";
    let labels = |json: &Value| json["recordings"].to_string();
    let named = labels(&MACHINES.json(predict));
    assert!(!named.contains("\"Ball\":") || named.contains("\"Ball\":0"), "{named}");
    let text = MACHINES.run(predict);
    assert!(text.contains("unknown") && !text.contains("Healthy  "), "{text}");

    let forced = adapt(&format!("{command} --force"));
    assert_eq!((&forced["verdict"], &forced["forced"]), (&"abstain".into(), &true.into()));
    assert!(MACHINES.run("inspect strict.rbm").contains("FORCED"));
    assert!(MACHINES.run(predict).contains("FORCED"));
    for promise in ["0", "1.5", "-1", "nan"] {
        MACHINES.refused(
            &format!(
                "adapt --source library.json --manifest manifest.csv --domain motor-b --out x.rbm --promise={promise}"
            ),
            &["--promise"],
        );
    }
}

#[test]
fn every_domain_but_the_target_is_a_library() {
    let json = MACHINES.json(
        "evaluate --manifest manifest.csv --source others --target motor-b,motor-c --pool-is all",
    );
    let pairs = json["pairs"].as_array().unwrap();
    assert_eq!(pairs.len(), 2);
    for run in pairs {
        assert_eq!(run["sources"].as_array().unwrap().len(), 4);
        assert_ne!(run["chosen"], run["target"]);
        let [predicted, carried] =
            ["predicted_accuracy", "carried_accuracy"].map(|field| run[field].as_f64().unwrap());
        assert!(carried >= predicted, "{run}");
    }
    assert_eq!(json["risk_coverage"].as_array().unwrap().len(), 7);
    let text = MACHINES.run(
        "evaluate --manifest manifest.csv --source motor-c,motor-d --target motor-b --pool-is all --calibration",
    );
    assert!(
        text.contains("predicted") && text.contains("at least as right as predicted"),
        "{text}"
    );
    let table = MACHINES.run("evaluate --manifest manifest.csv --source others --target all");
    assert!(table.contains("chosen") && table.contains("accepted of 5"), "{table}");
    MACHINES.refused(
        "evaluate --manifest manifest.csv --source motor-b,motor-x --target motor-c",
        &["motor-x"],
    );
}

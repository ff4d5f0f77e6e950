//! `rebearing evaluate` as its users see it: results, their shape, and bad input.

use std::sync::LazyLock;

use crate::workplace::Workplace;
use serde_json::Value;

const PAIR: &str = "evaluate --manifest manifest.csv --source motor-a --target motor-b";

/// Three simulated machines in four conditions.
static MACHINES: LazyLock<Workplace> = LazyLock::new(|| {
    let machines = Workplace::new();
    machines.run(
        "simulate --out . --machines 3 --seconds 6 --classes Healthy,InnerRace,OuterRace,Ball",
    );
    machines
});

fn json(arguments: &str) -> Value {
    MACHINES.json(arguments)
}

fn refused(arguments: &str, parts: &[&str]) {
    MACHINES.refused(arguments, parts);
}

/// Writes a manifest with the rows of the simulated one that `keep` selects, under another name.
fn manifest(name: &str, keep: impl Fn(&str) -> bool) {
    let text = MACHINES.read("manifest.csv");
    let rows: Vec<&str> = text
        .lines()
        .enumerate()
        .filter(|(line, row)| *line == 0 || keep(row))
        .map(|(_, row)| row)
        .collect();
    MACHINES.write(name, rows.join("\n"));
}

fn rate(json: &Value, name: &str) -> f64 {
    json[name].as_f64().unwrap_or_else(|| panic!("{name} in {json}"))
}

#[test]
fn labels_carry_over_where_every_class_is_in_the_pool() {
    let source_only = json(&format!("{PAIR} --method source-only"));
    let adapted = json(&format!("{PAIR} --method gmm-otda-map"));
    let guarded = json(&format!("{PAIR} --pool-is all --force"));
    let accuracy = [&source_only, &adapted, &guarded].map(|run| rate(run, "accuracy"));
    assert!(accuracy[1] > accuracy[0] + 0.1, "{accuracy:?}");
    assert!(accuracy[2] > accuracy[0] + 0.1, "{accuracy:?}");
    assert!(accuracy[1] > 0.9, "{accuracy:?}");
    assert_eq!(guarded["forced"], guarded["verdict"] == "abstain");
    assert_eq!(adapted["verdict"], Value::Null);
}

#[test]
fn a_pool_holds_what_it_is_asked_to_hold() {
    let healthy = json(&format!("{PAIR} --pool healthy --pool-is healthy"));
    assert_eq!(healthy["pool"], "healthy");
    // Only the pool is healthy; the test holds every class.
    let all = json(&format!("{PAIR} --method gmm-otda-map"));
    assert_eq!(healthy["n_test"], all["n_test"]);
    assert_eq!(rate(&all, "n_pool"), 4.0 * rate(&healthy, "n_pool"));
    // 6 s at 20 kHz: the 72 000 samples before the cut give 68 windows.
    assert_eq!(healthy["pool_windows"], serde_json::json!({"Healthy": 68}));
    let mixed = json(&format!("{PAIR} --pool healthy:0.9 --method source-only --seeds 2"));
    let runs = mixed["runs"].as_array().unwrap();
    assert_eq!(runs.len(), 6, "each of three faults, with two seeds");
    assert_eq!(runs[0]["pool_windows"], serde_json::json!({"Healthy": 68, "InnerRace": 8}));
    refused(&format!("{PAIR} --pool healthy:2"), &["healthy:2", "0.9"]);
}

#[test]
fn what_is_left_out_is_tested_as_novel() {
    let each = json(&format!("{PAIR} --pool-is all --leave-out each --seeds 1"));
    let runs = each["runs"].as_array().unwrap();
    let novel: Vec<&str> = runs.iter().map(|run| run["novel"][0].as_str().unwrap()).collect();
    assert_eq!(novel, ["InnerRace", "OuterRace", "Ball"]);
    for run in runs {
        assert!(rate(run, "novel_unknown_rate") > 0.8, "{run}");
        assert!(run["pool_windows"].get(run["novel"][0].as_str().unwrap()).is_none());
    }
    refused(&format!("{PAIR} --leave-out Gear"), &["--leave-out", "Gear", "Healthy"]);
}

#[test]
fn domains_of_different_rates_are_compared_in_the_same_bands() {
    MACHINES.run(
        "simulate --out slow --rate 10000 --seconds 12 --machines 1 --seed 9 --classes Healthy,Ball",
    );
    let rows = MACHINES.read("slow/manifest.csv");
    let rows = rows.lines().skip(1).map(|row| format!("slow/{row}").replace(",motor-a,", ",slow,"));
    let fast = MACHINES.read("manifest.csv");
    let both = format!("{}\n{}\n", fast.trim_end(), rows.collect::<Vec<_>>().join("\n"));
    MACHINES.write("tworates.csv", both);
    let run = json(
        "evaluate --manifest tworates.csv --source motor-a --target slow --pool healthy --pool-is healthy",
    );
    assert_eq!(rate(&run, "detection_rate"), 1.0, "{run}");
    assert!(rate(&run, "false_alarm_rate") <= 0.05, "{run}");
}

#[test]
fn a_pair_that_fails_does_not_end_the_matrix() {
    // Motor-c's recordings have 13 windows before the cut, close together: too few for a mixture.
    let samples = (0..7_700).map(|i| ((i * i) % 977).to_string()).collect::<Vec<_>>().join("\n");
    MACHINES.write("short.csv", format!("x\n{samples}"));
    let text = MACHINES.read("manifest.csv");
    let rows = text.lines().filter(|row| !row.contains(",motor-c,"));
    let mut rows: Vec<String> = rows.map(String::from).collect();
    for label in ["Healthy", "Ball", "InnerRace", "OuterRace"] {
        rows.push(format!("short.csv,{label},motor-c,20000,,"));
    }
    MACHINES.write("failing.csv", rows.join("\n"));
    let words = "evaluate --manifest failing.csv --source all --target all --pool-is all --json";
    let output = MACHINES.output(&words.split(' ').collect::<Vec<_>>());
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let matrix: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert!(matrix["pairs"].as_array().unwrap().len() >= 2, "{matrix}");
    let failed = matrix["failed"].as_array().unwrap();
    assert!(failed.iter().any(|pair| pair["target"] == "motor-c"), "{matrix}");
    for pair in failed {
        assert!(pair["reason"].as_str().unwrap().contains("record longer"), "{pair}");
    }
}

#[test]
fn one_run_has_the_fields_of_the_contract() {
    let run = json(&format!("{PAIR} --pool-is all --seed 7 --split 0.5"));
    assert_eq!(run["source"], "motor-a");
    assert_eq!(run["target"], "motor-b");
    assert_eq!(run["method"], "guarded");
    assert_eq!(run["pool"], "all");
    assert_eq!(run["seed"], 7);
    assert_eq!(run["classes"], serde_json::json!(["Healthy", "InnerRace", "OuterRace", "Ball"]));
    for name in [
        "accuracy",
        "balanced_accuracy",
        "false_alarm_rate",
        "detection_rate",
        "fault_type_accuracy",
        "unknown_rate",
        "false_unknown_rate",
        "source_only_accuracy",
    ] {
        assert!((0.0..=1.0).contains(&rate(&run, name)), "{name}");
    }
    for name in ["features", "fit_source", "fit_target", "transport", "total"] {
        assert!(rate(&run["seconds"], name) >= 0.0, "{name}");
    }
    // 6 s at 20 kHz, cut in half: 60 000 samples give 57 windows of 3072 samples, one every 1024.
    let windows: u64 = (60_000 - 3072) / 1024 + 1;
    assert_eq!(run["n_test"], 4 * windows);
    let confusion = run["confusion"].as_array().unwrap();
    assert_eq!(run["confusion_columns"][4], "unknown");
    let mut right = 0;
    for (row, counts) in confusion.iter().enumerate() {
        let counts: Vec<u64> =
            counts.as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).collect();
        assert_eq!((counts.len(), counts.iter().sum::<u64>()), (6, windows));
        right += counts[row];
    }
    assert_eq!(rate(&run, "accuracy"), right as f64 / (4 * windows) as f64);
}

#[test]
fn seeds_give_runs_with_mean_and_spread_and_repeat() {
    let arguments = format!("{PAIR} --method gmm-otda-map --components 1 --seed 3 --seeds 2");
    let several = json(&arguments);
    let runs = several["runs"].as_array().unwrap();
    assert_eq!(runs.iter().map(|run| run["seed"].as_u64().unwrap()).collect::<Vec<_>>(), [3, 4]);
    let mean = f64::midpoint(rate(&runs[0], "accuracy"), rate(&runs[1], "accuracy"));
    assert!((rate(&several["mean"], "accuracy") - mean).abs() < 1e-12);
    assert!(rate(&several["spread"], "accuracy") < 0.5);
    let again = json(&arguments);
    assert_eq!(several["mean"], again["mean"]);
    let alone = json(&format!("{PAIR} --method gmm-otda-map --components 1 --seed 4"));
    assert_eq!(alone["confusion"], runs[1]["confusion"]);
}

#[test]
fn all_domains_make_a_matrix_of_ordered_pairs() {
    let arguments =
        "evaluate --manifest manifest.csv --source all --target all --method gmm-otda-map";
    let matrix = json(arguments);
    let pairs = matrix["pairs"].as_array().unwrap();
    let names: Vec<String> =
        pairs.iter().map(|run| format!("{}{}", run["source"], run["target"])).collect();
    assert_eq!(names.len(), 6);
    assert!(names.contains(&"\"motor-c\"\"motor-a\"".to_owned()), "{names:?}");
    let accuracies: Vec<f64> = pairs.iter().map(|run| rate(run, "accuracy")).collect();
    let mean = accuracies.iter().sum::<f64>() / 6.0;
    assert!((rate(&matrix["mean"], "accuracy") - mean).abs() < 1e-12);
    let least = accuracies.iter().copied().fold(1.0, f64::min);
    assert_eq!(rate(&matrix["worst"], "accuracy"), least);
    let pair = json(&format!("{PAIR} --method gmm-otda-map"));
    let same = pairs.iter().find(|r| r["source"] == "motor-a" && r["target"] == "motor-b").unwrap();
    assert_eq!(same["confusion"], pair["confusion"], "a pair is the same alone and in the matrix");

    let text = MACHINES.run(arguments);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(text.contains("worst"), "{text}");
    let one_source =
        json("evaluate --manifest manifest.csv --source motor-a --target all --method source-only");
    assert_eq!(one_source["pairs"].as_array().unwrap().len(), 2);
}

#[test]
fn labels_of_one_domain_alone_are_left_out_and_named() {
    manifest("uneven.csv", |row| {
        !row.contains(",Ball,motor-a,") && !row.contains(",InnerRace,motor-b,")
    });
    let pair =
        "evaluate --manifest uneven.csv --source motor-a --target motor-b --method source-only";
    let run = json(pair);
    assert_eq!(run["classes"], serde_json::json!(["Healthy", "OuterRace"]));
    assert_eq!(run["left_out"], serde_json::json!(["InnerRace", "Ball"]));
    let text = MACHINES.run(pair);
    assert!(text.contains("InnerRace, Ball"), "{text}");

    let named = json(&format!("{pair} --labels Healthy,InnerRace,OuterRace,Ball"));
    assert_eq!(named["classes"], serde_json::json!(["Healthy", "InnerRace", "OuterRace", "Ball"]));
    assert_eq!(
        named["confusion_columns"],
        serde_json::json!(["Healthy", "InnerRace", "OuterRace"])
    );
    let ball: u64 =
        named["confusion"][3].as_array().unwrap().iter().filter_map(Value::as_u64).sum();
    assert!(ball > 0, "windows of a class that the source lacks are tested");
    assert_eq!(named["left_out"], serde_json::json!([]));
}

#[test]
fn pairs_that_cannot_be_compared_are_passed_over_by_name() {
    manifest("partly.csv", |row| !row.contains(",Healthy,motor-b,"));
    let matrix = json(
        "evaluate --manifest partly.csv --source all --target all --pool healthy --method source-only --seeds 2",
    );
    let names = |pairs: &Value| -> Vec<String> {
        let letter = |name: &Value| name.as_str().unwrap().replace("motor-", "");
        let pairs = pairs.as_array().unwrap().iter();
        pairs.map(|pair| letter(&pair["source"]) + &letter(&pair["target"])).collect()
    };
    assert_eq!(names(&matrix["pairs"]), ["ac", "ca"]);
    assert_eq!(names(&matrix["skipped"]), ["ab", "ba", "bc", "cb"]);
    for pair in matrix["skipped"].as_array().unwrap() {
        assert!(pair["reason"].as_str().unwrap().contains("--healthy"), "{pair}");
    }
    for pair in matrix["pairs"].as_array().unwrap() {
        assert_eq!(pair["runs"].as_array().unwrap().len(), 2);
    }
}

#[test]
fn noise_makes_the_target_harder_and_repeats() {
    let method = format!("{PAIR} --method gmm-otda-map");
    let noisy = json(&format!("{method} --noise -15"));
    assert!(rate(&noisy, "accuracy") < rate(&json(&method), "accuracy"), "{noisy}");
    assert_eq!(noisy["confusion"], json(&format!("{method} --noise -15"))["confusion"]);
    refused(&format!("{method} --noise nan"), &["--noise", "200"]);
}

#[test]
fn settings_can_be_chosen_without_the_end_of_any_recording() {
    let windows = |options: &str| rate(&json(&format!("{PAIR} {options}")), "n_test");
    let (all, half) = (windows("--seed 0"), windows("--first 0.5"));
    assert!(half < 0.55 * all && half > 0.3 * all, "{half} of {all}");
    refused(&format!("{PAIR} --first 1.2"), &["1.2", "above 0 and below 1"]);
}

#[test]
fn names_that_do_not_exist_are_refused_with_those_that_do() {
    refused(&format!("{PAIR} --method magic"), &["magic", "guarded", "gmm-otda-map", "infoot"]);
    refused(
        "evaluate --manifest manifest.csv --source motor-z --target motor-b",
        &["motor-z", "motor-a, motor-b"],
    );
    refused("evaluate --manifest manifest.csv --source motor-a --target x", &["\"x\"", "motor-a"]);
    refused("evaluate --manifest no.csv --source a --target b", &["no.csv"]);
    let labels = "Ball, Healthy, InnerRace, OuterRace";
    refused(&format!("{PAIR} --pool Healthy,Gear"), &["--pool", "Gear", labels]);
    refused(&format!("{PAIR} --labels Healthy,Gear"), &["--labels", "Gear", labels]);
    refused(&format!("{PAIR} --healthy Fine"), &["--healthy", "Fine", labels]);
    refused(&format!("{PAIR} --labels Healthy,Ball --pool InnerRace"), &["InnerRace", "--labels"]);
    refused(
        "evaluate --manifest manifest.csv --source motor-a --target motor-a",
        &["must differ", "motor-b"],
    );
}

#[test]
fn settings_out_of_range_are_refused() {
    for split in ["0", "1", "1.5", "-0.1", "nan"] {
        refused(&format!("{PAIR} --split={split}"), &["split", "above 0 and below 1"]);
    }
    refused(&format!("{PAIR} --seeds 0"), &["--seeds"]);
    refused(&format!("{PAIR} --components 0"), &["component"]);
    refused(&format!("{PAIR} --fft 1000"), &["1000", "1024"]);
    refused(&format!("{PAIR} --bands 1"), &["bands"]);
}

#[test]
fn recordings_that_cannot_be_tested_are_refused() {
    // 6 s at 20 kHz: a hundredth is 1200 samples, less than a window.
    refused(&format!("{PAIR} --split 0.01"), &["first part", "motor-b", "3072", "1200"]);
    refused(&format!("{PAIR} --split 0.99"), &["last part", "motor-b", "3072", "1200"]);

    manifest("single.csv", |row| !row.contains("motor-b") || row.contains("Ball"));
    refused(
        "evaluate --manifest single.csv --source motor-a --target motor-b",
        &["motor-a -> motor-b", "only Ball", "Healthy, InnerRace, OuterRace, Ball", "two labels"],
    );
    manifest("faults.csv", |row| !row.contains("Healthy"));
    let faults = "evaluate --manifest faults.csv --source motor-a --target motor-b";
    refused(&format!("{faults} --pool healthy"), &["healthy", "--healthy LABEL"]);
    refused(&format!("{faults} --pool-is healthy"), &["--pool-is", "--healthy LABEL"]);
    assert_eq!(json(&format!("{faults} --pool-is all"))["false_alarm_rate"], Value::Null);

    let text = MACHINES.read("manifest.csv");
    MACHINES.write("unlabelled.csv", text.replacen(",Ball,motor-b,", ",,motor-b,", 1));
    refused(
        "evaluate --manifest unlabelled.csv --source motor-a --target motor-b",
        &["motor-b", "no label"],
    );
}

/// The matrix is complete for any number of classes, within 80 columns.
#[test]
fn the_confusion_is_printed_with_thirteen_classes_too() {
    let machines = Workplace::new();
    machines.run("simulate --out . --machines 4 --seconds 4");
    let mut rows = "path,label,domain,rate_hz,rpm,channel\n".to_owned();
    let both = [("motor-a", "A", "known"), ("motor-b", "B", "known")];
    let both = both.into_iter().chain([("motor-c", "A", "new"), ("motor-d", "B", "new")]);
    for (machine, prefix, domain) in both {
        let classes = machines.read("manifest.csv");
        let own: Vec<&str> = classes.lines().filter(|row| row.contains(machine)).collect();
        // Thirteen of the fourteen classes: B leaves one out.
        for row in own.iter().skip(usize::from(prefix == "B")) {
            let fields: Vec<&str> = row.split(',').collect();
            let label = if prefix == "A" && fields[1] == "Healthy" {
                fields[1].to_owned()
            } else {
                format!("{prefix}{}", fields[1])
            };
            rows += &[fields[0], &label, domain, fields[3], "", "\n"].join(",");
        }
    }
    machines.write("thirteen.csv", rows);
    let pair = "evaluate --manifest thirteen.csv --source known --target new";
    let run = machines.json(pair);
    assert_eq!(run["classes"].as_array().unwrap().len(), 13, "{}", run["classes"]);
    let shown = machines.run(pair);
    let tables = shown.split("verdict:").next().unwrap();
    assert!(tables.lines().all(|line| line.chars().count() <= 80), "{tables}");
    let headings: Vec<&str> = shown
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("true label    right %"))
        .flat_map(str::split_whitespace)
        .collect();
    let mut wanted: Vec<String> = (1..=13).map(|class: usize| class.to_string()).collect();
    wanted.extend(["u".into(), "uf".into()]);
    assert_eq!(headings, wanted, "{shown}");
    assert!(shown.contains("u: unknown; uf: fault of unknown type"), "{shown}");
    // Every count of the first row, in the order of the columns.
    let counts: Vec<String> = shown
        .lines()
        .filter(|line| line.starts_with("  1 "))
        .flat_map(|line| line.split_whitespace().skip(3))
        .map(String::from)
        .collect();
    let first = run["confusion"][0].as_array().unwrap();
    assert_eq!(counts, first.iter().map(Value::to_string).collect::<Vec<_>>(), "{shown}");
}

#[test]
fn the_help_names_every_method() {
    let help = MACHINES.run("evaluate --help");
    for name in [
        "guarded",
        "gmm-otda-map",
        "gmm-otda-t",
        "source-only",
        "otda-exact",
        "otda-sinkhorn",
        "otda-affine",
        "otda-affine-diag",
        "hot-da",
        "infoot",
        "infoot-barycentric",
    ] {
        assert!(help.contains(&format!("- {name}:")), "{name}: {help}");
    }
}

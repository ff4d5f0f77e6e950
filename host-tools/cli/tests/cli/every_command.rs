//! The command line as its users see it: results, and bad input to every command.

use std::fs;
use std::process::Command;
use std::sync::LazyLock;

use crate::workplace::Workplace;
use serde_json::Value;

const HEADER: &str = "path,label,domain,rate_hz\n";

/// Simulated machines, a source and a model, made once with the commands themselves.
static WORLD: LazyLock<Workplace> = LazyLock::new(|| {
    let world = Workplace::new();
    world.run("simulate --out m --seconds 4 --classes Healthy,InnerRace,OuterRace");
    world.run("fit --manifest m/manifest.csv --domain motor-a --out source.json");
    world.run(
        "adapt --source source.json --manifest m/manifest.csv --domain motor-b --pool-is all --force --out model.rbm",
    );
    world
});

fn json(arguments: &str) -> Value {
    WORLD.json(arguments)
}

fn refused(arguments: &str, parts: &[&str]) {
    WORLD.refused(arguments, parts);
}

fn file(name: &str, contents: impl AsRef<[u8]>) {
    WORLD.write(name, contents);
}

/// Returns numbers as text, one per line.
fn numbers(values: impl Iterator<Item = u32>) -> String {
    values.fold(String::new(), |text, value| text + &value.to_string() + "\n")
}

#[test]
fn results_are_json_on_request() {
    let wav = manifest_path("motor-b", "InnerRace");
    let predicted = json(&format!("predict --model model.rbm {wav}"));
    let file = &predicted["files"][0];
    let windows = file["windows"].as_u64().unwrap();
    assert_eq!(windows, 38);
    assert!(file["labels"]["InnerRace"].as_u64().unwrap() >= windows - 2, "{file}");
    let report = &file["reports"][0];
    assert_eq!(report["label"], "InnerRace");
    assert!(report["posterior"]["InnerRace"].as_f64().unwrap() > 0.5);

    let inspected = json("inspect model.rbm");
    assert_eq!(inspected["monitor"], "Monitor<f32, 2048, 1, 32, 6, 3>");
    assert_eq!(inspected["source"], "motor-a");
    assert_eq!(inspected["target"], "motor-b");
    assert_eq!(inspected["healthy"], "Healthy");
    assert_eq!(inspected["flash"], WORLD.bytes("model.rbm").len());
    let shown = WORLD.run("inspect model.rbm");
    let alias = "type MotorB<'m> = rebearing::monitor!('m, model: f32, samples: f32, fft: 2048, \
                 axes: 1, features: 32, components: 6, classes: 3);";
    assert!(shown.contains(alias), "{shown}");
}

/// Returns the path of a recording in the world's manifest.
fn manifest_path(domain: &str, label: &str) -> String {
    let text = WORLD.read("m/manifest.csv");
    let row = text.lines().find(|line| line.contains(&format!(",{label},{domain},"))).unwrap();
    format!("m/{}", row.split(',').next().unwrap())
}

#[test]
fn the_number_of_threads_changes_no_byte() {
    for threads in [1, 3] {
        json(&format!(
            "fit --threads {threads} --manifest m/manifest.csv --domain motor-a --out t{threads}.json"
        ));
    }
    assert_eq!(WORLD.read("t1.json"), WORLD.read("t3.json"));
    refused(
        "fit --threads 0 --manifest m/manifest.csv --domain motor-a --out t0.json",
        &["--threads"],
    );
}

#[test]
fn the_same_seed_gives_the_same_files() {
    for out in ["one", "two"] {
        json(&format!("simulate --out {out} --seconds 2 --classes Healthy,Ball"));
        json(&format!("fit --manifest {out}/manifest.csv --domain motor-a --out {out}/s.json"));
        json(&format!(
            "adapt --source {out}/s.json --manifest {out}/manifest.csv --domain motor-b --pool-is healthy --out {out}/m.rbm"
        ));
    }
    for name in ["s.json", "m.rbm", "manifest.csv"] {
        let read = |out: &str| WORLD.bytes(&format!("{out}/{name}"));
        assert_eq!(read("one"), read("two"), "{name}");
    }
}

#[test]
fn pools_are_judged_by_what_is_known_of_them() {
    let manifest = WORLD.read("m/manifest.csv");
    let healthy = |line: &&str| !line.contains("motor-b") || line.contains("Healthy");
    let rows: Vec<&str> = manifest.lines().filter(healthy).collect();
    file("m/healthy.csv", rows.join("\n"));
    let base = "adapt --source source.json --domain motor-b --out pool.rbm --manifest";
    // The simulated machines differ too much for fault names to carry over.
    let declared = json(&format!("{base} m/healthy.csv --pool-is healthy"));
    assert_eq!(declared["verdict"], "abstain");
    let inspected = json("inspect pool.rbm");
    assert_eq!(inspected["gate"]["components"], inspected["components"], "a gate and no types");
    let judged = json(&format!("{base} m/healthy.csv"));
    assert_eq!(judged["verdict"], "abstain", "faults must not be handed out to healthy windows");
    assert_eq!(json("inspect pool.rbm")["gate"], Value::Null);
    let adapted = json(&format!("{base} m/manifest.csv"));
    let predicted = adapted["predicted_accuracy"].as_f64().unwrap();
    assert!(predicted > 0.5, "every class is in the pool: {adapted}");
    let model = WORLD.path().join("pool.rbm");
    assert!(model.is_file());
}

/// The simulated machines have a 6205 bearing, and the manifest gives their speeds.
#[test]
fn a_label_that_names_a_part_carries_the_evidence_at_its_frequency() {
    let target = "--manifest m/manifest.csv --domain motor-b --pool-is all --force --out e.rbm";
    let found = json(&format!(
        "adapt --source source.json {target} --bearing 9,7.94,39.04 --report e.html"
    ));
    let recordings = found["recordings"].as_array().unwrap();
    assert_eq!(recordings.len(), 3);
    for recording in recordings {
        let level = |part: &Value| {
            let evidence = recording["evidence"].as_array().unwrap();
            evidence.iter().find(|e| e["part"] == *part).map(|e| e["level_db"].as_f64().unwrap())
        };
        match recording["label"].as_str().unwrap() {
            "Healthy" => assert!(recording["part"].is_null()),
            "InnerRace" => assert!(level(&"inner_race".into()) > level(&"outer_race".into())),
            "OuterRace" => assert!(level(&"outer_race".into()) > level(&"inner_race".into())),
            other => panic!("{other}"),
        }
        assert!(recording["share"].as_f64().unwrap() > 0.5);
    }
    let page = WORLD.read("e.html");
    assert!(page.contains("BPFO") && page.contains("<b>"), "the label's part is marked");
    refused(&format!("adapt --source source.json {target} --bearing 9,40,39"), &["does not fit"]);
}

#[test]
fn blocks_of_shaft_orders_need_the_shaft_speed() {
    let base = "--manifest m/manifest.csv --domain";
    json(&format!("fit {base} motor-a --blocks bands,orders,envelope --out orders.json"));
    json(&format!(
        "adapt --source orders.json {base} motor-b --pool-is all --force --out orders.rbm"
    ));
    let inspected = json("inspect orders.rbm");
    assert_eq!(inspected["blocks"], serde_json::json!(["bands", "orders", "envelope"]));
    assert_eq!((&inspected["dims"], &inspected["needs_rpm"]), (&96.into(), &true.into()));
    let manifest = WORLD.read("m/manifest.csv");
    let row: Vec<&str> =
        manifest.lines().find(|row| row.contains("motor-b")).unwrap().split(',').collect();
    let (path, rpm) = (format!("m/{}", row[0]), row[4]);
    refused(&format!("predict --model orders.rbm {path}"), &["orders.rbm", "--rpm N"]);
    refused(&format!("predict --model orders.rbm --rpm 1e6 {path}"), &["--rpm 1000000", "rpm"]);
    refused(&format!("predict --model orders.rbm --rpm 0 {path}"), &["positive"]);
    let found = json(&format!("predict --model orders.rbm --rpm {rpm} {path}"));
    let first = &found["files"][0]["reports"][0];
    assert_eq!(first["label"], row[1]);
    for name in ["level", "rms", "kurtosis", "crest"] {
        assert!(first["statistics"][0][name].is_f64(), "{first}");
    }
    file("no-rpm.csv", format!("{HEADER}{path},Healthy,a,20000\n{path},Ball,a,20000\n"));
    refused(
        "fit --manifest no-rpm.csv --domain a --blocks bands,orders --out x.json",
        &["rpm column", "--blocks bands"],
    );
    refused(
        &format!("fit {base} motor-a --blocks orders --out x.json"),
        &["--blocks", "bands,orders,envelope"],
    );
}

#[test]
fn missing_files_are_named() {
    refused("fit --manifest no.csv --domain a --out x.json", &["no.csv"]);
    refused(
        "adapt --source no.json --manifest m/manifest.csv --domain motor-b --out x.rbm",
        &["no.json", "rebearing fit"],
    );
    refused(
        "adapt --source source.json --manifest no.csv --domain motor-b --out x.rbm",
        &["no.csv"],
    );
    refused("inspect no.rbm", &["no.rbm"]);
    refused("predict --model no.rbm x.wav", &["no.rbm"]);
    refused("predict --model model.rbm no.wav", &["no.wav"]);
    refused("emulate --model no.rbm x.wav", &["no.rbm"]);
    refused("emulate --model model.rbm no.wav", &["no.wav"]);
    file("gone.csv", format!("{HEADER}gone.wav,Healthy,a,20000\n"));
    refused("fit --manifest gone.csv --domain a --out x.json", &["gone.csv", "2", "gone.wav"]);
    assert!(!WORLD.has("x.json"));
    assert!(!WORLD.has("x.rbm"));
}

#[test]
fn manifests_that_cannot_be_used_are_refused() {
    file("empty.csv", "");
    refused(
        "fit --manifest empty.csv --domain a --out x.json",
        &["empty.csv", "path,label,domain,rate_hz"],
    );
    file("header.csv", HEADER);
    refused("fit --manifest header.csv --domain a --out x.json", &["header.csv", "row"]);
    file("column.csv", "path,label,rate_hz\nx.wav,Healthy,20000\n");
    refused("fit --manifest column.csv --domain a --out x.json", &["column.csv", "domain"]);
    file("rate.csv", format!("{HEADER}x.wav,Healthy,a,fast\n"));
    refused("fit --manifest rate.csv --domain a --out x.json", &["rate.csv", "2", "fast"]);
    let unknown = ["motor-z", "motor-a, motor-b"];
    refused("fit --manifest m/manifest.csv --domain motor-z --out x.json", &unknown);
    refused(
        "adapt --source source.json --manifest m/manifest.csv --domain motor-z --out x.rbm",
        &unknown,
    );
}

#[test]
fn sources_need_labels_and_two_classes() {
    let healthy = manifest_path("motor-a", "Healthy");
    let ball = manifest_path("motor-a", "InnerRace");
    file("nolabel.csv", format!("{HEADER}{healthy},Healthy,a,20000\n{ball},,a,20000\n"));
    refused("fit --manifest nolabel.csv --domain a --out x.json", &[&ball, "label"]);
    file("oneclass.csv", format!("{HEADER}{healthy},Healthy,a,20000\n"));
    refused("fit --manifest oneclass.csv --domain a --out x.json", &["Healthy", "two classes"]);
    refused(
        "fit --manifest m/manifest.csv --domain motor-a --healthy Fine --out x.json",
        &["Fine", "Healthy, InnerRace, OuterRace"],
    );
}

#[test]
fn rates_that_differ_are_refused() {
    let healthy = manifest_path("motor-a", "Healthy");
    file("wrongrate.csv", format!("{HEADER}{healthy},Healthy,a,12000\n"));
    refused(
        "fit --manifest wrongrate.csv --domain a --out x.json",
        &["wrongrate.csv", "12000", "20000"],
    );
    let samples = numbers((0..9000).map(|i| (i * i) % 977));
    file("slow.csv", format!("x\n{samples}"));
    file("tworates.csv", format!("{HEADER}slow.csv,Healthy,a,12000\nslow.csv,Ball,a,20000\n"));
    refused(
        "fit --manifest tworates.csv --domain a --out x.json",
        &["tworates.csv", "row 3", "12000"],
    );
    file("slowtarget.csv", format!("{HEADER}slow.csv,,b,12000\n"));
    refused(
        "adapt --source source.json --manifest slowtarget.csv --domain b --out x.rbm",
        &["12000", "20000", "resample"],
    );
    refused("predict --model model.rbm --rate 12000 slow.csv", &["12000", "20000"]);
    json("simulate --out slow --rate 10000 --seconds 1 --machines 1 --classes Healthy");
    let slow = WORLD.read("slow/manifest.csv");
    let wav = slow.lines().nth(1).unwrap().split(',').next().unwrap();
    refused(&format!("predict --model model.rbm slow/{wav}"), &[wav, "10000", "20000"]);
    refused(&format!("emulate --model model.rbm slow/{wav}"), &[wav, "10000", "20000"]);
}

#[test]
fn recordings_shorter_than_a_window_or_with_bad_numbers_are_refused() {
    let long = numbers((0..9000).map(|i| (i * i) % 977));
    file("long.csv", format!("x\n{long}"));
    let short = numbers(0..1000);
    file("short.csv", format!("x\n{short}"));
    file("shorts.csv", format!("{HEADER}long.csv,Healthy,a,20000\nshort.csv,Ball,a,20000\n"));
    refused("fit --manifest shorts.csv --domain a --out x.json", &["short.csv", "3072", "1000"]);
    refused(
        "adapt --source source.json --manifest shorts.csv --domain a --out x.rbm",
        &["short.csv", "3072"],
    );
    refused("predict --model model.rbm short.csv", &["short.csv", "3072"]);
    refused("emulate --model model.rbm short.csv", &["short.csv", "3072"]);

    file("nan.csv", format!("x\n{long}NaN\n"));
    file("nans.csv", format!("{HEADER}long.csv,Healthy,a,20000\nnan.csv,Ball,a,20000\n"));
    refused("fit --manifest nans.csv --domain a --out x.json", &["nan.csv", "row 3", "9000"]);
    let constant = "1\n".repeat(9000);
    file("flat.csv", format!("x\n{constant}"));
    file("flats.csv", format!("{HEADER}long.csv,Healthy,a,20000\nflat.csv,Ball,a,20000\n"));
    refused("fit --manifest flats.csv --domain a --out x.json", &["flat.csv", "do not vary"]);
    // A sensor's NaN is reported, not refused, because the device would report it too.
    let predicted = json("predict --model model.rbm nan.csv");
    assert!(
        predicted["files"][0]["labels"].get("sensor_fault").is_none(),
        "NaN is behind the last window"
    );
    file("nan2.csv", format!("x\nNaN\n{long}"));
    let predicted = json("predict --model model.rbm nan2.csv");
    assert_eq!(predicted["files"][0]["reports"][0]["sensor_fault"], "not_finite");
}

#[test]
fn unwritable_outputs_are_refused_before_the_work() {
    refused(
        "fit --manifest m/manifest.csv --domain motor-a --out no/dir/x.json",
        &["no/dir/x.json"],
    );
    refused(
        "adapt --source source.json --manifest m/manifest.csv --domain motor-b --out no/dir/x.rbm",
        &["no/dir/x.rbm"],
    );
    file("plain", "a file, not a folder");
    refused("simulate --out plain", &["plain"]);
    refused("demo --out plain", &["plain"]);
}

#[test]
fn damaged_models_and_sources_are_refused() {
    let model = WORLD.bytes("model.rbm");
    file("cut.rbm", &model[..model.len() / 2]);
    let wav = manifest_path("motor-b", "Healthy");
    for command in [
        "inspect cut.rbm",
        &format!("predict --model cut.rbm {wav}"),
        &format!("emulate --model cut.rbm {wav}"),
    ] {
        refused(command, &["cut.rbm", "cut short"]);
    }
    let mut flipped = model.clone();
    flipped[100] ^= 4;
    file("flipped.rbm", &flipped);
    refused("inspect flipped.rbm", &["flipped.rbm", "checksum"]);
    refused("inspect m/manifest.csv", &["manifest.csv", "not a rebearing model"]);

    let source = WORLD.read("source.json");
    file("cut.json", &source[..source.len() / 2]);
    let adapt = |name: &str| {
        format!("adapt --source {name} --manifest m/manifest.csv --domain motor-b --out x.rbm")
    };
    refused(&adapt("cut.json"), &["cut.json", "rebearing fit"]);
    file("old.json", source.replacen("\"version\": 1", "\"version\": 99", 1));
    refused(&adapt("old.json"), &["old.json", "99"]);
    let mut value: Value = serde_json::from_str(&source).unwrap();
    value["scale"][0] = 0.0.into();
    file("zero.json", value.to_string());
    refused(&adapt("zero.json"), &["zero.json", "scale"]);
}

#[test]
fn settings_out_of_range_are_refused() {
    let fit = "fit --manifest m/manifest.csv --domain motor-a --out x.json";
    refused(&format!("{fit} --fft 1000"), &["1000", "1024"]);
    refused(&format!("{fit} --hop 0"), &["hop"]);
    refused(&format!("{fit} --segments 0"), &["segments"]);
    refused(&format!("{fit} --bands 1"), &["bands"]);
    refused(&format!("{fit} --components 0"), &["component"]);
    let adapt = "adapt --source source.json --manifest m/manifest.csv --domain motor-b --pool-is all --force --out x.rbm";
    refused(&format!("{adapt} --epsilon 0"), &["epsilon"]);
    refused(&format!("{adapt} --components 1000"), &["too few"]);
    refused("simulate --out s --axes 4", &["axes", "4"]);
    refused("nonsense", &["nonsense"]);
}

#[cfg(target_os = "linux")]
#[test]
fn a_path_that_is_not_utf8_is_only_shown_otherwise() {
    use std::os::unix::ffi::OsStrExt;
    let model = WORLD.path().join(std::ffi::OsStr::from_bytes(b"\xffmodel.rbm"));
    fs::copy(WORLD.path().join("model.rbm"), &model).unwrap();
    let wav = WORLD.path().join("m/motor-b/Healthy.wav");
    for arguments in [&["inspect"][..], &["predict", "--model"]] {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
        command.args(arguments).arg(&model).arg("--json");
        if arguments[0] == "predict" {
            command.arg(&wav);
        }
        let output = command.output().expect("the command runs");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let found: Value = serde_json::from_slice(&output.stdout).expect("JSON");
        assert!(found["model"].as_str().is_some_and(|path| path.ends_with("\u{fffd}model.rbm")));
    }
}

/// Runs every command that takes a path and prints it, in a folder with a name that is not UTF-8.
#[cfg(target_os = "linux")]
#[test]
fn every_command_shows_a_path_that_is_not_utf8() {
    use std::os::unix::ffi::OsStrExt;
    let place = Workplace::new();
    let folder = place.path().join(std::ffi::OsStr::from_bytes(b"\xff"));
    // `@` stands for that folder at the start of a path.
    let found = |line: &str| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_rebearing"));
        for word in line.split(' ') {
            match word.strip_prefix('@') {
                Some(name) => command.arg(folder.join(name)),
                None => command.arg(word),
            };
        }
        // Without programs in the PATH the demo skips its emulated device.
        let output = command.arg("--json").env("PATH", "").output().expect("the command runs");
        let errors = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{line}: {errors}");
        serde_json::from_slice::<Value>(&output.stdout).expect("JSON")
    };
    let shows = |value: &Value, end: &str| {
        assert!(value.as_str().is_some_and(|path| path.ends_with(end)), "{value} {end}");
    };
    let simulated = found("simulate --out @ --seconds 4 --classes Healthy,InnerRace,OuterRace");
    shows(&simulated["manifest"], "\u{fffd}/manifest.csv");
    found("fit --manifest @manifest.csv --domain motor-a --out @source.json");
    let adapted = found(
        "adapt --source @source.json --manifest @manifest.csv --domain motor-b --pool-is all --force \
         --encoding i16 --bearing 9,7.94,39.04 --out @i16.rbm",
    );
    shows(&adapted["recordings"][0]["path"], "\u{fffd}/motor-b/Healthy.wav");
    shows(&found("inspect @i16.rbm")["model"], "\u{fffd}/i16.rbm");
    shows(&found("key new --out @plant")["public"], "\u{fffd}/plant.pub");
    shows(&found("key show @plant.pub")["public"], "\u{fffd}/plant.pub");
    let signed = found("sign --key @plant --counter 1 --model @i16.rbm --out @signed.rbm");
    shows(&signed["out"], "\u{fffd}/signed.rbm");
    shows(&found("inspect --key @plant.pub @signed.rbm")["model"], "\u{fffd}/signed.rbm");
    let wav = "@motor-b/InnerRace.wav";
    let predicted = found(&format!("predict --model @i16.rbm {wav}"));
    shows(&predicted["files"][0]["file"], "\u{fffd}/motor-b/InnerRace.wav");
    let bearing = found(&format!("frequencies --bearing 9,7.94,39.04 --rpm 1480 {wav}"));
    shows(&bearing["files"][0]["file"], "\u{fffd}/motor-b/InnerRace.wav");
    shows(&found("demo --out @demo")["out"], "\u{fffd}/demo");
}

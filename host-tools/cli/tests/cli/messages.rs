//! The wording of messages: counts with their noun, axes by their names, each cause once, rates as
//! people write them.

use crate::workplace::Workplace;

#[test]
fn one_of_a_thing_takes_the_singular() {
    let place = Workplace::new();
    let shown = place.run("simulate --out m --seconds 4 --machines 1 --classes Healthy");
    assert!(shown.starts_with("1 recording of 4 s"), "{shown}");
    let shown = place.run("manifest m");
    assert!(shown.contains(": 1 recording, 1 skipped"), "{shown}");
    assert!(shown.contains("1 of 1 file\n"), "{shown}");
    // One window of 3072 samples.
    let samples = (0..3100).map(|i| ((i * i) % 977).to_string()).collect::<Vec<_>>().join("\n");
    place.write("short.csv", format!("x\n{samples}\n"));
    place.run("simulate --out two --seconds 4 --classes Healthy,InnerRace");
    place.run("fit --manifest two/manifest.csv --domain motor-a --out s.json");
    place.run(
        "adapt --source s.json --manifest two/manifest.csv --domain motor-b --pool-is all --force --out m.rbm",
    );
    let shown = place.run("predict --model m.rbm short.csv");
    assert!(shown.contains("short.csv: 1 window:"), "{shown}");
    let shown = place.run("inspect m.rbm");
    assert!(shown.contains("1 axis,") && !shown.contains("1 axes"), "{shown}");
    place.write("two.csv", "x,y\n".to_owned() + &"1,2\n2,3\n4,1\n".repeat(2000));
    place.run("simulate --out three --seconds 4 --axes 3 --classes Healthy,InnerRace");
    place.run("fit --manifest three/manifest.csv --domain motor-a --out s3.json");
    let adapt = "adapt --source s3.json --manifest two/manifest.csv --domain motor-b --out x.rbm";
    place.refused(adapt, &["has 1 axis,"]);
}

#[test]
fn axes_have_the_names_of_the_manifest() {
    let place = Workplace::new();
    place.run("simulate --out m --seconds 4 --axes 2 --classes Healthy,InnerRace");
    let recording = "m/motor-a/InnerRace.wav";
    let shown = place
        .run(&format!("frequencies --bearing 9,7.94,39.04 --rpm 1480 --channel 0;1 {recording}"));
    assert!(shown.contains("axis x: ") && shown.contains("axis y: "), "{shown}");
    let rows = "1,2\n2,NaN\n".repeat(3000);
    place.write("m/nan.csv", format!("x,y\n{rows}"));
    let header = "path,label,domain,rate_hz,channel\n";
    place.write("m/nan-manifest.csv", format!("{header}nan.csv,Healthy,n,20000,x;y\n"));
    place
        .refused("fit --manifest m/nan-manifest.csv --domain n --out x.json", &["frame 1, axis y"]);
}

#[test]
fn a_cause_is_said_once_and_no_temporary_name_is() {
    let place = Workplace::new();
    place.write("plain", "a file, not a folder");
    place.write("x.npy", "");
    place.write("gone.csv", "path,label,domain,rate_hz\ngone.wav,Healthy,a,20000\n");
    for (command, cause) in [
        ("inspect no.rbm", "No such file"),
        ("fit --manifest no.csv --domain a --out x.json", "No such file"),
        ("fit --manifest gone.csv --domain a --out x.json", "No such file"),
        ("adapt --source no.json --manifest m.csv --domain b --out x.rbm", "No such file"),
        ("evaluate --manifest no.csv --source a --target b", "No such file"),
        ("frequencies --bearing 9,7.94,39.04 --rpm 1797 no.wav", "No such file"),
        ("gmm --data no.npy --components 2 --out g.json", "No such file"),
        ("gmm --data x.npy --components 2 --out no/g.json", "No such file"),
        ("plan --cost no.npy --a a.npy --b b.npy --out p.npy", "No such file"),
        ("manifest no", "No such file"),
        ("manifest plain", "Not a directory"),
        ("simulate --out plain", "File exists"),
        ("simulate --out plain/in", "Not a directory"),
        ("watch no.log", "No such file"),
    ] {
        let output = place.output(&command.split(' ').collect::<Vec<_>>());
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(2), "{command}: {said}");
        assert!(said.matches(cause).count() <= 1, "{command}: {said}");
        assert!(said.matches("(os error").count() <= 1, "{command}: {said}");
        assert!(!said.contains(".rebearing-") && !said.contains(".tmp"), "{command}: {said}");
    }
    let mut command = std::process::Command::new(env!("CARGO_BIN_EXE_rebearing"));
    let output = command.arg("demo").env("TMPDIR", place.path().join("absent")).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("absent: ") && said.contains("set TMPDIR"), "{said}");
    assert!(!said.contains("at path"), "{said}");
}

#[test]
fn a_rate_is_taken_in_kilohertz_everywhere() {
    let place = Workplace::new();
    place.run("simulate --out m --rate 51.2k --seconds 2 --classes Healthy,InnerRace --format csv");
    assert!(place.read("m/manifest.csv").contains(",51200,"), "a whole number of Hz");
    place.run("fit --manifest m/manifest.csv --domain motor-a --resample 25.6kHz --out s.json");
    place.run(
        "adapt --source s.json --manifest m/manifest.csv --domain motor-b --resample --pool-is all --force \
         --out m.rbm",
    );
    let samples = (0..9000).map(|i| ((i * i) % 977).to_string()).collect::<Vec<_>>().join("\n");
    place.write("recordings/x.csv", format!("x\n{samples}\n"));
    let found = place.json("predict --model m.rbm --rate 25.6k recordings/x.csv");
    assert_eq!(found["files"][0]["windows"], 3);
    place.run("manifest recordings --rate 51.2k --domain a --out one.csv");
    assert!(place.read("one.csv").contains("51200"), "{}", place.read("one.csv"));
    place.run("frequencies --bearing 9,7.94,39.04 --rpm 6000 --rate 2.5k recordings/x.csv");
    place.refused("simulate --out m --rate fast", &["--rate", "51.2k"]);
}

#[test]
fn predict_says_which_rate_it_assumes() {
    let place = Workplace::new();
    place.run("simulate --out m --seconds 4 --classes Healthy,InnerRace");
    place.run("fit --manifest m/manifest.csv --domain motor-a --out s.json");
    place.run(
        "adapt --source s.json --manifest m/manifest.csv --domain motor-b --pool-is all --force --out m.rbm",
    );
    let samples = (0..9000).map(|i| ((i * i) % 977).to_string()).collect::<Vec<_>>().join("\n");
    place.write("a.csv", format!("x\n{samples}\n"));
    place.write("b.csv", format!("x\n{samples}\n"));
    let shown = place.run("predict --model m.rbm a.csv m/motor-b/Healthy.wav b.csv");
    let note = "a.csv and 1 more file: no sample rate; read at the model's 20000 Hz";
    assert_eq!(shown.matches(note).count(), 1, "{shown}");
    for said in
        ["predict --model m.rbm --rate 20k a.csv", "predict --model m.rbm m/motor-b/Healthy.wav"]
    {
        let shown = place.run(said);
        assert!(!shown.contains("no sample rate"), "{said}: {shown}");
    }
}

//! A command with several outputs writes all of them or none.

use crate::workplace::Workplace;

#[test]
fn a_report_that_cannot_be_written_keeps_the_old_model() {
    let place = Workplace::new();
    place.run("simulate --out m --seconds 4 --classes Healthy,InnerRace");
    place.run("fit --manifest m/manifest.csv --domain motor-a --out s.json");
    place.write("model.rbm", "the old model");
    let adapt = "adapt --source s.json --manifest m/manifest.csv --domain motor-b --pool-is all \
                 --out model.rbm --report";
    place.write("file", "");
    for (report, problem) in [
        // It can be opened, and every write to it fails.
        #[cfg(target_os = "linux")]
        ("/dev/full", "/dev/full: cannot write the output"),
        ("absent/r.html", "absent/r.html: cannot write the output"),
        ("file/r.html", "file/r.html: cannot write the output"),
        ("model.rbm", "model.rbm: --out and --report must be two files"),
        ("./model.rbm", "./model.rbm: cannot write the output: it is the file of another output"),
    ] {
        place.refused(&format!("{adapt} {report}"), &[problem]);
        assert_eq!(place.read("model.rbm"), "the old model", "{report}");
    }
    let names = std::fs::read_dir(place.path()).unwrap();
    let names: Vec<_> = names.map(|entry| entry.unwrap().file_name()).collect();
    assert_eq!(names.len(), 4, "nothing left over: {names:?}");
    place.run(&format!("{adapt} r.html"));
    assert!(place.bytes("model.rbm").starts_with(b"RBRG") && place.has("r.html"));
}

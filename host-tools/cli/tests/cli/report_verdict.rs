//! The top of a report: its colour, its warnings, and sentences that the figures do not deny.

use crate::report_pages::{PAGES, page, text};

#[test]
fn every_verdict_has_its_sentence() {
    for (name, words) in [
        ("adapt", "were carried over to motor-b's own recordings"),
        (
            "adapt",
            "Predicted: at least 98 % of windows are right, on pools like these (fixed curve",
        ),
        ("adapt", "100.0 % of the 304 windows with a label in the manifest got that label."),
        ("adapt", "100.0 % of the 228 windows of faults were found as faulty"),
        ("adapt", "0.0 % of the 76 healthy windows are false alarms"),
        ("adapt", "the model is steady, not that it is right"),
        ("keep-gate", "names the type of a fault by the faults of motor-c"),
        ("keep-gate", "No labels were carried over: no accuracy is predicted (promise 90 %)"),
        ("abstain-gate", "does not name the type of a fault"),
        ("abstain", "The model names nothing: every window of motor-a is unknown"),
        ("abstain", "There is no log-likelihood to judge it by"),
        ("nothing-integers", "The model names nothing: every window of motor-a is unknown"),
        ("later", "the model was made from these very recordings"),
        ("later", "Predicted: at least 98 % of windows are right"),
        ("later-gate", "the model was made from other recordings"),
    ] {
        let page = page(name).replace("&#39;", "'");
        assert!(page.contains(words), "{name}: {words}");
    }
}

#[test]
fn the_badge_is_green_only_where_the_promise_is_kept() {
    for (name, colour) in [
        ("adapt", "green"),
        ("integers", "green"),
        ("library", "green"),
        ("later", "green"),
        ("keep-gate", "amber"),
        ("later-gate", "amber"),
        ("abstain-gate", "amber"),
        ("abstain", "red"),
        ("nothing-integers", "red"),
        ("forced", "red"),
        ("contradicted", "red"),
    ] {
        let page = page(name);
        assert!(page.contains(&format!("<span class=\"badge {colour}\">")), "{name}");
        assert_eq!(page.matches("<span class=\"badge ").count(), 1, "{name}");
    }
}

/// The part of a page before the verdict's sentence.
fn above_the_verdict(name: &str) -> String {
    let page = page(name).replace("&#39;", "'");
    let start = page.split_once("<section id=\"verdict\">").expect("the section").1;
    start.split_once("<p class=\"lead\">").expect("the sentence").0.to_owned()
}

#[test]
fn what_speaks_against_a_model_stands_above_its_verdict() {
    for (name, words) in [
        ("forced", "FORCED: the verdict was to name no fault"),
        ("contradicted", "The figures on this page contradict the verdict: 50.0 %"),
        ("contradicted", "a bug"),
        ("contradicted", "recording OuterRace.wav is called Healthy, but BPFO stands"),
        ("abstain", "Warning: the device cannot watch for drift"),
    ] {
        let above = above_the_verdict(name);
        assert!(above.contains(words), "{name}: {words} in {above}");
    }
    for name in ["adapt", "keep-gate", "library"] {
        let above = above_the_verdict(name);
        assert!(!above.contains("severe") && !above.contains("is called"), "{name}: {above}");
    }
    // The same in text and JSON.
    let place = &PAGES.world.place;
    let options = "--source swapped.json --domain motor-b --manifest m/manifest.csv --pool-is all \
                   --bearing 9,7.94,39.04 --out again.rbm";
    let found = place.json(&format!("adapt {options}"));
    let said = found["warnings"][0].as_str().expect("a warning");
    assert!(said.starts_with("recording OuterRace.wav is called Healthy, but BPFO"), "{said}");
    assert!(place.run(&format!("adapt {options}")).contains("warning: recording OuterRace.wav"));
    let later =
        "report --model again.rbm --source swapped.json --manifest m/manifest.csv --domain motor-b";
    let later = place.json(&format!("{later} --bearing 9,7.94,39.04 --out again.html"));
    assert_eq!(
        (&later["warnings"][0], &later["verdict"]["verdict"]),
        (&said.into(), &"adapt".into())
    );
}

#[test]
fn a_library_ranks_its_machines() {
    let shown = page("library");
    let table = shown.split_once("<table class=\"known\">").expect("the table").1;
    let table = table.split_once("</table>").expect("its end").0;
    let place = |name: &str| table.find(name).unwrap_or_else(|| panic!("no {name}: {table}"));
    assert!(place("motor-c</th><td>100 %</td>") < place("motor-a</th><td>–</td>"), "{table}");
    assert!(!page("adapt").contains("class=\"known\""), "one machine is no choice");
}

#[test]
fn no_sentence_takes_one_colour_for_a_proof() {
    for made in &PAGES.made {
        let page = text(made);
        for claim in ["speaks for the label,", "should have one colour", "In a good plan"] {
            assert!(!page.contains(claim), "{}: {claim}", made.name);
        }
    }
}

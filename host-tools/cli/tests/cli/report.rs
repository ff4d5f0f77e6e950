//! The report as a file: complete, well formed, escaped, and the same for the same input.

use crate::report_pages::{PAGES, elements, figure, known_elements, page, text};
use crate::report_world::HOSTILE;

/// Every section, in the order of the page.
const SECTIONS: [&str; 11] = [
    "verdict",
    "timeline",
    "spectra",
    "view",
    "plan",
    "likelihood",
    "confusion",
    "evidence",
    "recordings",
    "cost",
    "provenance",
];

#[test]
fn the_check_of_tags_can_fail() {
    for bad in ["<p><b></p></b>", "<p>", "<p class=\"x>", "</p>"] {
        assert!(elements(bad).is_err(), "{bad}");
    }
    assert_eq!(elements("<p>a<br><rect x=\"1\"/></p>").unwrap(), ["p", "br", "rect"]);
}

#[test]
fn every_page_is_well_formed_and_has_every_section() {
    for made in &PAGES.made {
        let page = text(made);
        let elements = elements(&page).unwrap_or_else(|wrong| panic!("{}: {wrong}", made.name));
        known_elements(made, &elements);
        let mut last = 0;
        for id in SECTIONS {
            let at = page.find(&format!("<section id=\"{id}\">"));
            let at = at.unwrap_or_else(|| panic!("{}: no section {id}", made.name));
            assert!(at > last, "{}: {id} is out of order", made.name);
            last = at;
        }
        for id in made.figures {
            assert!(
                page.contains(&format!("<figure id=\"figure-{id}\"")),
                "{}: no {id}",
                made.name
            );
        }
        let pictures = page.matches("<svg ").count();
        assert_eq!(page.matches("role=\"img\" aria-label=\"").count(), pictures, "{}", made.name);
        assert!(pictures >= 4, "{}: {pictures} pictures", made.name);
        if let Some(verdict) = made.verdict {
            let badge = page.split_once("<span class=\"badge ").expect("a badge").1;
            let (_, word) = badge.split_once("\">").expect("its end");
            assert!(word.starts_with(verdict), "{}: {}", made.name, &word[..20]);
        }
    }
}

#[test]
fn a_page_loads_nothing_and_forbids_itself_to() {
    for made in PAGES.made.iter().chain(&PAGES.evaluated) {
        let page = text(made);
        assert!(page.contains("content=\"default-src 'none';"), "{}", made.name);
        // The only "http" on the page is in the attribute of its own policy.
        assert_eq!(page.matches("http").count(), 1, "{}", made.name);
        for loads in ["<script", "<img", "<link", "<iframe", "url(", "@import", "data:"] {
            assert!(!page.contains(loads), "{}: {loads}", made.name);
        }
        // Links point to places on the same page.
        for target in page.split("href=\"").skip(1) {
            assert!(target.starts_with('#'), "{}: {}", made.name, &target[..20]);
        }
    }
}

#[test]
fn names_from_files_are_text_wherever_they_stand() {
    let page = page("hostile");
    for name in HOSTILE {
        let escaped = name
            .replace('&', "&amp;")
            .replace('<', "&lt;")
            .replace('>', "&gt;")
            .replace('"', "&quot;");
        assert!(page.contains(&escaped), "{escaped}");
        assert!(!page.contains(name), "{name}");
    }
    assert!(page.contains("&lt;b&gt;new&lt;/b&gt;") && page.contains("&lt;i&gt;motor-b &amp;"));
}

#[test]
fn the_same_input_gives_the_same_bytes() {
    let place = &PAGES.world.place;
    let again = "--source c.json --domain motor-b --manifest m/manifest.csv --pool-is all";
    let bearing = "--bearing 9,7.94,39.04";
    let first = page("adapt");
    // The output keeps its name, because the page shows the command line.
    place.json(&format!("adapt {again} {bearing} --out adapt.rbm --report adapt.html"));
    assert_eq!(first, page("adapt"));
}

#[test]
fn what_is_not_there_is_left_out_with_a_word_why() {
    for (name, words) in [
        ("abstain", "so it has no plan"),
        ("keep-gate", "so it has no plan"),
        ("later", "is not part of a model file"),
        ("snapshot", "has no label for motor-b"),
        ("keep-gate", "geometry was not given"),
        ("abstain", "no window reaches it"),
        ("axes", "Instructions are not estimated"),
    ] {
        assert!(page(name).contains(words), "{name}: {words}");
    }
    assert!(!page("later").contains("figure-plan"));
}

#[test]
fn pictures_show_what_the_numbers_say() {
    let page = page("adapt");
    let figure = |id: &str| figure(&page, id);
    // 8 × 8 components; each class has two on either side.
    assert!((8..=64).contains(&figure("plan").matches("<rect").count().saturating_sub(8)));
    // A line and a shaded area for each class, and a dashed line of many pieces.
    assert_eq!(figure("spectra").matches("<polygon").count(), 4);
    assert!(figure("spectra").matches("#000000").count() > 40);
    // Two panels of 304 windows; source and target have 8 components with two circles each.
    assert_eq!(figure("view").matches("<circle").count(), 2 * 304 + 2 * 8 * 2);
    // Every recording is a strip with its axis in seconds, and a table lists all its windows.
    assert_eq!(figure("timeline").matches("<svg").count(), 4);
    assert!(figure("timeline").contains("3 s"));
    let cells: usize = figure("confusion")
        .split("<td class=\"hit\"")
        .skip(1)
        .filter_map(|cell| cell.split_once('>')?.1.split_once('<')?.0.parse::<usize>().ok())
        .sum();
    assert_eq!(cells, 304);
    // The part that the label names is bold, and four spectra show the marked frequencies.
    assert!(figure("evidence").contains("<b>"));
    assert_eq!(figure("envelope").matches("<svg").count(), 4);
    for words in
        ["Monitor&lt;f32, 2048, 1, 32, 8, 4&gt;", "cortex-m4f", "--epsilon 0.002", "--seed 0"]
    {
        assert!(page.contains(words), "{words}");
    }
}

#[test]
fn json_lists_sections_and_figures() {
    let place = &PAGES.world.place;
    let target = "--source c.json --manifest m/manifest.csv --domain motor-b";
    let found = place.json(&format!("report --model adapt.rbm {target} --out listed.html"));
    let ids: Vec<&str> =
        found["sections"].as_array().unwrap().iter().map(|s| s["id"].as_str().unwrap()).collect();
    assert_eq!(ids, SECTIONS);
    assert_eq!(found["sections"][3]["figures"], serde_json::json!(["view"]));
    assert_eq!((&found["same_recordings"], &found["windows"]), (&true.into(), &304.into()));
    assert_eq!(found["labels"]["Ball"], 76);
    let integers = place.json(&format!("report --model integers.rbm {target} --out listed.html"));
    assert_eq!(
        (&integers["encoding"], &integers["same_recordings"]),
        (&"i16".into(), &true.into())
    );
    let adapted = format!("adapt {target} --pool-is all --out listed.rbm");
    assert!(place.json(&adapted)["report_sections"].is_null());
    let adapted = place.json(&format!("{adapted} --report listed.html"));
    assert_eq!(adapted["report_sections"][4]["figures"], serde_json::json!(["plan"]));
}

/// Asserts a refusal that names all of `parts`, and that no page is written.
fn refused(arguments: &str, parts: &[&str]) {
    PAGES.world.place.refused(arguments, parts);
    assert!(!PAGES.world.place.has("no.html"), "{arguments}");
}

#[test]
fn what_does_not_belong_together_is_refused() {
    let place = &PAGES.world.place;
    let manifest = "--manifest m/manifest.csv --domain motor-b --out no.html";
    refused(
        &format!("report --model adapt.rbm --source three.json {manifest}"),
        &["adapt.rbm", "three.json", "give the source"],
    );
    place.json("fit --manifest m/manifest.csv --domain motor-c --bands 16 --out coarse.json");
    refused(
        &format!("report --model adapt.rbm --source coarse.json {manifest}"),
        &["coarse.json", "features differ"],
    );
    place.write("m/numbers.csv", "x\n".to_owned() + &"1\n5\n3\n".repeat(3000));
    place.write("m/slow.csv", "path,label,domain,rate_hz\nnumbers.csv,,slow,9999\n");
    refused(
        "report --model adapt.rbm --source c.json --manifest m/slow.csv --domain slow --out no.html",
        &["slow.csv", "9999", "20000", "resample"],
    );
    refused(&format!("report --model no.rbm --source c.json {manifest}"), &["no.rbm"]);
    refused(&format!("report --model a.json --source c.json {manifest}"), &["a.json"]);
    refused(
        "report --model adapt.rbm --source c.json --manifest m/manifest.csv --domain motor-b --out no/no.html",
        &["no/no.html"],
    );
    refused(
        "report --model adapt.rbm --source c.json --snapshot b.rbs --bearing 9,7.9,39 --out no.html",
        &["--bearing", "--manifest"],
    );
    // If the report cannot be written, no model is written either.
    refused(
        "adapt --source c.json --manifest m/manifest.csv --domain motor-b --pool-is all --out left.rbm --report no/no.html",
        &["no/no.html"],
    );
    assert!(!place.has("left.rbm"));
}

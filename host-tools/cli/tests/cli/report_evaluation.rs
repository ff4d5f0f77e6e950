//! The page of `rebearing evaluate`.

use crate::report_pages::{PAGES, elements, figure, known_elements, page, text};

#[test]
fn an_evaluation_has_its_table_and_plots() {
    for made in &PAGES.evaluated {
        let page = text(made);
        let elements = elements(&page).unwrap_or_else(|wrong| panic!("{}: {wrong}", made.name));
        known_elements(made, &elements);
        for id in made.figures {
            figure(&page, id);
        }
        for id in ["targets", "risk", "calibration", "provenance"] {
            assert!(page.contains(&format!("<section id=\"{id}\">")), "{}: {id}", made.name);
        }
        let pictures = page.matches("<svg ").count();
        assert_eq!(pictures, if made.figures.len() > 1 { 2 } else { 0 }, "{}", made.name);
    }
    let several = page("evaluated");
    // Three targets with two seeds: a row each in the table, a dot for each run.
    assert_eq!(figure(&several, "targets").matches("<th scope=\"row\">").count(), 3);
    assert_eq!(figure(&several, "calibration").matches("<circle").count(), 6);
    for words in ["motor-c</td><th scope=\"row\">motor-b</th>", "<td>kept</td><td>adapt</td>"] {
        assert!(figure(&several, "targets").contains(words), "{words}");
    }
    // Coverage, mean and worst, beside the diagonal and the promise.
    for colour in ["#009E73", "#0072B2", "#E69F00"] {
        assert!(figure(&several, "risk").contains(colour), "{colour}");
    }
    assert_eq!(figure(&several, "promises").matches("<th scope=\"row\">").count(), 7);
    assert!(several.contains("--seeds 2"), "the command makes the page again");
    assert!(page("evaluated-plain").contains("gives no verdict, so no promise"));
    let place = &PAGES.world.place;
    let pair = "evaluate --manifest m/manifest.csv --source motor-c --target motor-b";
    assert!(place.json(pair)["report"].is_null());
    place.refused(&format!("{pair} --report no/no.html"), &["no/no.html"]);
}

#[test]
fn names_in_an_evaluation_are_text() {
    let page = page("evaluated-hostile");
    assert!(page.contains("&lt;b&gt;old&lt;/b&gt;") && page.contains("&lt;b&gt;new&lt;/b&gt;"));
    assert!(!page.contains("<b>old") && !page.contains("<b>new"));
}

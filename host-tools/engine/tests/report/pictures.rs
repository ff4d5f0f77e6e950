//! The pictures of docs/ are what `cargo xtask pictures` draws.

#[path = "../../examples/pictures/pictures/mod.rs"]
mod drawing;

use std::path::Path;

#[test]
fn committed_pictures_are_what_the_command_draws() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    let drawn = drawing::all().expect("the pictures can be drawn");
    for (name, picture) in &drawn {
        let committed = std::fs::read_to_string(folder.join(name)).unwrap_or_default();
        // Not assert_eq: a picture is not worth printing.
        assert!(
            committed == *picture,
            "docs/pictures/{name} is another; run `cargo xtask pictures`"
        );
    }
    for entry in std::fs::read_dir(&folder).expect("docs/pictures exists").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        assert!(
            drawn.iter().any(|(own, _)| *own == name),
            "docs/pictures/{name}: no command draws it"
        );
    }
}

/// Every picture of a page is there, and every one that is there is on a page.
#[test]
fn pages_and_pictures_know_each_other() {
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
    let pages: String = std::fs::read_dir(&docs)
        .expect("docs exists")
        .flatten()
        .filter(|entry| entry.path().extension().is_some_and(|extension| extension == "md"))
        .map(|entry| std::fs::read_to_string(entry.path()).expect("a page is text"))
        .collect();
    for entry in std::fs::read_dir(docs.join("pictures")).expect("docs/pictures exists").flatten() {
        let name = entry.file_name().into_string().expect("a plain name");
        assert!(pages.contains(&format!("(pictures/{name})")), "no page shows {name}");
    }
    for link in pages.split("(pictures/").skip(1).filter_map(|rest| rest.split(')').next()) {
        assert!(docs.join("pictures").join(link).is_file(), "docs/pictures/{link} does not exist");
    }
}

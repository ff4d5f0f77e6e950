//! The code follows its floor plan: a folder uses only the folders before it in the order of the
//! data, and the library knows nothing of the command line.
//!
//! Each `lib.rs` documents its order.

mod paths;
mod tokens;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use tokens::Piece;

/// Flags of other programs that the library mentions to its users.
const OTHER_PROGRAMS: [&str; 1] = ["sox --ignore-length"];

/// The files of a crate, each with its path below `src`.
struct House {
    files: Vec<(PathBuf, String)>,
    order: Vec<String>,
}

impl House {
    /// Reads the files below `src`, a folder of this repository.
    fn read(src: &str, order: impl Fn(&str) -> Vec<String>) -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join(src);
        let (mut folders, mut files) = (vec![root.clone()], Vec::new());
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).expect("a folder") {
                let path = entry.expect("a file").path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|extension| extension == "rs") {
                    let text = fs::read_to_string(&path).expect("text");
                    files.push((path.strip_prefix(&root).expect("below src").into(), text));
                }
            }
        }
        files.sort();
        let order = order(&Self::find(&files, "lib.rs"));
        Self { files, order }
    }

    fn find(files: &[(PathBuf, String)], name: &str) -> String {
        let file = files.iter().find(|(path, _)| path == Path::new(name));
        file.map(|(_, text)| text.clone()).expect("the file is there")
    }

    /// Returns the folder of each name that the crate's root exports directly.
    fn root_names(&self) -> BTreeMap<String, String> {
        let uses = paths::root_uses(&Self::find(&self.files, "lib.rs"));
        let reexported = uses.into_iter().filter_map(|(path, _)| {
            let (folder, name) = (path.first()?.clone(), path.last()?.clone());
            Some((name, folder))
        });
        let macros = self.files.iter().flat_map(|(path, text)| {
            let folder = module(path).first().cloned().unwrap_or_default();
            let tokens = tokens::outside_tests(text);
            let names = tokens.windows(3).filter_map(|three| {
                let is_macro = three[0].word() == Some("macro_rules");
                three[2].word().filter(|_| is_macro).map(String::from)
            });
            names.map(|name| (name, folder.clone())).collect::<Vec<_>>()
        });
        macros.chain(reexported).collect()
    }

    /// Returns every use of a folder that does not come before the file's own folder.
    fn against_the_order(&self) -> Vec<String> {
        let root_names = self.root_names();
        let place = |folder: &str| self.order.iter().position(|own| own == folder);
        let mut wrong = Vec::new();
        for (file, text) in &self.files {
            let module = module(file);
            let Some(own) = module.first() else { continue };
            let words: Vec<&str> = module.iter().map(String::as_str).collect();
            for (path, line) in paths::paths(&words, text) {
                let Some(first) = path.first() else { continue };
                let folder = root_names.get(first).unwrap_or(first);
                let at = format!("{}:{line}: {own} uses {folder}", file.display());
                match (place(own), place(folder)) {
                    (Some(own), Some(used)) if used <= own => (),
                    (Some(_), Some(_)) => wrong.push(at),
                    _ => wrong.push(format!("{at}, and one of them is not in the order")),
                }
            }
        }
        wrong.dedup();
        wrong
    }

    /// Returns every place that prints or ends the process.
    fn prints(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (file, text) in &self.files {
            let tokens = tokens::outside_tests(text);
            for three in tokens.windows(3) {
                let [first, second, third] = three else { continue };
                let prints = ["print", "println", "eprint", "eprintln"].map(Some);
                let is_macro = second.piece == Piece::Other('!') && third.is("(");
                let is_print = prints.contains(&first.word()) && is_macro;
                let ends = first.word() == Some("process") && third.word() == Some("exit");
                if is_print || (ends && second.is("::")) {
                    found.push(format!("{}:{}", file.display(), first.line));
                }
            }
        }
        found
    }

    /// Returns every string literal that contains the name of a flag.
    fn flags(&self) -> Vec<String> {
        let mut found = Vec::new();
        for (file, text) in &self.files {
            for token in tokens::outside_tests(text) {
                let Piece::Text(literal) = &token.piece else { continue };
                let own = OTHER_PROGRAMS
                    .iter()
                    .fold(literal.clone(), |text, other| text.replace(other, ""));
                if own
                    .split("--")
                    .skip(1)
                    .any(|rest| rest.starts_with(|c: char| c.is_ascii_lowercase()))
                {
                    found.push(format!("{}:{}: {literal}", file.display(), token.line));
                }
            }
        }
        found
    }
}

/// Returns the module path of a file.
fn module(file: &Path) -> Vec<String> {
    let whole = file.with_extension("");
    let words = whole.iter().map(|word| word.to_string_lossy().into_owned());
    words.filter(|word| word != "mod" && word != "lib").collect()
}

/// Reads the order from a sentence in the device's documentation. Everything may use `math`, and
/// `math` uses nothing.
fn device_order(lib: &str) -> Vec<String> {
    let text = lib.replace("\n//! ", " ");
    let (_, list) = text.split_once("those that come before it: ").expect("the sentence");
    let (list, _) = list.split_once('.').expect("its end");
    ["math"].into_iter().chain(list.split(", ")).map(Into::into).collect()
}

/// Reads the order from a table in the engine's documentation.
fn engine_order(lib: &str) -> Vec<String> {
    let rows = lib.lines().filter_map(|line| line.strip_prefix("//! | [`"));
    rows.filter_map(|row| row.split_once('`').map(|(name, _)| name.into())).collect()
}

fn device() -> House {
    House::read("src", device_order)
}

fn engine() -> House {
    House::read("host-tools/engine/src", engine_order)
}

/// Returns a made-up crate of one file per entry, in the order `first`, `second`, `third`.
fn made_up(files: &[(&str, &str)]) -> House {
    let files = files.iter().map(|(path, text)| ((*path).into(), (*text).into())).collect();
    House { files, order: ["first", "second", "third"].map(String::from).to_vec() }
}

#[test]
fn no_folder_of_the_device_is_used_against_the_order() {
    let house = device();
    assert_eq!(house.order.len(), 11, "{:?}", house.order);
    assert_eq!(house.against_the_order(), Vec::<String>::new());
}

#[test]
fn no_folder_of_the_engine_is_used_against_the_order() {
    let house = engine();
    assert!(house.order.len() > 10, "{:?}", house.order);
    assert_eq!(house.against_the_order(), Vec::<String>::new());
}

#[test]
fn no_flag_of_the_command_stands_in_the_engine() {
    let house = engine();
    assert!(house.files.len() > 100);
    assert_eq!(house.flags(), Vec::<String>::new());
}

#[test]
fn nothing_in_the_engine_prints_or_ends_the_process() {
    assert_eq!(engine().prints(), Vec::<String>::new());
}

#[test]
fn an_import_against_the_order_is_found_however_it_is_written() {
    for wrong in [
        "use crate::third::Thing;",
        "use crate::{first::A, third::{B, C}};",
        "use crate::{first as f, third as t};",
        "use super::super::third;",
        "pub use crate::Thing;",
        "fn f() { crate::third::g(); }",
        "fn f() -> super::super::third::Thing { todo!() }",
        "mod inner { use super::super::super::third::Thing; }",
        "macro_rules! own { () => { $crate::third::g() } }",
        "fn f() { crate::of_third!(); }",
        "#[cfg(test)] mod tests { use crate::first; } use crate::third::Thing;",
        "/* a /* nested */ comment */ const C: char = '\"'; use crate::third::Thing; // \"",
        "use crate::fourth;",
    ] {
        let house = made_up(&[
            ("lib.rs", "pub mod first; pub mod second; pub mod third; pub use third::Thing;"),
            ("second/file.rs", wrong),
            ("third.rs", "macro_rules! of_third { () => {} }"),
        ]);
        assert_eq!(house.against_the_order().len(), 1, "{wrong}");
    }
}

#[test]
fn an_import_in_order_is_none_against_it() {
    let right = r##"
        //! use crate::third::Thing;
        use crate::first::{self, A};
        use super::other;
        use self::inner::B;
        /// [`crate::third::Thing`]
        fn f<'a>(text: &'a str) { g(r#"crate::third"#, "\"crate::third"); first::h() }
        mod inner { use super::C; use super::super::D; }
        #[cfg(test)]
        #[allow(unused)]
        mod tests { use crate::third::Thing; fn f() { crate::third::g(); } }
        #[cfg(test)]
        use crate::third;
    "##;
    let house = made_up(&[("lib.rs", ""), ("second/file.rs", right)]);
    assert_eq!(house.against_the_order(), Vec::<String>::new());
}

#[test]
fn a_flag_in_a_string_is_found_and_dashes_are_none() {
    let text = "fn f() { g(\"use --domain\"); g(r\"a -- b ---\"); } // \"--json\"
        #[cfg(test)] mod tests { const A: &str = \"--json\"; }
        const B: &str = \"`sox --ignore-length in.wav`\"; const C: &[u8] = b\"x --all\";";
    let found = made_up(&[("lib.rs", ""), ("first.rs", text)]).flags();
    assert_eq!(found, ["first.rs:1: use --domain", "first.rs:3: x --all"]);
}

#[test]
fn what_prints_or_ends_the_process_is_found() {
    let text = "fn f() { println!(); } // eprintln!()
        fn g() { std::process::exit(1) }
        fn h(print: bool) -> bool { print != process::id() }
        #[cfg(test)] mod tests { fn f() { eprint!(\"x\"); } }
        fn i() { eprint!(\"println!\"); }";
    let found = made_up(&[("lib.rs", ""), ("first.rs", text)]).prints();
    assert_eq!(found, ["first.rs:1", "first.rs:2", "first.rs:5"]);
}

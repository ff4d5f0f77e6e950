//! Every page that the tests look at, made once.

use std::fs;
use std::sync::LazyLock;

use crate::report_world::{Made, World};

pub(crate) struct Pages {
    pub(crate) world: World,
    pub(crate) made: Vec<Made>,
    /// Pages of `evaluate`.
    pub(crate) evaluated: Vec<Made>,
}

pub(crate) static PAGES: LazyLock<Pages> = LazyLock::new(|| {
    let world = World::new();
    let mut made = world.verdicts();
    made.extend(world.kinds());
    let evaluated = world.evaluations();
    Pages { world, made, evaluated }
});

pub(crate) fn text(made: &Made) -> String {
    fs::read_to_string(&made.path).expect("the page is there")
}

pub(crate) fn page(name: &str) -> String {
    let made = PAGES.made.iter().chain(&PAGES.evaluated).find(|made| made.name == name);
    text(made.expect("a page of that name"))
}

/// The part of a page that is the figure `id`.
pub(crate) fn figure<'a>(page: &'a str, id: &str) -> &'a str {
    let start = page.split_once(&format!("<figure id=\"figure-{id}\"")).expect("the figure").1;
    start.split_once("</figure>").expect("its end").0
}

/// Returns the elements of a page in order, or an error that says what is wrong with its tags.
///
/// All text on a page is escaped, so every `<` opens a tag and the next `>` closes it. A page
/// written by a machine needs no more of HTML.
pub(crate) fn elements(page: &str) -> Result<Vec<String>, String> {
    const VOID: [&str; 3] = ["meta", "br", "!DOCTYPE"];
    let mut open: Vec<String> = Vec::new();
    let mut all = Vec::new();
    for part in page.split('<').skip(1) {
        let (tag, _) = part.split_once('>').ok_or_else(|| format!("an open tag: <{part}"))?;
        let name: String = tag.chars().take_while(|c| !c.is_whitespace() && *c != '/').collect();
        if tag.matches('"').count() % 2 == 1 {
            return Err(format!("an open quote: <{tag}>"));
        }
        if let Some(closed) = tag.strip_prefix('/') {
            match open.pop() {
                Some(last) if last == closed => (),
                last => return Err(format!("</{closed}> closes {last:?}")),
            }
        } else if !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            open.push(name.clone());
            all.push(name);
        } else {
            all.push(name);
        }
    }
    if open.is_empty() { Ok(all) } else { Err(format!("never closed: {open:?}")) }
}

/// Asserts that a page has no element but those that were looked at in a browser.
pub(crate) fn known_elements(made: &Made, elements: &[String]) {
    let known = "!DOCTYPE html head meta title style body header nav a main section h1 h2 h3 p ul li span b div \
                 figure figcaption table thead tbody tr th td code pre details summary br svg text line polyline \
                 polygon rect circle";
    for name in elements {
        assert!(known.split(' ').any(|known| known == name), "{}: <{name}>", made.name);
    }
}

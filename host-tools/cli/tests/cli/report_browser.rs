//! Reports in a real browser: the page loads nothing, the browser complains of nothing, every
//! picture has marks, and nothing is wider than a phone.
//!
//! The tests need Chromium. They are marked `ignored` so that a plain `cargo test` installs
//! nothing; `cargo xtask report-test` finds or installs it. Screenshots and prints are written
//! below the target directory, for people to look at.

use std::fs;
use std::path::{Path, PathBuf};

use crate::browser::Browser;
use crate::report_world::{Made, World};
use serde_json::Value;

const PHONE: (u32, u32) = (390, 844);
const DESKTOP: (u32, u32) = (1200, 900);
/// Smallest text of a picture on a phone, in pixels.
const READABLE: f64 = 9.0;

/// For each figure: the number of marks that are not axes, the number of table cells, and the
/// smallest text. Only axes are grey.
const FIGURES: &str = r"
[...document.querySelectorAll('figure')].map(figure => {
  const axis = ['#5F6B76', '#E3E7EA', 'none', ''];
  const marks = [...figure.querySelectorAll('svg rect,svg circle,svg polygon,svg polyline,svg path,svg line')].filter(e => {
    const paint = ['fill', 'stroke'].map(a => (e.getAttribute(a) || '').toUpperCase().replace('NONE', 'none'));
    const box = e.getBoundingClientRect();
    return paint.some(p => !axis.includes(p)) && (box.width > 0 || box.height > 0);
  });
  const sizes = [...figure.querySelectorAll('svg text')].map(t => {
    const svg = t.ownerSVGElement;
    return parseFloat(t.getAttribute('font-size')) * svg.getBoundingClientRect().width / svg.viewBox.baseVal.width;
  });
  return {
    id: figure.id.replace('figure-', ''),
    pictures: figure.querySelectorAll('svg').length,
    named: [...figure.querySelectorAll('svg')].every(s => (s.getAttribute('aria-label') || '').length > 10),
    bare: [...figure.querySelectorAll('svg')].filter(s => !marks.some(m => s.contains(m))).length,
    marks: marks.length,
    cells: figure.querySelectorAll('td').length,
    caption: (figure.querySelector('figcaption') || {textContent: ''}).textContent.length,
    text: Math.min(1000, ...sizes),
  };
})";

/// How far the page can be scrolled sideways, and which elements cause it.
const OVERFLOW: &str = r"
({
  over: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  width: document.documentElement.clientWidth,
  who: [...document.querySelectorAll('body *')]
    .filter(e => !e.closest('.wide') && e.getBoundingClientRect().right > document.documentElement.clientWidth + 0.5)
    .map(e => e.tagName + '.' + (e.getAttribute('class') || '') + ' ' + (e.textContent || '').trim().slice(0, 30))
    .slice(0, 5),
})";

fn chromium() -> PathBuf {
    let program = std::env::var_os("CHROMIUM")
        .expect("CHROMIUM names the browser: run this by `cargo xtask report-test`");
    program.into()
}

/// Asserts that the page's events contain no requests, complaints or exceptions.
fn check_events(made: &Made, events: &[Value]) {
    let own = format!("file://{}", made.path.display());
    for event in events {
        let parameters = &event["params"];
        match event["method"].as_str().unwrap_or_default() {
            "Network.requestWillBeSent" => {
                assert_eq!(parameters["request"]["url"], own.as_str(), "{}: a request", made.name);
            }
            "Log.entryAdded" | "Runtime.exceptionThrown" | "Runtime.consoleAPICalled" => {
                panic!("{}: the browser complains: {parameters}", made.name);
            }
            _ => (),
        }
    }
}

fn check(browser: &mut Browser, made: &Made, size: (u32, u32)) {
    browser.open(&made.path, size);
    let overflow = browser.evaluate(OVERFLOW);
    assert_eq!(overflow["width"], size.0, "{}", made.name);
    assert_eq!(overflow["over"], 0, "{} at {}: {overflow}", made.name, size.0);
    assert_eq!(overflow["who"], serde_json::json!([]), "{} at {}", made.name, size.0);
    let figures = browser.evaluate(FIGURES);
    let figures = figures.as_array().expect("a list");
    for wanted in made.figures {
        assert!(figures.iter().any(|figure| figure["id"] == *wanted), "{}: no {wanted}", made.name);
    }
    for figure in figures {
        let drawn = figure["marks"].as_u64() > Some(0) || figure["cells"].as_u64() > Some(0);
        assert!(drawn, "{}: an empty figure: {figure}", made.name);
        assert_eq!(figure["bare"], 0, "{}: a picture without marks: {figure}", made.name);
        assert_eq!(figure["named"], true, "{}: a picture without a name: {figure}", made.name);
        assert!(figure["caption"].as_u64() > Some(40), "{}: no caption: {figure}", made.name);
        assert!(figure["text"].as_f64() >= Some(READABLE), "{}: small text: {figure}", made.name);
    }
    // One more round trip to the browser gives the page time to do something forbidden.
    assert_eq!(browser.evaluate("document.scripts.length"), 0, "{}", made.name);
    check_events(made, &browser.events);
}

#[test]
#[ignore = "needs Chromium: cargo xtask report-test"]
fn every_report_is_sound_in_a_browser() {
    let pictures = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report-test");
    fs::create_dir_all(&pictures).unwrap();
    let world = World::new();
    let mut all = world.verdicts();
    all.extend(world.kinds());
    all.extend(world.evaluations());
    let mut browser = Browser::start(&chromium());
    for made in &all {
        let write = |kind: &str, bytes: &[u8]| {
            fs::write(pictures.join(format!("{}-{kind}", made.name)), bytes).unwrap();
        };
        fs::copy(&made.path, pictures.join(format!("{}.html", made.name))).unwrap();
        for (name, size) in [("phone", PHONE), ("desktop", DESKTOP)] {
            check(&mut browser, made, size);
            write(&format!("{name}.png"), &browser.screenshot());
        }
        let print = browser.pdf();
        assert!(print.starts_with(b"%PDF") && print.len() > 10_000, "{}: no print", made.name);
        write("print.pdf", &print);
        println!("{}: {} figures wanted, all drawn", made.name, made.figures.len());
    }
    println!("screenshots and prints of {} reports: {}", all.len(), pictures.display());
}

/// Tests the checks themselves: they catch a page that does everything forbidden.
#[test]
#[ignore = "needs Chromium: cargo xtask report-test"]
fn a_page_that_loads_and_overflows_is_caught() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("bad.html");
    fs::write(
        &path,
        "<!DOCTYPE html><title>bad</title><link rel=stylesheet href=absent.css>\
         <p style='width:600px'>wide</p><figure id=figure-plan><svg viewBox='0 0 9 9' width=9 height=9>\
         <polyline points='0,0 9,9' stroke='#5F6B76' fill='none'/></svg></figure>",
    )
    .unwrap();
    let mut browser = Browser::start(&chromium());
    browser.open(&path, PHONE);
    assert!(browser.evaluate(OVERFLOW)["over"].as_u64() > Some(100));
    let figures = browser.evaluate(FIGURES);
    assert_eq!((&figures[0]["marks"], &figures[0]["bare"]), (&0.into(), &1.into()), "{figures}");
    let made = Made { name: "bad", path, verdict: None, figures: &[] };
    let events = browser.events.clone();
    assert!(std::panic::catch_unwind(|| check_events(&made, &events)).is_err());
}

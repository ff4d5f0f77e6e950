//! The skeleton of a page: its head, its policy, its sections and their figures.

use maud::{DOCTYPE, Markup, PreEscaped, html};
use serde::Serialize;

use crate::words::plural;

const STYLE: &str = include_str!("style.css");
/// Content policy: the page may use its own styles and nothing else.
const POLICY: &str =
    "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'";

/// Most warnings that are shown at once. The others are folded.
const WARNINGS: usize = 5;

/// A page, and the list of its sections.
#[derive(Debug, Clone)]
pub struct Report {
    /// The page.
    pub html: String,
    /// Its sections, in order.
    pub sections: Vec<Listed>,
}

/// A section of a page, for scripts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Listed {
    /// The anchor on the page.
    pub id: &'static str,
    /// Its heading.
    pub title: &'static str,
    /// Its figures, by their anchors.
    pub figures: Vec<String>,
}

/// A part of the page under a heading.
pub(super) struct Section {
    id: &'static str,
    title: &'static str,
    /// Its name in the list of sections.
    short: &'static str,
    body: Markup,
    figures: Vec<String>,
}

/// A picture or table with its caption.
pub(super) struct Figure {
    id: &'static str,
    title: &'static str,
    body: Markup,
    caption: String,
    /// Whether the caption is placed at the side of the picture if there is room.
    beside: bool,
}

impl Figure {
    pub(super) fn new(id: &'static str, title: &'static str, body: Markup, caption: &str) -> Self {
        Self { id, title, body, caption: caption.into(), beside: false }
    }

    /// Returns the figure with its caption at the side if there is room.
    pub(super) fn beside(self) -> Self {
        Self { beside: true, ..self }
    }
}

impl Section {
    pub(super) fn new(id: &'static str, short: &'static str, title: &'static str) -> Self {
        Self { id, title, short, body: html! {}, figures: Vec::new() }
    }

    /// Returns the section with text appended.
    pub(super) fn saying(mut self, text: Markup) -> Self {
        self.body.0.push_str(&text.into_string());
        self
    }

    /// Returns the section with a figure appended.
    pub(super) fn with(mut self, figure: Figure) -> Self {
        let Figure { id, title, body, caption, beside } = figure;
        self.figures.push(id.into());
        let named = title != self.title;
        self.saying(html! {
            figure id=(format!("figure-{id}")) aria-label=(title) class=[beside.then_some("beside")] {
                @if named { h3 { (title) } }
                div { (body) }
                figcaption { (caption) }
            }
        })
    }
}

/// Returns warnings in boxes. Beyond a few they are folded.
pub(super) fn warnings(warnings: &[String]) -> Markup {
    let (shown, folded) = warnings.split_at(warnings.len().min(WARNINGS));
    html! {
        @for text in shown { p class="caution" { "Warning: " (text) } }
        @if !folded.is_empty() {
            details class="caution" {
                summary { (plural(folded.len(), "more warning", "more warnings")) }
                ul { @for text in folded { li { (text) } } }
            }
        }
    }
}

/// Returns a page of these sections. `tool` is the small line above the heading, `head` the title
/// of the browser's window.
pub(super) fn document(tool: &str, head: &str, title: &str, sections: Vec<Section>) -> Report {
    let html = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(POLICY);
                meta name="viewport" content="width=device-width, initial-scale=1";
                title { (head) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                header {
                    p class="tool" { (tool) }
                    h1 { (title) }
                    nav aria-label="Sections" {
                        @for section in &sections { a href=(format!("#{}", section.id)) { (section.short) } }
                    }
                }
                main {
                    @for section in &sections {
                        section id=(section.id) { h2 { (section.title) } (section.body) }
                    }
                }
            }
        }
    };
    let listed = |section: Section| Listed {
        id: section.id,
        title: section.title,
        figures: section.figures,
    };
    Report { html: html.into_string(), sections: sections.into_iter().map(listed).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn many_warnings_are_folded_and_none_is_lost() {
        let of = |count: usize| -> String {
            let all: Vec<String> = (0..count).map(|number| format!("<{number}>")).collect();
            warnings(&all).into_string()
        };
        assert_eq!(of(0), "");
        assert_eq!((of(5).matches("Warning: ").count(), of(5).contains("details")), (5, false));
        let many = of(7);
        assert_eq!((many.matches("Warning: ").count(), many.matches("<li>").count()), (5, 2));
        assert!(many.contains("2 more warnings") && many.contains("&lt;6&gt;"), "{many}");
    }
}

//! The labels that windows can have. Each has its own number and colour on the whole page.
//!
//! The colours are those of Okabe and Ito, which colour-blind readers can tell apart. There are
//! only eight, so a ninth class gets a lighter one. The numbers are always different.

use maud::{Markup, html};
use plotters::style::{RGBColor, colors::BLACK, colors::WHITE};
use rebearing::Label;

/// Colour of the healthy class, if there is one.
const HEALTHY: RGBColor = RGBColor(0, 158, 115);
/// Colours of the other classes.
const COLOURS: [RGBColor; 7] = [
    RGBColor(213, 94, 0),
    RGBColor(0, 114, 178),
    RGBColor(230, 159, 0),
    RGBColor(204, 121, 167),
    RGBColor(86, 180, 233),
    RGBColor(120, 90, 40),
    RGBColor(60, 60, 60),
];
const UNKNOWN: RGBColor = RGBColor(190, 190, 190);
const UNKNOWN_FAULT: RGBColor = RGBColor(130, 0, 30);

/// A label that a window can have.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// Its name.
    pub(super) name: String,
    /// Its number, or a sign if it is not a class.
    pub(super) mark: String,
    /// Its colour.
    pub(super) colour: RGBColor,
}

/// All labels that windows can have: the classes, then the two kinds of unknown.
#[derive(Debug, Clone)]
pub(super) struct Classes {
    entries: Vec<Entry>,
}

impl Classes {
    /// Returns the labels for these classes.
    pub(super) fn new(names: &[String], healthy: Option<usize>) -> Self {
        let mut faults = 0;
        let mut colour = |class: usize| {
            if healthy == Some(class) {
                return HEALTHY;
            }
            let colour = tinted(COLOURS[faults % COLOURS.len()], faults / COLOURS.len());
            faults += 1;
            colour
        };
        let class = |(class, name): (usize, &String)| Entry {
            name: name.clone(),
            mark: (class + 1).to_string(),
            colour: colour(class),
        };
        let mut entries: Vec<Entry> = names.iter().enumerate().map(class).collect();
        let sign =
            |name: &str, mark: &str, colour| Entry { name: name.into(), mark: mark.into(), colour };
        entries.push(sign("unknown", "?", UNKNOWN));
        entries.push(sign("fault of unknown type", "!", UNKNOWN_FAULT));
        Self { entries }
    }

    /// Number of classes.
    pub(super) fn classes(&self) -> usize {
        self.entries.len() - 2
    }

    /// The place of a label among all entries.
    pub(super) fn place(&self, label: Label) -> usize {
        match label {
            Label::Class(class) => class.min(self.classes().saturating_sub(1)),
            Label::Unknown => self.classes(),
            Label::UnknownFault => self.classes() + 1,
        }
    }

    /// All entries.
    pub(super) fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The entry at a place.
    pub(super) fn entry(&self, place: usize) -> &Entry {
        &self.entries[place.min(self.entries.len() - 1)]
    }

    /// Returns a legend of the entries at these places.
    pub(super) fn legend(&self, places: impl IntoIterator<Item = usize>) -> Markup {
        html! {
            ul class="legend" {
                @for place in places { li { (self.chip(place)) } }
            }
        }
    }

    /// Number and name, the number in the entry's colour.
    pub(super) fn chip(&self, place: usize) -> Markup {
        html! { span class="chip" { (self.sign(place)) " " (self.entry(place).name) } }
    }

    /// The number alone, if there is no room for the name.
    pub(super) fn mark(&self, place: usize) -> Markup {
        html! { span class="chip" title=(self.entry(place).name) { (self.sign(place)) } }
    }

    fn sign(&self, place: usize) -> Markup {
        let Entry { mark, colour, .. } = self.entry(place);
        let style = format!("background:{};color:{}", css(*colour), css(on(*colour)));
        html! { b style=(style) { (mark) } }
    }
}

/// Returns a lighter colour in odd rounds and a darker one in even rounds. Round 0 is unchanged.
fn tinted(colour: RGBColor, round: usize) -> RGBColor {
    if round == 0 {
        return colour;
    }
    let (towards, share) = match (round % 2, round.div_ceil(2)) {
        (1, step) => (255.0, 0.5_f64.min(0.4 + 0.1 * step as f64)),
        (_, step) => (0.0, 0.6_f64.min(0.3 + 0.1 * step as f64)),
    };
    let mix = |x: u8| (f64::from(x) + share * (towards - f64::from(x))).round() as u8;
    RGBColor(mix(colour.0), mix(colour.1), mix(colour.2))
}

/// Black or white, whichever is readable on `colour`.
pub(super) fn on(colour: RGBColor) -> RGBColor {
    let light = 0.299 * f64::from(colour.0) + 0.587 * f64::from(colour.1);
    if light + 0.114 * f64::from(colour.2) > 140.0 { BLACK } else { WHITE }
}

/// The colour as CSS writes it.
pub(super) fn css(colour: RGBColor) -> String {
    format!("#{:02x}{:02x}{:02x}", colour.0, colour.1, colour.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_classes_have_twenty_colours_and_numbers() {
        let names: Vec<String> = (0..20).map(|i| format!("class {i}")).collect();
        let classes = Classes::new(&names, Some(3));
        assert_eq!(classes.entry(3).colour, HEALTHY);
        for (i, a) in classes.entries().iter().enumerate() {
            for b in &classes.entries()[..i] {
                assert_ne!((a.colour, &a.mark), (b.colour, &b.mark));
                assert_ne!(a.colour, b.colour, "{} {}", a.name, b.name);
            }
        }
        assert_eq!(classes.place(Label::Unknown), 20);
        assert_eq!(classes.entry(classes.place(Label::UnknownFault)).mark, "!");
    }
}

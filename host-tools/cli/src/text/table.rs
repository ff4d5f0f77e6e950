//! Text that fits a terminal of 80 columns.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// The narrowest that lines are broken for.
const NARROWEST: usize = 40;

/// The columns that text is to fit into: what COLUMNS says, or the terminal has. `None` where
/// nobody looks at columns, so that a script finds every line whole.
pub fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let has = || {
        let terminal = std::io::stdout().is_terminal();
        terminal.then(ratatui::crossterm::terminal::size)?.ok().map(|(columns, _)| columns.into())
    };
    said.or_else(has).map(|columns: usize| columns.max(NARROWEST))
}

/// `text` with its lines broken at blanks where they are longer than `columns`. What follows
/// stands below the value of a line that has a name, else a little to the right.
pub fn fitted(text: &str, columns: usize) -> String {
    let mut fitted = String::new();
    for line in text.lines() {
        // Colours take no columns.
        if strip_str(line).to_string().width() <= columns {
            fitted += line;
            fitted.push('\n');
            continue;
        }
        let (head, rest) = line.split_at(hanging(line));
        let indent = head.width();
        let indent = if indent > columns / 2 { 0 } else { indent };
        let first = head.trim_end();
        for (index, part) in wrapped(rest, columns - indent - 2).into_iter().enumerate() {
            let part = shorten(&part, columns - indent - 2);
            // A string takes whatever is written to it.
            let _ = match index {
                0 => writeln!(fitted, "{first:<indent$}{part}"),
                _ if first.is_empty() => writeln!(fitted, "{:<indent$}  {part}", ""),
                _ => writeln!(fitted, "{:<indent$}{part}", ""),
            };
        }
    }
    fitted
}

/// Where the value of a line begins: behind its first gap of two blanks or its indentation.
fn hanging(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let gap = line[indent..].find("  ").map(|gap| indent + gap);
    gap.map_or(indent, |gap| gap + line[gap..].len() - line[gap..].trim_start().len())
}

/// `text` in at most `columns`, its middle left out where it is longer: of a path, what is at
/// either end tells most.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let front = taken(text.chars(), room / 2);
    let back: Vec<char> = taken(text.chars().rev(), room - room / 2).chars().collect();
    front + "…" + &back.into_iter().rev().collect::<String>()
}

/// The first characters, as many as fit.
fn taken(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut width = 0;
    characters
        .take_while(|character| {
            width += character.width().unwrap_or(0);
            width <= columns
        })
        .collect()
}

/// `text` in lines of at most `columns`, broken at blanks; a longer word has a line of its own.
pub(crate) fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    let mut inside = false;
    for word in text.split_whitespace() {
        // A type such as Monitor<f32, 2048> stays in one piece.
        let held = inside;
        inside = (inside || word.contains('<')) && !word.contains('>');
        match lines.last_mut() {
            Some(line) if held || line.width() + 1 + word.width() <= columns => {
                line.push(' ');
                line.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::{fitted, shorten, wrapped};

    #[test]
    fn long_lines_hang_below_their_value() {
        assert_eq!(fitted("short\n\nlines", 40), "short\n\nlines\n");
        let name = "classes      Healthy, InnerRace, OuterRace, Ball and others";
        assert_eq!(
            fitted(name, 40),
            "classes      Healthy, InnerRace,\n             OuterRace, Ball and\n             others\n"
        );
        let sentence = "  a sentence that is longer than forty columns are";
        assert_eq!(
            fitted(sentence, 40),
            "  a sentence that is longer than forty\n    columns are\n"
        );
        let path = format!("{}.wav", "long".repeat(30));
        assert!(fitted(&path, 40).lines().all(|line| line.chars().count() <= 40));
    }

    #[test]
    fn the_middle_is_left_out() {
        assert_eq!(shorten("short.wav", 9), "short.wav");
        assert_eq!(shorten("a-long-name.wav", 9), "a-lo….wav");
        assert_eq!(shorten("日本語日本語", 6), "日…語");
        assert_eq!(shorten("abc", 0), "…");
    }

    #[test]
    fn lines_break_at_blanks() {
        assert_eq!(wrapped("one two  three", 7), ["one two", "three"]);
        assert_eq!(wrapped("unbreakable x", 4), ["unbreakable", "x"]);
        assert!(wrapped("", 4).is_empty());
        assert_eq!(wrapped("as Monitor<f32, 2048> it", 9), ["as", "Monitor<f32, 2048>", "it"]);
    }
}

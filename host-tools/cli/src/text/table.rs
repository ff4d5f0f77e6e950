//! Fits text into the columns of a terminal.

use std::fmt::Write as _;
use std::io::IsTerminal as _;

use anstream::adapter::strip_str;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Least width that lines are broken for.
const NARROWEST: usize = 40;

/// Returns the width for text: the value of COLUMNS, or the width of the terminal. `None` if there
/// is neither, so that a script gets unbroken lines.
pub fn columns() -> Option<usize> {
    let said = std::env::var("COLUMNS").ok().and_then(|columns| columns.parse().ok());
    let has = || {
        let terminal = std::io::stdout().is_terminal();
        terminal.then(ratatui::crossterm::terminal::size)?.ok().map(|(columns, _)| columns.into())
    };
    said.or_else(has).map(|columns: usize| columns.max(NARROWEST))
}

/// Returns `text` with lines longer than `columns` broken at blanks. If a line has a name and a
/// value, the rest is put below the value; else it is indented a little.
pub fn fitted(text: &str, columns: usize) -> String {
    let mut fitted = String::new();
    for line in text.lines() {
        // Colour codes take no columns.
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
            // Writing to a string cannot fail.
            let _ = match index {
                0 => writeln!(fitted, "{first:<indent$}{part}"),
                _ if first.is_empty() => writeln!(fitted, "{:<indent$}  {part}", ""),
                _ => writeln!(fitted, "{:<indent$}{part}", ""),
            };
        }
    }
    fitted
}

/// Returns where the value of a line begins: after its first gap of two blanks, or its indentation.
fn hanging(line: &str) -> usize {
    let indent = line.len() - line.trim_start().len();
    let gap = line[indent..].find("  ").map(|gap| indent + gap);
    gap.map_or(indent, |gap| gap + line[gap..].len() - line[gap..].trim_start().len())
}

/// Returns `text` in at most `columns`. If it is longer, its middle is left out, because both ends
/// of a path matter most.
pub(crate) fn shorten(text: &str, columns: usize) -> String {
    if text.width() <= columns {
        return text.to_owned();
    }
    let room = columns.saturating_sub(1);
    let front = taken(text.chars(), room / 2);
    let back: Vec<char> = taken(text.chars().rev(), room - room / 2).chars().collect();
    front + "…" + &back.into_iter().rev().collect::<String>()
}

/// Returns the first characters that fit into `columns`.
fn taken(characters: impl Iterator<Item = char>, columns: usize) -> String {
    let mut width = 0;
    characters
        .take_while(|character| {
            width += character.width().unwrap_or(0);
            width <= columns
        })
        .collect()
}

/// Returns `text` in lines of at most `columns`, broken at blanks. A longer word gets its own line.
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

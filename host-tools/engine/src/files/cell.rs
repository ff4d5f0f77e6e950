//! Text in a cell of a manifest or table that people may open in a spreadsheet.
//!
//! A spreadsheet runs a cell that begins with `=`, `+`, `-` or `@`. A recording may have such a
//! name, or be given one on purpose. An apostrophe before it makes the cell text. [`read`] takes the
//! apostrophe away again.

/// Returns the cell for a text.
pub(crate) fn written(text: &str) -> String {
    if needs_mark(text) { format!("'{text}") } else { text.into() }
}

/// Returns the text of a cell.
pub(crate) fn read(cell: &str) -> &str {
    cell.strip_prefix('\'').filter(|text| needs_mark(text)).unwrap_or(cell)
}

/// Returns true if a spreadsheet with another separator than the comma would run a part of the
/// text. An apostrophe at its beginning would not help.
pub(crate) fn runs_inside(text: &str) -> bool {
    text.split([';', '\t', '\n', '\r', '|']).skip(1).any(|part| part.starts_with(runs))
}

/// Returns true if the text breaks its line. It could forge a line of a message.
pub(crate) fn breaks_line(text: &str) -> bool {
    text.contains(['\n', '\r'])
}

/// Whether a text needs the apostrophe. A text that looks like a marked one needs it too, so that
/// every text comes back as it was.
fn needs_mark(text: &str) -> bool {
    text.starts_with(runs) || text.strip_prefix('\'').is_some_and(needs_mark)
}

/// Whether a spreadsheet may run a cell with this first character. Some take the wide forms, and
/// some skip blanks.
fn runs(first: char) -> bool {
    matches!(first, '=' | '+' | '-' | '@' | '＝' | '＋' | '－' | '＠')
        || first.is_whitespace()
        || first.is_control()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_written_cell_runs_and_every_text_comes_back() {
        for text in [
            "=cmd|' /C calc'!A0",
            "+1+1",
            "-2",
            "@SUM(A1)",
            "\t=1",
            "\r=1",
            " =1",
            "＝1",
            "'=1",
            "''=1",
            "'quoted'",
            "plain",
            "",
            "'",
            "6 o'clock",
        ] {
            let cell = written(text);
            assert!(!cell.starts_with(runs), "{cell:?}");
            assert_eq!(read(&cell), text, "{cell:?}");
        }
        // Only what is in danger is changed.
        for text in ["plain", "'quoted'", "x-y", "a=b", "a;b"] {
            assert_eq!(written(text), text);
        }
    }

    #[test]
    fn a_part_after_another_separator_is_found() {
        assert!(runs_inside("x;=cmd") && runs_inside("x\t@y"));
        assert!(!runs_inside("x;y;z") && !runs_inside("=x") && !runs_inside("a-b"));
    }
}

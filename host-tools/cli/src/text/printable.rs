//! Makes text harmless for a terminal.
//!
//! Names of classes, machines and files come from files of others. A control character in them
//! could move the cursor, forge a line or change the title of the window. A bidirectional control
//! such as U+202E could show `fdp.exe` as `exe.pdf`. Everything that the command prints goes through
//! here, once, at the output (`terminal`).

use std::borrow::Cow;
use std::fmt::Write as _;

/// Returns true for characters that a terminal obeys and does not show: controls, and the format
/// characters of Unicode. The two joiners (U+200C, U+200D) stay, because languages need them. So
/// does the line feed, which the command itself writes.
pub fn is_hidden(character: char) -> bool {
    character != '\n'
        && (character.is_control()
            || matches!(
                character,
                '\u{ad}'
                    | '\u{61c}'
                    | '\u{180e}'
                    | '\u{200b}'
                    | '\u{200e}'..='\u{200f}'
                    | '\u{2028}'..='\u{202e}'
                    | '\u{2060}'..='\u{206f}'
                    | '\u{feff}'
                    | '\u{fff9}'..='\u{fffb}'
                    | '\u{1bca0}'..='\u{1bca3}'
                    | '\u{1d173}'..='\u{1d17a}'
                    | '\u{e0000}'..='\u{e0fff}'
            ))
}

/// Returns the text with hidden characters as `\u{…}`.
pub fn printable(text: &str) -> Cow<'_, str> {
    escaped(text, is_hidden, |character, out| out.extend(character.escape_unicode()))
}

/// Returns a name in one line: like [`printable`], and a line feed is hidden too.
pub fn one_line(name: &str) -> Cow<'_, str> {
    let hidden = |character| character == '\n' || is_hidden(character);
    escaped(name, hidden, |character, out| out.extend(character.escape_unicode()))
}

/// Returns JSON with hidden characters in the escapes of JSON. They stand only in strings, so it is
/// the same value.
pub fn printable_json(json: &str) -> Cow<'_, str> {
    escaped(json, is_hidden, |character, out| {
        for unit in character.encode_utf16(&mut [0; 2]) {
            // Writing to a string cannot fail.
            let _ = write!(out, "\\u{unit:04x}");
        }
    })
}

fn escaped(
    text: &str,
    hidden: impl Fn(char) -> bool,
    escape: impl Fn(char, &mut String),
) -> Cow<'_, str> {
    if !text.contains(&hidden) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for character in text.chars() {
        if hidden(character) {
            escape(character, &mut out);
        } else {
            out.push(character);
        }
    }
    Cow::Owned(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hidden_characters_are_shown_and_all_others_stay() {
        let plain = "Käfig 日本語 क्\u{200d}ष ±16 g … → 6 o'clock\n  next line";
        assert!(matches!(printable(plain), Cow::Borrowed(same) if same == plain));
        assert_eq!(printable("a\x1b[31mb\x07\r\t"), "a\\u{1b}[31mb\\u{7}\\u{d}\\u{9}");
        assert_eq!(printable("\u{9b}2J\u{7f}\u{202e}fdp"), "\\u{9b}2J\\u{7f}\\u{202e}fdp");
        assert_eq!(one_line("a\nb"), "a\\u{a}b");
        for hidden in
            "\0\x08\x0b\x0c\u{85}\u{ad}\u{61c}\u{200b}\u{200e}\u{200f}\u{2028}\u{2029}\u{202a}\
                       \u{202c}\u{2066}\u{2069}\u{feff}\u{fffb}\u{e0041}"
                .chars()
        {
            assert!(is_hidden(hidden), "{hidden:?}");
        }
    }

    #[test]
    fn json_stays_the_same_value() {
        let names = "\x1b[31m\u{7f}\u{9b}\u{202e}\u{2028}\u{e0041}\n\\u202e";
        let value = serde_json::json!({ names: [names, 1.5] });
        let text = value.to_string();
        assert!(text.contains('\u{202e}'), "serde_json itself leaves it");
        let safe = printable_json(&text);
        assert!(!safe.contains(|c: char| c == '\n' || is_hidden(c)), "{safe:?}");
        assert_eq!(serde_json::from_str::<serde_json::Value>(&safe).unwrap(), value);
    }
}

//! A key as one line of text, read while compiling or at run time.

use crate::error::KeyError;

/// The 32 bytes of a text `WORD HEX COMMENT`; lines behind the first are empty or begin with `#`.
pub(crate) const fn key_of(text: &[u8], word: &[u8]) -> Result<[u8; 32], KeyError> {
    if text.len() <= word.len() || text[word.len()] != b' ' {
        return Err(KeyError::OtherFile);
    }
    let mut at = 0;
    while at < word.len() {
        if text[at] != word[at] {
            return Err(KeyError::OtherFile);
        }
        at += 1;
    }
    let (_, rest) = text.split_at(word.len() + 1);
    let Some((digits, rest)) = rest.split_at_checked(64) else { return Err(KeyError::NotHex) };
    let mut key = [0; 32];
    at = 0;
    while at < 32 {
        let (Some(high), Some(low)) = (nibble(digits[2 * at]), nibble(digits[2 * at + 1])) else {
            return Err(KeyError::NotHex);
        };
        key[at] = high << 4 | low;
        at += 1;
    }
    if let Some(next) = rest.first()
        && !next.is_ascii_whitespace()
    {
        return Err(KeyError::NotHex);
    }
    if only_comments(rest) { Ok(key) } else { Err(KeyError::MoreLines) }
}

/// Returns true if all lines behind the first are empty or begin with `#`.
const fn only_comments(text: &[u8]) -> bool {
    let (mut at, mut first, mut comment) = (0, true, false);
    while at < text.len() {
        let byte = text[at];
        if byte == b'\n' {
            (first, comment) = (false, false);
        } else if byte == b'#' {
            comment = true;
        } else if !first && !comment && !byte.is_ascii_whitespace() {
            return false;
        }
        at += 1;
    }
    true
}

const fn nibble(digit: u8) -> Option<u8> {
    match digit {
        b'0'..=b'9' => Some(digit - b'0'),
        b'a'..=b'f' => Some(digit - b'a' + 10),
        b'A'..=b'F' => Some(digit - b'A' + 10),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;
    use std::string::String;

    const DIGITS: &str = "00112233445566778899aabbCCDDEEFF0123456789abcdef0123456789ABCDEF";

    fn read(text: &str) -> Result<[u8; 32], KeyError> {
        key_of(text.as_bytes(), b"word")
    }

    #[test]
    fn a_line_is_read_with_its_comment() {
        for text in [
            format!("word {DIGITS}"),
            format!("word {DIGITS}\n"),
            format!("word {DIGITS} of the plant in Ulm # 2\r\n\n# made on a Monday\n \t# x\n"),
        ] {
            let key = read(&text).unwrap();
            let hex = key.iter().fold(String::new(), |text, byte| text + &format!("{byte:02x}"));
            assert_eq!(hex, DIGITS.to_lowercase());
        }
    }

    #[test]
    fn anything_else_is_refused() {
        for (text, error) in [
            (String::new(), KeyError::OtherFile),
            ("word".into(), KeyError::OtherFile),
            (format!("work {DIGITS}"), KeyError::OtherFile),
            (format!(" word {DIGITS}"), KeyError::OtherFile),
            (format!("word-2 {DIGITS}"), KeyError::OtherFile),
            ("word ".into(), KeyError::NotHex),
            (format!("word {}", &DIGITS[1..]), KeyError::NotHex),
            (format!("word {DIGITS}0"), KeyError::NotHex),
            (format!("word  {DIGITS}"), KeyError::NotHex),
            (format!("word {}g", &DIGITS[1..]), KeyError::NotHex),
            (format!("word {DIGITS}\nword {DIGITS}"), KeyError::MoreLines),
            (format!("word {DIGITS} # a\nb"), KeyError::MoreLines),
        ] {
            assert_eq!(read(&text), Err(error), "{text}");
        }
    }
}

//! Splits Rust text into words, marks and string literals, without comments and without test code.

/// A piece of Rust text, and its first line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Token {
    pub(crate) piece: Piece,
    pub(crate) line: usize,
}

/// The kinds of pieces.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Piece {
    /// A name, keyword or number.
    Word(String),
    /// `::`, or a single character with a meaning here.
    Mark(&'static str),
    /// Any other single character.
    Other(char),
    /// The contents of a string literal, as they are written.
    Text(String),
}

impl Token {
    /// Returns the word, if the token is one.
    pub(crate) fn word(&self) -> Option<&str> {
        match &self.piece {
            Piece::Word(word) => Some(word),
            _ => None,
        }
    }

    /// Returns true if the token is this mark.
    pub(crate) fn is(&self, mark: &str) -> bool {
        matches!(&self.piece, Piece::Mark(own) if *own == mark)
    }
}

/// The marks with a meaning here.
const MARKS: [&str; 9] = ["::", "{", "}", "[", "]", "(", ")", ",", ";"];

/// Returns the tokens of a file, without those of items under `#[cfg(test)]`.
pub(crate) fn outside_tests(text: &str) -> Vec<Token> {
    let all = tokens(text);
    let (mut kept, mut at) = (Vec::new(), 0);
    while at < all.len() {
        if is_test_attribute(&all[at..]) {
            at = item_end(&all, at + 7);
        } else {
            kept.push(all[at].clone());
            at += 1;
        }
    }
    kept
}

/// Returns true at the seven tokens of `#[cfg(test)]`.
fn is_test_attribute(tokens: &[Token]) -> bool {
    let [hash, open, cfg, left, test, right, close, ..] = tokens else { return false };
    hash.piece == Piece::Other('#')
        && open.is("[")
        && cfg.word() == Some("cfg")
        && left.is("(")
        && test.word() == Some("test")
        && right.is(")")
        && close.is("]")
}

/// Returns the index behind the item that starts at `at`: behind its `;` or its last brace.
fn item_end(tokens: &[Token], mut at: usize) -> usize {
    let mut depth = 0;
    while let Some(token) = tokens.get(at) {
        at += 1;
        if ["{", "[", "("].iter().any(|mark| token.is(mark)) {
            depth += 1;
        } else if ["}", "]", ")"].iter().any(|mark| token.is(mark)) {
            depth -= 1;
            if depth == 0 && token.is("}") {
                return at;
            }
        } else if depth == 0 && token.is(";") {
            return at;
        }
    }
    at
}

/// Returns all tokens of a file.
pub(crate) fn tokens(text: &str) -> Vec<Token> {
    let (mut found, mut left, mut line) = (Vec::new(), text, 1);
    while let Some(first) = left.chars().next() {
        let (length, piece) = piece(left, first);
        found.extend(piece.map(|piece| Token { piece, line }));
        line += left[..length].matches('\n').count();
        left = &left[length..];
    }
    found
}

/// Returns the length of the next piece in bytes, and the piece. Spaces, comments and characters
/// give no piece.
fn piece(left: &str, first: char) -> (usize, Option<Piece>) {
    if left.starts_with("//") {
        return (left.find('\n').unwrap_or(left.len()), None);
    }
    if left.starts_with("/*") {
        return (block_comment(left), None);
    }
    if let Some((length, text)) = string(left) {
        return (length, Some(Piece::Text(text.into())));
    }
    if first == '\'' {
        return (character(left), None);
    }
    if first.is_alphanumeric() || first == '_' {
        let end = left.find(|c: char| !c.is_alphanumeric() && c != '_').unwrap_or(left.len());
        return (end, Some(Piece::Word(left[..end].into())));
    }
    if let Some(mark) = MARKS.into_iter().find(|mark| left.starts_with(mark)) {
        return (mark.len(), Some(Piece::Mark(mark)));
    }
    (first.len_utf8(), (!first.is_whitespace()).then_some(Piece::Other(first)))
}

/// Returns the length of a block comment in bytes. Block comments nest.
fn block_comment(left: &str) -> usize {
    let (mut depth, mut at) = (0, 0);
    while at < left.len() {
        let rest = &left[at..];
        if rest.starts_with("/*") {
            (depth, at) = (depth + 1, at + 2);
        } else if rest.starts_with("*/") {
            (depth, at) = (depth - 1, at + 2);
        } else {
            at += rest.chars().next().map_or(1, char::len_utf8);
        }
        if depth == 0 {
            break;
        }
    }
    at
}

/// Returns the length of a string literal of any kind in bytes, and its contents.
fn string(left: &str) -> Option<(usize, &str)> {
    let prefix = left.find(|c: char| !"bcr".contains(c))?;
    let (kind, rest) = left.split_at(prefix);
    let hashes = rest.find(|c| c != '#')?;
    if kind.contains('r') && rest[hashes..].starts_with('"') {
        let end = format!("\"{}", &rest[..hashes]);
        let start = prefix + hashes + 1;
        let length = left[start..].find(&end)?;
        return Some((start + length + end.len(), &left[start..start + length]));
    }
    let body = rest.strip_prefix('"')?;
    let mut escaped = false;
    let length = body.find(|c| {
        let ends = c == '"' && !escaped;
        escaped = c == '\\' && !escaped;
        ends
    })?;
    Some((prefix + length + 2, &body[..length]))
}

/// Returns the length in bytes of a character literal, or of the mark of a lifetime.
fn character(left: &str) -> usize {
    let mut characters = left.char_indices().skip(1);
    let (_, first) = characters.next().unwrap_or((0, ' '));
    if first == '\\' {
        // The escaped character may be a quote itself.
        let behind = left.get(3..).and_then(|rest| rest.find('\''));
        return behind.map_or(1, |end| end + 4);
    }
    match characters.next() {
        Some((at, '\'')) => at + 1,
        _ => 1,
    }
}

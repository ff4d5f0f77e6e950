//! Finds the modules that a file names: in `use` items, and in paths from `crate` and `super`.

use crate::tokens::{Token, outside_tests};

/// A path from the crate's root, as far as it is written, and its line.
pub(crate) type Path = (Vec<String>, usize);

/// Returns all paths of a file in module `module`, from the crate's root.
pub(crate) fn paths(module: &[&str], text: &str) -> Vec<Path> {
    let tokens = outside_tests(text);
    let module: Vec<String> = module.iter().map(|word| (*word).into()).collect();
    // The module at each depth of braces: `mod name {` adds one level.
    let mut inside = vec![module];
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        let here = inside.last().cloned().unwrap_or_default();
        if token.is("{") {
            let name = opened_module(&tokens[..at]);
            inside.push(here.iter().map(String::as_str).chain(name).map(Into::into).collect());
        } else if token.is("}") {
            inside.pop();
        } else if is_head(&tokens, at) {
            tree(&tokens, at, here, &mut found);
        }
    }
    found
}

/// Returns the paths of all `use` items of `lib.rs`, from the crate's root.
pub(crate) fn root_uses(text: &str) -> Vec<Path> {
    let tokens = outside_tests(text);
    let mut found = Vec::new();
    for (at, token) in tokens.iter().enumerate() {
        if token.word() == Some("use") && at + 1 < tokens.len() {
            tree(&tokens, at + 1, Vec::new(), &mut found);
        }
    }
    found
}

/// Returns the name of the inline module if the next brace opens one.
fn opened_module(before: &[Token]) -> Option<&str> {
    let [.., keyword, name] = before else { return None };
    name.word().filter(|_| keyword.word() == Some("mod"))
}

/// Returns true at the first word of a path from `crate`, `super` or `self`.
fn is_head(tokens: &[Token], at: usize) -> bool {
    let starts = matches!(tokens[at].word(), Some("crate" | "super" | "self"));
    let goes_on = tokens.get(at + 1).is_some_and(|next| next.is("::"));
    starts && goes_on && (at == 0 || !tokens[at - 1].is("::"))
}

/// Adds the paths of the tree at `at`, which lies in `prefix`; returns the index behind it.
fn tree(tokens: &[Token], mut at: usize, mut prefix: Vec<String>, found: &mut Vec<Path>) -> usize {
    let line = tokens[at].line;
    while let Some(token) = tokens.get(at) {
        match token.word() {
            Some("crate") => prefix.clear(),
            Some("super") => drop(prefix.pop()),
            Some("self") => (),
            Some(word) => prefix.push(word.into()),
            None if token.is("{") => return branches(tokens, at + 1, &prefix, found),
            None => break,
        }
        at += 1;
        match tokens.get(at) {
            Some(next) if next.is("::") => at += 1,
            _ => break,
        }
    }
    found.push((prefix, line));
    let renamed = tokens.get(at).is_some_and(|token| token.word() == Some("as"));
    if renamed { at + 2 } else { at }
}

/// Adds the paths between two braces; returns the index behind them.
fn branches(tokens: &[Token], mut at: usize, prefix: &[String], found: &mut Vec<Path>) -> usize {
    while let Some(token) = tokens.get(at) {
        if token.is("}") {
            return at + 1;
        }
        let is_path = token.word().is_some() || token.is("{");
        at = if is_path { tree(tokens, at, prefix.to_vec(), found) } else { at + 1 };
    }
    at
}

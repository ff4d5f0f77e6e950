//! Passphrases: from a file or from the terminal, never from the command line.

use std::path::Path;

use anyhow::{Context, Result, bail};
use zeroize::Zeroizing;

/// Reads a passphrase from the first line of a file.
pub(crate) fn from_file(path: &Path) -> Result<Zeroizing<String>> {
    let text = std::fs::read_to_string(path)
        .map(Zeroizing::new)
        .with_context(|| format!("{}: the passphrase cannot be read", path.display()))?;
    let line = Zeroizing::new(text.lines().next().unwrap_or_default().to_owned());
    if line.is_empty() {
        bail!("{}: its first line, which is the passphrase, is empty", path.display());
    }
    Ok(line)
}

/// Asks for a passphrase on the terminal, which does not show it.
pub(crate) fn asked(question: &str) -> Result<Zeroizing<String>> {
    let answer = rpassword::prompt_password(format!("{question}: ")).map(Zeroizing::new);
    answer.context("there is no terminal to ask for the passphrase; give it with --passphrase-file")
}

/// Asks for a new passphrase twice, because nobody sees what is typed.
pub(crate) fn asked_twice() -> Result<Zeroizing<String>> {
    let first = asked("passphrase for the new key")?;
    if first.is_empty() {
        bail!("the passphrase is empty; leave out --passphrase to make a key without one");
    }
    if *first != *asked("the same again")? {
        bail!("the two passphrases differ; no key was made");
    }
    Ok(first)
}

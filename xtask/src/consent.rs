//! Asks for permission to install something.
//!
//! `test` is one of the two commands of the README and sets up everything itself: it says what it
//! will install, then installs it. Every other task asks on a terminal, or takes `--yes`. Without
//! either it ends with exit code 2 and names what is missing and how to install it.

use std::io::{self, BufRead as _, IsTerminal as _, Write as _};
use std::sync::atomic::{AtomicBool, Ordering};

/// A missing program or file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Need {
    /// Its name and its purpose.
    pub(crate) what: String,
    /// The command that installs it.
    pub(crate) how: String,
}

impl Need {
    pub(crate) fn new(what: impl Into<String>, how: impl Into<String>) -> Self {
        Self { what: what.into(), how: how.into() }
    }
}

/// True if everything may be installed.
static GIVEN: AtomicBool = AtomicBool::new(false);
/// True if something is missing and we have no permission to install it.
static REFUSED: AtomicBool = AtomicBool::new(false);

/// Gives permission to install everything without a question.
pub(crate) fn give() {
    GIVEN.store(true, Ordering::Relaxed);
}

/// Returns true if a task ended because something is missing.
pub(crate) fn refused() -> bool {
    REFUSED.load(Ordering::Relaxed)
}

/// Says what will be installed, and gets permission for it. Does nothing if nothing is missing.
pub(crate) fn settle(needs: &[Need]) -> Result<(), String> {
    if needs.is_empty() {
        return Ok(());
    }
    if GIVEN.load(Ordering::Relaxed) {
        eprintln!("xtask: will be installed:\n{}", list(needs));
        return Ok(());
    }
    if io::stdin().is_terminal() && io::stderr().is_terminal() {
        eprint!("xtask: missing:\n{}Install it? [y/N] ", list(needs));
        let mut answer = String::new();
        let read = io::stderr().flush().and_then(|()| io::stdin().lock().read_line(&mut answer));
        if read.is_ok() && is_yes(&answer) {
            give();
            return Ok(());
        }
    }
    REFUSED.store(true, Ordering::Relaxed);
    let list = list(needs);
    Err(format!("missing:\n{list}Install it by hand, or say --yes to have it installed."))
}

/// Like [`settle`] for one thing about to be installed. Prints nothing if permission was given
/// before.
pub(crate) fn allow(need: &Need) -> Result<(), String> {
    if GIVEN.load(Ordering::Relaxed) { Ok(()) } else { settle(std::slice::from_ref(need)) }
}

fn is_yes(answer: &str) -> bool {
    ["y", "yes"].contains(&answer.trim().to_lowercase().as_str())
}

fn list(needs: &[Need]) -> String {
    needs
        .iter()
        .fold(String::new(), |list, Need { what, how }| list + "  " + what + ": " + how + "\n")
}

#[cfg(test)]
mod tests {
    use super::is_yes;

    #[test]
    fn only_a_yes_is_one() {
        assert!(["y\n", "Y", " yes\n"].into_iter().all(is_yes));
        assert!(!["", "\n", "n\n", "no", "yesterday"].into_iter().any(is_yes));
    }
}

//! Colours for a terminal, unless `NO_COLOR` or `TERM` says otherwise.
//!
//! The rules and the codes come from `anstream` and `anstyle`. clap uses the same two crates for
//! its help and errors.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const ALERT: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();

/// Returns true if standard output may have colours.
pub fn on_stdout() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Returns true if standard error may have colours.
pub fn on_stderr() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}

/// Returns `text` in the colour for something wrong.
pub fn alert(text: &str, colour: bool) -> String {
    painted(text, ALERT, colour)
}

/// Returns `text` in the colour for something right.
pub fn good(text: &str, colour: bool) -> String {
    painted(text, GOOD, colour)
}

fn painted(text: &str, style: Style, colour: bool) -> String {
    if colour { format!("{style}{text}{style:#}") } else { text.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::{alert, good};

    #[test]
    fn without_colour_text_is_as_it_was() {
        assert_eq!(alert("error", false) + &good("fine", false), "errorfine");
        let painted = alert("error", true);
        assert!(painted.starts_with('\x1b') && painted.contains("error"), "{painted:?}");
        assert!(painted.ends_with("\x1b[0m"), "{painted:?}");
    }
}

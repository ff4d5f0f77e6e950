//! Colours where they may be used: on a terminal, unless `NO_COLOR` or `TERM` says otherwise.
//!
//! The rules and the codes are those of `anstream` and `anstyle`, which clap brings along and
//! colours its own help and errors by.

use anstream::{AutoStream, ColorChoice};
use anstyle::{AnsiColor, Style};

const ALERT: Style = AnsiColor::Red.on_default().bold();
const GOOD: Style = AnsiColor::Green.on_default().bold();

/// Whether standard output may have colours.
pub fn on_stdout() -> bool {
    AutoStream::choice(&std::io::stdout()) != ColorChoice::Never
}

/// Whether standard error may have colours.
pub fn on_stderr() -> bool {
    AutoStream::choice(&std::io::stderr()) != ColorChoice::Never
}

/// `text` as what is wrong.
pub fn alert(text: &str, colour: bool) -> String {
    painted(text, ALERT, colour)
}

/// `text` as what is as it should be.
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

//! Standard output and standard error. Everything that the command prints goes through here, and
//! text from files becomes harmless on the way.

use std::io::{self, Write as _};

use crate::text::printable::{printable, printable_json};
use crate::text::{colour, table};

/// Prints the result of a command on standard output. Lines are fitted into the terminal, then
/// `paint` colours them.
pub fn print_result(text: &str, paint: impl Fn(&str) -> String) -> io::Result<()> {
    let text = printable(text.trim_end());
    let text = table::columns()
        .map_or_else(|| format!("{text}\n"), |columns| table::fitted(&text, columns));
    io::stdout().lock().write_all(paint(&text).as_bytes())
}

/// Prints a JSON object on standard output.
pub fn print_json(json: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", printable_json(json))
}

/// Prints text for a program on standard output, exactly as it is. It must hold no text from files.
pub fn print_verbatim(text: &str) -> io::Result<()> {
    writeln!(io::stdout().lock(), "{}", text.trim_end())
}

/// Prints a line of a running command, on standard error if `json` has standard output.
pub fn print_line(line: &str, json: bool, columns: Option<usize>) -> io::Result<()> {
    let line = printable(line);
    let text = columns.map_or_else(|| format!("{line}\n"), |columns| table::fitted(&line, columns));
    if json {
        io::stderr().write_all(text.as_bytes())
    } else {
        io::stdout().write_all(text.as_bytes())
    }
}

/// Prints text on standard error. Nothing can be done if that fails.
pub fn say(text: &str) {
    let _ = writeln!(io::stderr(), "{}", printable(text));
}

/// Prints an error on standard error.
pub fn say_error(text: &str) {
    let mark = colour::alert("error:", colour::on_stderr());
    let _ = writeln!(io::stderr(), "{mark} {}", printable(text));
}

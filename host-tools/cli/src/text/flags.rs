//! Turns the library's settings in messages into the options of this command.
//!
//! The library does not know the command line. Its messages name a setting by its field, in
//! backticks, as `` `full_scale` ``. A user of this command knows the option, `--full-scale`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use clap::CommandFactory as _;

use crate::commands::Cli;

/// Fields with an option of another name.
const RENAMED: [(&str, &str); 4] = [
    ("fft_len", "--fft"),
    ("rate_hz", "--rate HZ"),
    ("limits", "--severity"),
    ("band_hz", "--severity-band"),
];

/// Long options of all commands.
static OPTIONS: LazyLock<BTreeSet<String>> = LazyLock::new(|| {
    let command = Cli::command();
    let arguments = command.get_subcommands().flat_map(clap::Command::get_arguments);
    arguments.filter_map(|argument| argument.get_long().map(str::to_owned)).collect()
});

/// Returns `text` with its fields as options. Everything else stays as it is.
pub fn as_flags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some((before, behind)) = rest.split_once('`') {
        out.push_str(before);
        let field = behind.split_once('`');
        if let Some((option, after)) = field.and_then(|(f, after)| Some((option(f)?, after))) {
            out.push_str(&option);
            rest = after;
        } else {
            out.push('`');
            rest = behind;
        }
    }
    out + rest
}

/// Does the same to each of several texts.
pub(crate) fn all_as_flags(texts: &mut [String]) {
    for text in texts {
        *text = as_flags(text);
    }
}

/// Returns the option of a field, if there is one.
fn option(field: &str) -> Option<String> {
    if let Some((_, option)) = RENAMED.iter().find(|(renamed, _)| *renamed == field) {
        return Some((*option).to_owned());
    }
    let option = field.replace('_', "-");
    (field.starts_with(|c: char| c.is_ascii_lowercase()) && OPTIONS.contains(&option))
        .then(|| format!("--{option}"))
}

#[cfg(test)]
mod tests {
    use super::as_flags;

    #[test]
    fn fields_become_options_and_nothing_else_does() {
        for (text, shown) in [
            ("`full_scale` 0: give more", "--full-scale 0: give more"),
            ("say `pool_is` all, `pool_is` healthy", "say --pool-is all, --pool-is healthy"),
            ("a longer `fft_len`", "a longer --fft"),
            ("several axes as `x;y;z`", "several axes as `x;y;z`"),
            ("`cargo xtask firmware` says why", "`cargo xtask firmware` says why"),
            ("an odd ` and `segments` after", "an odd ` and --segments after"),
            ("`no_such_option`", "`no_such_option`"),
            ("", ""),
        ] {
            assert_eq!(as_flags(text), shown);
        }
    }
}

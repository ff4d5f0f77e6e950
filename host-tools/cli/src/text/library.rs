//! A library of known machines, as text of at most 80 columns and as JSON.

use std::fmt::Write as _;

use rebearing_host::source::library::Library;
use rebearing_host::words::plural;
use serde_json::{Value, json};

use super::evaluation::shortened;

/// Width of a machine's number and name.
const HEAD: usize = 25;
/// Width of a rate in the matrix.
const RATE: usize = 5;
/// Largest width of the text, in columns.
const WIDTH: usize = 80;

/// Returns the machines, how well labels carry among them, and the odd ones out.
pub(crate) fn library_text(library: &Library) -> String {
    let mut text = String::new();
    for (number, source) in library.sources.iter().enumerate() {
        let windows: usize = source.windows.iter().sum();
        let _ = writeln!(
            text,
            "  {:>3} {:<19} {}",
            number + 1,
            shortened(&source.domain, 19),
            plural(windows, "window", "windows")
        );
    }
    text.push_str(&left_out(library));
    if library.transfers.is_empty() {
        return text;
    }
    text.push_str("\n% of labels right, from a machine (row) to another (column):\n");
    let machines: Vec<usize> = (0..library.sources.len()).collect();
    for columns in machines.chunks((WIDTH - HEAD) / RATE) {
        text.push_str(&matrix(library, columns));
    }
    text.push_str(&best(library));
    text
}

fn left_out(library: &Library) -> String {
    let mut text = String::new();
    let left_out = &library.left_out;
    if !left_out.classes.is_empty() {
        let _ = writeln!(
            text,
            "  left out, as not every machine has them: {}",
            left_out.classes.join(", ")
        );
    }
    if !left_out.domains.is_empty() {
        let _ = writeln!(
            text,
            "  left out, as they have no healthy recording: {}",
            left_out.domains.join(", ")
        );
    }
    text
}

fn matrix(library: &Library, columns: &[usize]) -> String {
    let mut text = format!("{:HEAD$}", "");
    for column in columns {
        let _ = write!(text, "{:>RATE$}", column + 1);
    }
    text.push('\n');
    for (number, source) in library.sources.iter().enumerate() {
        let _ = write!(text, "  {:>3} {:<19}", number + 1, shortened(&source.domain, 19));
        for column in columns {
            let target = &library.sources[*column].domain;
            let found = library
                .transfers
                .iter()
                .find(|transfer| transfer.source == source.domain && transfer.target == *target);
            let rate = found.map_or("-".into(), |found| format!("{:.0}", 100.0 * found.accuracy));
            let _ = write!(text, "{rate:>RATE$}");
        }
        text.push('\n');
    }
    text
}

/// The transfer that would have been chosen for each machine, and the machines that fit no other.
fn best(library: &Library) -> String {
    let mut text = String::from("\nas a new machine, each would have been labelled:\n");
    for transfer in library.best_transfers() {
        let _ = writeln!(
            text,
            "  {:<18} from {:<18} labels agree {:.2}, {:>5.1} % right",
            shortened(&transfer.target, 18),
            shortened(&transfer.source, 18),
            transfer.quality,
            100.0 * transfer.accuracy
        );
    }
    for odd in library.odd_ones_out() {
        let _ = writeln!(
            text,
            "  odd one out: {}: labels carry at most {:.0} % right to it, and {:.0} % from it",
            odd.domain,
            100.0 * odd.to,
            100.0 * odd.from
        );
    }
    text
}

/// Returns the same for scripts.
pub(crate) fn library_json(library: &Library) -> Value {
    let source = |source: &rebearing_host::source::Source| {
        json!({
            "domain": source.domain,
            "windows": source.windows,
            "hash": source.hash,
            "rate_hz": source.front_end.rate_hz,
            "unit": source.unit,
            "full_scale": source.full_scale,
            "log_likelihood_min": source.log_likelihood_min,
        })
    };
    json!({
        "sources": library.sources.iter().map(source).collect::<Vec<_>>(),
        "classes": library.first().classes,
        "transfers": library.transfers,
        "best": library.best_transfers(),
        "odd_ones_out": library.odd_ones_out(),
        "left_out": library.left_out,
    })
}

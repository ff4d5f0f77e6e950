//! Shows what was understood of a folder, as text of at most 80 columns.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use rebearing_host::data::folder::{Entry, PassedOver, Understood};
use rebearing_host::words::plural;

use super::printable::one_line;

/// Largest width of the text, in columns.
const WIDTH: usize = 80;
/// Largest number of files named for one reason.
const EXAMPLES: usize = 3;

/// Returns the files per domain and label with their rates, speeds and channels, then what is
/// missing, then the files that were skipped.
pub(crate) fn text(understood: &Understood) -> String {
    let Understood { folder, pattern, guessed, entries, passed_over } = understood;
    let how = if *guessed { "guessed; correct it with --pattern" } else { "given" };
    let folder = shortened(&one_line(&folder.display().to_string()), WIDTH - 30);
    let mut text = format!(
        "{folder}: {}, {} skipped\n",
        plural(entries.len(), "recording", "recordings"),
        passed_over.len()
    );
    let _ =
        writeln!(text, "{}\n", shortened(&format!("pattern  {}  ({how})", pattern.text()), WIDTH));
    let heading = ["domain", "label", "files", "rate Hz", "rpm", "axes", "channel"];
    let [domain, label, files, rate, rpm, axes, channels] = heading;
    let _ = writeln!(
        text,
        "{domain:<14} {label:<16} {files:>5} {rate:>11} {rpm:>10} {axes:>4} {channels}"
    );
    let mut groups: BTreeMap<(&str, &str), Vec<&Entry>> = BTreeMap::new();
    for entry in entries {
        let label = entry.label.as_deref().unwrap_or("");
        groups.entry((&entry.domain, label)).or_default().push(entry);
    }
    for ((domain, label), group) in &groups {
        let axes: Vec<Option<f64>> = group.iter().map(|e| e.axes.map(|n| n as f64)).collect();
        let line = format!(
            "{:<14} {:<16} {:>5} {:>11} {:>10} {:>4} {}",
            shortened(&one_line(domain), 14),
            shortened(&one_line(if label.is_empty() { "-" } else { label }), 16),
            group.len(),
            span(group.iter().map(|entry| entry.rate_hz)),
            span(group.iter().map(|entry| entry.rpm)),
            span(axes.into_iter()),
            shortened(&channel(group), 14),
        );
        let _ = writeln!(text, "{}", line.trim_end());
    }
    text.push('\n');
    say(&mut text, &healthy_line(understood));
    let rated = entries.iter().filter(|entry| entry.carries_rate).count();
    let unrated: Vec<&Entry> = entries.iter().filter(|entry| entry.rate_hz.is_none()).collect();
    say(
        &mut text,
        &format!("rates    written in {rated} of {}", plural(entries.len(), "file", "files")),
    );
    if let Some(first) = unrated.first() {
        say(
            &mut text,
            &format!(
                "missing  the rate of {}, such as {}: give --rate HZ",
                plural(unrated.len(), "file", "files"),
                one_line(&first.name)
            ),
        );
    }
    let open: Vec<&Entry> = entries.iter().filter(|entry| !entry.choice.is_empty()).collect();
    if let Some(first) = open.first() {
        say(
            &mut text,
            &format!(
                "missing  the channel of {}, such as {}: give --channel, one of {}",
                plural(open.len(), "file", "files"),
                one_line(&first.name),
                one_line(&first.choice.join(", "))
            ),
        );
    }
    passed_over_lines(&mut text, passed_over);
    text
}

fn healthy_line(understood: &Understood) -> String {
    let labels = understood.entries.iter().any(|entry| entry.label.is_some());
    match understood.healthy().as_slice() {
        _ if !labels => "labels   none; a machine to adapt to needs none".into(),
        [] => "healthy  no label means healthy; fit with --healthy LABEL".into(),
        [one] if ["healthy", "normal"].iter().any(|word| one.eq_ignore_ascii_case(word)) => {
            format!("healthy  {}", one_line(one))
        }
        [one] => format!("healthy  {one}; fit with --healthy {}", one_line(one)),
        several => format!(
            "healthy  {}; fit takes only one of them: --healthy LABEL",
            one_line(&several.join(", "))
        ),
    }
}

/// Adds a line for each reason, with the files that were skipped for it.
fn passed_over_lines(text: &mut String, passed_over: &[PassedOver]) {
    let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    for PassedOver { name, reason } in passed_over {
        reasons.entry(reason).or_default().push(name);
    }
    for (reason, names) in reasons {
        let more = names.len().saturating_sub(EXAMPLES);
        let mut examples: Vec<String> =
            names.iter().take(EXAMPLES).map(|name| shortened(&one_line(name), 40)).collect();
        if more > 0 {
            examples.push(format!("{more} more"));
        }
        say(text, &format!("skipped  {}: {}", one_line(reason), examples.join(", ")));
    }
}

/// Adds `line`, broken into lines of at most [`WIDTH`] columns. The others hang under its text.
fn say(text: &mut String, line: &str) {
    let mut width = 0;
    for (index, word) in line.split(' ').enumerate() {
        let length = word.chars().count();
        if index > 0 && width + 1 + length > WIDTH {
            text.push_str("\n         ");
            width = 9;
        } else if index > 0 {
            text.push(' ');
            width += 1;
        }
        text.push_str(word);
        width += length;
    }
    text.push('\n');
}

/// Returns the channel of a group of files.
fn channel(group: &[&Entry]) -> String {
    if group.iter().any(|entry| !entry.choice.is_empty()) {
        return "which?".into();
    }
    let mut channels: Vec<&str> =
        group.iter().filter_map(|entry| entry.channel.as_deref()).collect();
    channels.sort_unstable();
    channels.dedup();
    match channels.as_slice() {
        [] => String::new(),
        [one] => one_line(one).into_owned(),
        several => format!("{} names", several.len()),
    }
}

/// Returns the smallest and largest number. A `-` stands for numbers that are not known.
fn span(numbers: impl Iterator<Item = Option<f64>>) -> String {
    let numbers: Vec<Option<f64>> = numbers.collect();
    let known: Vec<f64> = numbers.iter().flatten().copied().collect();
    let Some(least) = known.iter().copied().reduce(f64::min) else { return "-".into() };
    let most = known.iter().copied().fold(least, f64::max);
    let short = |number: f64| {
        let text = format!("{number:.2}");
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    };
    let mut text = short(least);
    if most > least {
        let _ = write!(text, "…{}", short(most));
    }
    if known.len() < numbers.len() {
        text.push_str(",-");
    }
    text
}

fn shortened(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.into();
    }
    text.chars().take(width - 1).chain(['…']).collect()
}

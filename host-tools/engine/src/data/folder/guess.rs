//! Guesses a pattern from the shape of a folder tree if the user gives none.
//!
//! The result is an ordinary [`Pattern`], so it can be shown, copied and corrected.

use std::collections::BTreeSet;

use super::pattern::{Pattern, Said};

/// Words for a machine without a fault. The tree level that contains one holds the labels.
const HEALTHY: [&str; 9] =
    ["healthy", "normal", "good", "ok", "baseline", "nofault", "faultfree", "undamaged", "intact"];
/// Characters that separate the parts of a name.
const SEPARATORS: [char; 3] = ['_', '-', ' '];

/// Whether a label contains a word for a healthy machine, alone or with others (`Normal_0`).
pub fn is_healthy(label: &str) -> bool {
    let label = label.to_lowercase();
    let joined: String = label.chars().filter(|c| c.is_alphanumeric()).collect();
    let mut words = label.split(|c: char| !c.is_alphanumeric());
    HEALTHY.contains(&joined.as_str()) || words.any(|word| HEALTHY.contains(&word))
}

/// A possible pattern, and the conditions for choosing it.
struct Candidate {
    pattern: String,
    /// One of the labels must be a word for healthy.
    needs_healthy: bool,
    /// There must be several domains with several labels each. Otherwise a number in a name only
    /// counts repetitions.
    needs_crossed: bool,
}

/// Returns the pattern that fits most of these paths. Among equals, a pattern that finds a healthy
/// label wins.
pub(super) fn guess(paths: &[&str]) -> Option<Pattern> {
    let mut best: Option<((usize, bool), Pattern)> = None;
    for Candidate { pattern, needs_healthy, needs_crossed } in candidates(usual_depth(paths)) {
        let Ok(pattern) = Pattern::new(&pattern) else { continue };
        let said: Vec<Said> = paths.iter().filter_map(|path| pattern.read(path)).collect();
        let healthy = said.iter().filter_map(|said| said.get("label")).any(is_healthy);
        let fits =
            !said.is_empty() && (healthy || !needs_healthy) && (!needs_crossed || crossed(&said));
        let score = (said.len(), healthy);
        // Among equals the first one wins: the candidates are in order of how common they are.
        if fits && best.as_ref().is_none_or(|(most, _)| score > *most) {
            best = Some((score, pattern));
        }
    }
    best.map(|(_, pattern)| pattern)
}

/// The number of folders above a file, for most files.
fn usual_depth(paths: &[&str]) -> usize {
    let depths: Vec<usize> = paths.iter().map(|path| path.matches('/').count()).collect();
    let count = |depth: &usize| depths.iter().filter(|other| *other == depth).count();
    let distinct: BTreeSet<usize> = depths.iter().copied().collect();
    distinct.iter().copied().max_by_key(count).unwrap_or(0)
}

fn candidates(depth: usize) -> Vec<Candidate> {
    let mut candidates = Vec::new();
    let mut add = |pattern: String, needs_healthy: bool, needs_crossed: bool| {
        candidates.push(Candidate { pattern, needs_healthy, needs_crossed });
    };
    let folders = |label: Option<usize>, domain: Option<usize>| {
        let name = |level: usize| match Some(level) {
            level if level == label => "{label}/",
            level if level == domain => "{domain}/",
            _ => "*/",
        };
        (0..depth).map(name).collect::<String>()
    };
    // Two levels of folders: the label is the inner one, unless a word says otherwise. The machine
    // is above it, or else below it.
    for label in (0..depth).rev() {
        for domain in (0..label).rev().chain(label + 1..depth) {
            add(format!("{}**", folders(Some(label), Some(domain))), false, false);
        }
    }
    // One folder for each machine; the file names give the conditions.
    for domain in (0..depth).rev() {
        let folders = folders(None, Some(domain));
        for s in SEPARATORS {
            add(format!("{folders}{{label}}{s}*.*"), true, false);
            add(format!("{folders}*{s}{{label}}.*"), true, false);
        }
        add(format!("{folders}{{label}}.*"), true, false);
    }
    for label in (0..depth).rev() {
        add(format!("{}**", folders(Some(label), None)), false, false);
    }
    if depth == 0 {
        for s in SEPARATORS {
            add(format!("{{label}}{s}{{domain}}.*"), false, true);
            add(format!("{{domain}}{s}{{label}}.*"), false, true);
        }
        for s in SEPARATORS {
            add(format!("{{label}}{s}*.*"), false, false);
            add(format!("*{s}{{label}}.*"), true, false);
        }
        add("{label}.*".into(), false, false);
    }
    candidates
}

/// Whether there are several domains, and several labels in each.
fn crossed(said: &[Said]) -> bool {
    let domains: BTreeSet<&str> = said.iter().filter_map(|said| said.get("domain")).collect();
    let labels = |domain: &str| {
        let own = said.iter().filter(|said| said.get("domain") == Some(domain));
        own.filter_map(|said| said.get("label")).collect::<BTreeSet<_>>().len()
    };
    domains.len() > 1 && domains.iter().all(|domain| labels(domain) > 1)
}

#[cfg(test)]
mod tests {
    use super::{guess, is_healthy};

    #[test]
    fn trees_are_read_as_people_make_them() {
        for (paths, wanted) in [
            ("m-a/Healthy.wav m-a/Ball.wav m-b/Healthy.wav m-b/Ball.wav", "{domain}/{label}.*"),
            ("IR007_0.mat Normal_0.mat IR007_3.mat Normal_3.npy", "{label}_{domain}.*"),
            ("B_800.mat N_800.mat B_1000.mat N_1000.mat", "{label}_{domain}.*"),
            ("a/normal/1.csv a/inner/1.csv b/inner/2.csv", "{domain}/{label}/**"),
            ("normal/a/1.csv inner/a/1.csv inner/b/2.csv", "{label}/{domain}/**"),
            ("x/inner/1.csv y/inner/1.csv y/ball/2.csv", "{domain}/{label}/**"),
            ("normal/1.wav normal/2.wav inner/1.wav", "{label}/**"),
            ("outer/1.wav outer/2.wav inner/1.wav inner/2.wav", "{label}/**"),
            ("a/no fault_1.wav a/inner_1.wav a/inner_2.wav b/ok_1.wav", "{domain}/{label}_*.*"),
            ("Healthy_1.wav Healthy_2.wav Ball_3.wav", "{label}_*.*"),
            ("a-good.wav b-good.wav a-bad.wav b-bad.wav", "{domain}-{label}.*"),
            ("97.mat 105.mat", "{label}.*"),
            ("a/normal/day1/1.csv a/inner/day1/1.csv", "{domain}/{label}/*/**"),
        ] {
            // Only one name in these lists contains a space.
            let paths = paths.replace("no fault", "no%fault");
            let paths: Vec<String> = paths.split(' ').map(|path| path.replace('%', " ")).collect();
            let paths: Vec<&str> = paths.iter().map(String::as_str).collect();
            assert_eq!(guess(&paths).unwrap().text(), wanted, "{paths:?}");
        }
        assert!(guess(&[]).is_none());
    }

    #[test]
    fn words_for_healthy() {
        for label in ["Healthy", "NORMAL", "Normal_0", "no-fault", "fault free", "N-ok"] {
            assert!(is_healthy(label), "{label}");
        }
        for label in ["abnormal", "token", "unhealthy", "fault", "N", ""] {
            assert!(!is_healthy(label), "{label}");
        }
    }
}

//! Reads values from the manifests of the repository as text: xtask has no dependencies.

use crate::run::root;
use std::fs;

/// The manifests of all crates that state which compiler they need.
pub(crate) const ALL: [&str; 5] = [
    "Cargo.toml",
    "firmware-examples/Cargo.toml",
    "firmware-examples/boards/stm32f405/Cargo.toml",
    "firmware-examples/boards/nrf52840/Cargo.toml",
    "fuzz/Cargo.toml",
];

/// Returns the first `key = "value"` of a manifest; in the root's, that is the workspace's value.
pub(crate) fn value(manifest: &str, key: &str) -> Result<String, String> {
    let text = fs::read_to_string(root().join(manifest))
        .map_err(|error| format!("{manifest}: cannot be read: {error}"))?;
    find(&text, key).map(str::to_owned).ok_or_else(|| format!("{manifest}: has no {key}"))
}

fn find<'a>(text: &'a str, key: &str) -> Option<&'a str> {
    text.lines().find_map(|line| {
        let (name, value) = line.split_once('=')?;
        (name.trim() == key).then(|| value.trim().trim_matches('"'))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_value_is_found_by_its_whole_key() {
        let text = "[package]\nrust-version.workspace = true\nrust-version = \"1.95\"\nversion = \"0.1.0\"\n";
        assert_eq!(find(text, "version"), Some("0.1.0"));
        assert_eq!(find(text, "rust-version"), Some("1.95"));
        assert_eq!(find(text, "edition"), None);
    }
}

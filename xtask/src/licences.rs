//! The fast part of `cargo xtask deny`, without `cargo-deny`: licences, sources and versions of all
//! dependencies by deny.toml. `cargo` itself lists the packages.

use crate::manifests;
use crate::run::{capture, root};
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::Path;
use std::process::Command;

/// The only source of packages, as lock files name it.
const REGISTRY: &str = "registry+https://github.com/rust-lang/crates.io-index";
/// The manifests that take their compiler from the workspace.
const MEMBERS: [&str; 4] = [
    "host-tools/engine/Cargo.toml",
    "host-tools/cli/Cargo.toml",
    "bindings/python/Cargo.toml",
    "xtask/Cargo.toml",
];
/// Between the fields that cargo prints.
const GAP: &str = " | ";

/// The rules of deny.toml that are checked here.
#[derive(Debug, Default, PartialEq, Eq)]
struct Rules {
    allowed: BTreeSet<String>,
    /// More licences for single packages.
    exceptions: BTreeMap<String, BTreeSet<String>>,
}

/// Checks the workspaces of these manifests and prints a line for each.
pub(crate) fn check(manifests: &[&str]) -> Result<(), String> {
    let rules = Rules::parse(&read("deny.toml")?)?;
    let mut problems = Vec::new();
    for manifest in manifests {
        let folder = Path::new(manifest).parent().unwrap_or(Path::new(""));
        let lock = folder.join("Cargo.lock").display().to_string();
        let found = packages(manifest)?;
        problems.extend(rules.refused(manifest, &found));
        problems.extend(foreign(&lock, &read(&lock)?));
        let (count, twice) = (found.len(), in_several_versions(&found));
        eprintln!("{manifest}: {count} packages, {twice} of them in several versions");
    }
    for manifest in manifests::ALL.iter().chain(&MEMBERS) {
        problems.extend(wildcards(manifest, &read(manifest)?));
    }
    for problem in &problems {
        eprintln!("xtask: {problem}");
    }
    match problems.len() {
        0 => Ok(()),
        count => Err(format!("{count} of the dependencies break a rule of deny.toml")),
    }
}

fn read(name: &str) -> Result<String, String> {
    fs::read_to_string(root().join(name))
        .map_err(|error| format!("{name}: cannot be read: {error}"))
}

/// Every package of a workspace for every target, as `name v1.2.3`, with its licence.
fn packages(manifest: &str) -> Result<BTreeMap<String, String>, String> {
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root()).args(["tree", "--locked", "--workspace", "--all-features"]);
    cargo.args(["--target", "all", "--edges", "normal,build,dev", "--prefix", "none"]);
    cargo.args(["--format", &format!("{{p}}{GAP}{{l}}{GAP}"), "--manifest-path", manifest]);
    let text = capture(&mut cargo).ok_or_else(|| {
        format!("{manifest}: `cargo tree --locked` failed; is its lock file up to date?")
    })?;
    Ok(parse_packages(&text))
}

fn parse_packages(text: &str) -> BTreeMap<String, String> {
    let line = |line: &str| {
        let mut fields = line.split(GAP.trim_end());
        let (package, licence) = (fields.next()?, fields.next()?);
        // After the version follows where a package lies, or that it is a macro.
        let package: Vec<&str> = package.split(' ').take(2).collect();
        Some((package.join(" "), licence.trim().to_owned()))
    };
    text.lines().filter_map(line).collect()
}

fn in_several_versions(packages: &BTreeMap<String, String>) -> usize {
    let mut versions: BTreeMap<&str, usize> = BTreeMap::new();
    for package in packages.keys() {
        *versions.entry(package.split(' ').next().unwrap_or_default()).or_default() += 1;
    }
    versions.values().filter(|count| **count > 1).count()
}

/// The packages of a lock file that do not come from the registry with a checksum. A package of the
/// project has no source.
fn foreign(lock: &str, text: &str) -> Vec<String> {
    let refused = |package: &str| {
        let value = |key: &str| {
            let line =
                |line: &str| Some(line.strip_prefix(key)?.trim_matches([' ', '=', '"']).to_owned());
            package.lines().find_map(line)
        };
        let source = value("source ")?;
        let name = value("name ").unwrap_or_default();
        if source != REGISTRY {
            return Some(format!("{lock}: {name} comes from {source}, not from crates.io"));
        }
        value("checksum ").is_none().then(|| format!("{lock}: {name} has no checksum"))
    };
    text.split("[[package]]").skip(1).filter_map(refused).collect()
}

/// The dependencies of a manifest that accept any version.
fn wildcards(manifest: &str, text: &str) -> Vec<String> {
    let any = |line: &&str| {
        let line = line.split('#').next().unwrap_or_default().replace(' ', "");
        line.contains("=\"*\"")
    };
    let problem = |line: &str| format!("{manifest}: any version is accepted: {}", line.trim());
    text.lines().filter(any).map(problem).collect()
}

impl Rules {
    fn parse(text: &str) -> Result<Self, String> {
        let licences = text.split_once("[licenses]").map(|(_, rest)| rest);
        let licences = licences.and_then(|rest| rest.split("\n[").next());
        let licences: Vec<&str> = licences.into_iter().flat_map(str::lines).collect();
        let mut rules = Self::default();
        let mut inside = false;
        for line in licences.iter().map(|line| line.trim()).filter(|line| !line.starts_with('#')) {
            if let Some(exception) = line.strip_prefix("{ crate = ") {
                let mut words = quoted(exception);
                let name = words.next().ok_or("deny.toml: an exception without a crate")?;
                rules.exceptions.entry(name).or_default().extend(words);
            } else if line.starts_with("allow = [") || inside {
                rules.allowed.extend(quoted(line));
                inside = !line.contains(']');
            }
        }
        if rules.allowed.is_empty() {
            return Err("deny.toml: no allowed licences in [licenses]".into());
        }
        Ok(rules)
    }

    /// The packages whose licence is not allowed.
    fn refused(&self, manifest: &str, packages: &BTreeMap<String, String>) -> Vec<String> {
        let refused = |(package, licence): (&String, &String)| {
            let own = self.exceptions.get(package.split(' ').next().unwrap_or_default());
            let allowed =
                |one: &str| self.allowed.contains(one) || own.is_some_and(|own| own.contains(one));
            let holds =
                Expression::new(licence).is_some_and(|mut expression| expression.holds(&allowed));
            let licence = if licence.is_empty() { "none" } else { licence };
            (!holds).then(|| format!("{manifest}: {package} has the licence {licence}"))
        };
        packages.iter().filter_map(refused).collect()
    }
}

/// The words in quotes on a line.
fn quoted(line: &str) -> impl Iterator<Item = String> {
    line.split('"').skip(1).step_by(2).map(str::to_owned)
}

/// A licence expression of SPDX, and the place up to which it is read.
struct Expression {
    words: Vec<String>,
    at: usize,
}

impl Expression {
    /// Splits an expression into words; `None` if it is empty. Older packages write `/` for OR.
    fn new(text: &str) -> Option<Self> {
        let text = text.replace('(', " ( ").replace(')', " ) ").replace('/', " OR ");
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        (!words.is_empty()).then_some(Self { words, at: 0 })
    }

    /// Returns true if the whole expression holds where `allowed` says which licences do.
    fn holds(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        let holds = self.any(allowed);
        holds && self.at == self.words.len()
    }

    fn next_is(&mut self, word: &str) -> bool {
        let is = self.words.get(self.at).is_some_and(|next| next == word);
        self.at += usize::from(is);
        is
    }

    fn any(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        let mut holds = self.all(allowed);
        while self.next_is("OR") {
            holds |= self.all(allowed);
        }
        holds
    }

    fn all(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        let mut holds = self.one(allowed);
        while self.next_is("AND") {
            holds &= self.one(allowed);
        }
        holds
    }

    fn one(&mut self, allowed: &dyn Fn(&str) -> bool) -> bool {
        if self.next_is("(") {
            let holds = self.any(allowed);
            return self.next_is(")") && holds;
        }
        let Some(mut licence) = self.words.get(self.at).cloned() else { return false };
        self.at += 1;
        if self.next_is("WITH") {
            licence += " WITH ";
            licence += self.words.get(self.at).map_or("", String::as_str);
            self.at += 1;
        }
        allowed(&licence)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_expression_holds_as_spdx_says() {
        let holds = |text: &str| {
            let allowed = |one: &str| ["MIT", "Zlib", "Apache-2.0"].contains(&one);
            Expression::new(text).is_some_and(|mut expression| expression.holds(&allowed))
        };
        for text in [
            "MIT",
            "MIT OR GPL-3.0-only",
            "GPL-3.0-only/MIT",
            "(GPL-3.0 OR MIT) AND Zlib",
            "Apache-2.0 WITH LLVM-exception OR MIT",
            "GPL-3.0 AND X OR MIT",
        ] {
            assert!(holds(text), "{text}");
        }
        for text in [
            "",
            "GPL-3.0-only",
            "MIT AND GPL-3.0-only",
            "(MIT OR X) AND GPL-3.0",
            "Apache-2.0 WITH LLVM-exception",
            "(MIT",
            "MIT Zlib",
        ] {
            assert!(!holds(text), "{text}");
        }
    }

    #[test]
    fn the_rules_of_the_repository_are_read_and_refuse_what_they_do_not_name() {
        let rules = Rules::parse(&read("deny.toml").unwrap()).unwrap();
        assert!(rules.allowed.contains("MIT") && rules.allowed.contains("Unicode-3.0"));
        assert!(!rules.allowed.contains("MPL-2.0"));
        let of = |text: &str| rules.refused("Cargo.toml", &parse_packages(text));
        assert!(
            of("serialport v4.0.0 | MPL-2.0 |\nx v1.0.0 (proc-macro) | MIT | (*)\n\n").is_empty()
        );
        let problems =
            of("x v1.0.0 | MPL-2.0 |\ny v2.0.0 (/a/b) | |\nz v1.0.0 | GPL-3.0-only | (*)");
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert_eq!(problems[1], "Cargo.toml: y v2.0.0 has the licence none");
        assert!(Rules::parse("[licenses]\n[bans]\nallow = [\"MIT\"]").is_err());
    }

    #[test]
    fn foreign_sources_and_any_versions_are_found() {
        let good = "name = \"a\"\nversion = \"1.0.0\"\nsource = \"registry+https://github.com/rust-lang/crates.io-index\"\n";
        let lock = format!(
            "version = 4\n\n[[package]]\n{good}checksum = \"00\"\n\n[[package]]\nname = \"own\"\n\n\
             [[package]]\n{good}\n[[package]]\nname = \"b\"\nsource = \"git+https://example.org/b\"\n"
        );
        let problems = foreign("Cargo.lock", &lock);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(
            problems[0].contains("a has no checksum") && problems[1].contains("b comes from git")
        );
        let manifest = "a = \"1\"\nb = \"*\" # why\nc = { version = \"*\" }\n# d = \"*\"\ne = { path = \"e\" }";
        assert_eq!(wildcards("Cargo.toml", manifest).len(), 2);
    }
}

//! The four packages as a registry gets them: checks what they hold, their size, and that they
//! build.

use crate::manifests;
use crate::run::{capture, root, run, target_dir};
use std::fs;
use std::path::PathBuf;
use std::process::Command;

/// A package, the files it must hold besides its sources, and its largest size.
struct Package {
    name: &'static str,
    /// Files without which examples, documentation or licence would be incomplete.
    holds: &'static [&'static str],
    /// Every file name in the package must begin with one of these.
    only: &'static [&'static str],
    /// Limit in compressed bytes. It is far above the real size, so it finds only what slips in by
    /// mistake.
    most: u64,
}

const PACKAGES: [Package; 4] = [
    Package {
        name: "rebearing",
        holds: &[
            "src/lib.rs",
            "README.md",
            "LICENSE-MIT",
            "LICENSE-APACHE",
            "docs/alarm.md",
            "tests/golden/model-v1.rbm",
            "tests/golden/model-v1-i16.rbm",
        ],
        only: &["src/", "docs/", "tests/golden/", "memory.x"],
        most: 400_000,
    },
    Package {
        name: "rebearing-verify",
        holds: &["src/lib.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE"],
        only: &["src/"],
        most: 50_000,
    },
    Package {
        name: "rebearing-host",
        holds: &["src/lib.rs", "build.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE"],
        only: &["src/", "build.rs"],
        most: 600_000,
    },
    Package {
        name: "rebearing-cli",
        holds: &["src/main.rs", "README.md", "LICENSE-MIT", "LICENSE-APACHE"],
        only: &["src/"],
        most: 300_000,
    },
];
/// Allowed in every package: cargo's own additions, and files from the root.
const COMMON: [&str; 5] = ["Cargo.", ".cargo_vcs_info.json", "README", "LICENSE", "CHANGELOG"];

/// Checks what is in the packages, without building them.
pub(crate) fn check() -> Result<(), String> {
    for package in &PACKAGES {
        package.look_into()?;
    }
    cargo_package("the packages", &["--no-verify"])?;
    let version = manifests::value(manifests::ALL[0], "version")?;
    for package in &PACKAGES {
        let file = folder().join(format!("{}-{version}.crate", package.name));
        let size = fs::metadata(&file).map_err(|error| format!("{}: {error}", file.display()))?;
        let size = size.len();
        println!("{} {version}: {} kB", package.name, size / 1000);
        if size > package.most {
            return Err(format!("{} is larger than {} bytes", package.name, package.most));
        }
    }
    Ok(())
}

/// As [`check`], and also builds the packages from their own files, as a registry's user would.
pub(crate) fn verify() -> Result<(), String> {
    check()?;
    cargo_package("the packages, built from what is in them", &[])
}

fn cargo_package(what: &str, options: &[&str]) -> Result<(), String> {
    let mut cargo = Command::new("cargo");
    // All at once: they depend on one another, and no registry has any of them.
    cargo.current_dir(root()).args(["package", "--quiet", "--locked", "--allow-dirty"]);
    for package in &PACKAGES {
        cargo.args(["--package", package.name]);
    }
    run(what, cargo.args(options))
}

fn folder() -> PathBuf {
    target_dir("package", "target/package")
}

impl Package {
    fn look_into(&self) -> Result<(), String> {
        let Self { name, .. } = self;
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root()).args(["package", "--list", "--allow-dirty", "--package", name]);
        let list = capture(&mut cargo).ok_or(format!("{name}: `cargo package --list` failed"))?;
        self.judge(&list.lines().collect::<Vec<_>>())
    }

    fn judge(&self, files: &[&str]) -> Result<(), String> {
        let Self { name, holds, only, .. } = self;
        if let Some(missing) = holds.iter().find(|file| !files.contains(file)) {
            return Err(format!("{name}: {missing} is not in the package; see `include`"));
        }
        let expected = |file: &str| only.iter().chain(&COMMON).any(|start| file.starts_with(start));
        match files.iter().find(|file| !expected(file)) {
            Some(file) => Err(format!("{name}: {file} is in the package; see `include`")),
            None => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::PACKAGES;

    #[test]
    fn what_is_missing_and_what_is_too_much_is_named() {
        for package in &PACKAGES {
            let mut files = package.holds.to_vec();
            assert_eq!(package.judge(&files), Ok(()));
            files.push("secrets.txt");
            assert!(package.judge(&files).unwrap_err().contains("secrets.txt"));
            let error = package.judge(&files[1..]).unwrap_err();
            assert!(error.contains(package.holds[0]), "{error}");
        }
    }
}

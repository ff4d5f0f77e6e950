//! Builds with the oldest compiler that the manifests promise.

use crate::manifests;
use crate::run::{capture, root, run, target_dir};
use crate::toolchain::OLDEST;
use std::process::Command;

/// Compiles the workspace with the compiler that `rust-version` states, if there is one.
pub(crate) fn check() -> Result<(), String> {
    let stated = manifests::value(manifests::ALL[0], "rust-version")?;
    for manifest in manifests::ALL {
        let own = manifests::value(manifest, "rust-version")?;
        if own != stated {
            return Err(format!("{manifest}: rust-version is {own}, the workspace's {stated}"));
        }
    }
    let (major, minor) = OLDEST;
    if stated != format!("{major}.{minor}") {
        return Err(format!("rust-version is {stated}, toolchain.rs looks for {major}.{minor}"));
    }

    let check = ["check", "--locked", "--workspace", "--lib", "--bins"];
    let mut cargo = Command::new("cargo");
    cargo.current_dir(root());
    if is(&stated, capture(Command::new("rustc").arg("--version")).as_deref()) {
        return run(&format!("Rust {stated}, the active compiler"), cargo.args(check));
    }
    let installed = Command::new("rustup").args(["run", &stated, "rustc", "--version"]).output();
    let installed = installed.ok().filter(|output| output.status.success());
    let version = installed.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
    if is(&stated, version.as_deref()) {
        // A folder of its own: two compilers in one folder would rebuild everything in turn.
        cargo.arg(format!("+{stated}")).args(check).arg("--target-dir");
        return run(&format!("Rust {stated}"), cargo.arg(target_dir("msrv", "target/msrv")));
    }
    eprintln!(
        "NOT CHECKED: rust-version {stated} is stated, but neither is the active compiler of that \
         version nor has rustup one; to check it: rustup toolchain install {stated}"
    );
    Ok(())
}

/// Returns whether `rustc --version` printed a release of `stated`: `rustc 1.95.0 (…)` is one of
/// 1.95.
fn is(stated: &str, printed: Option<&str>) -> bool {
    let version = printed.and_then(|text| text.split(' ').nth(1));
    version.and_then(|version| version.strip_prefix(stated)).is_some_and(|rest| {
        // 1.95 is not 1.9, and a beta or nightly is not the release.
        rest.starts_with('.') && !rest.contains('-')
    })
}

#[cfg(test)]
mod tests {
    use super::is;

    #[test]
    fn only_a_release_of_the_stated_version_counts() {
        assert!(is("1.95", Some("rustc 1.95.0 (59807616e 2026-04-14)")));
        for other in ["rustc 1.96.0 (x)", "rustc 1.950.0 (x)", "rustc 1.95.0-nightly (x)", "rustc"]
        {
            assert!(!is("1.95", Some(other)), "{other}");
        }
        assert!(!is("1.95", None));
    }
}

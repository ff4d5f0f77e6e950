//! The proof that the device crate cannot panic: a binary that uses all of it links with
//! `panic-never`, whose panic handler refers to a symbol that does not exist.

use crate::firmware;
use crate::run::run_and_search;
use crate::toolchain::{TARGETS, Thumb};

/// The binary that uses the whole public API of the device crate.
pub(crate) const BINARY: &str = "panic-free";

/// What the linker says when it misses the symbol.
const EVIDENCE: &str = "error(panic-never)";

/// Links the binary for every target.
pub(crate) fn check(thumb: Thumb) -> Result<(), String> {
    for target in TARGETS {
        let what = format!("{BINARY} for {target}");
        let mut cargo = thumb.build(firmware::MANIFEST, target, &firmware::target_dir());
        cargo.args(["--release", "--bin", BINARY]);
        run_and_search(&what, &mut cargo, EVIDENCE).map_err(|failure| match failure {
            (error, false) => error,
            (error, true) => format!(
                "a panic is reachable from the public device API: the compiler could not rule \
                 out a panic of an index, a slice range, an unwrap, a division or the like \
                 ({error})"
            ),
        })?;
    }
    Ok(())
}

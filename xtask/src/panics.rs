//! The proof that the device crate cannot panic: a binary that uses all of it links with
//! `panic-never`, whose panic handler refers to a symbol that does not exist.

use crate::firmware;
use crate::run::run_and_search;
use crate::toolchain::{TARGETS, Thumb};

/// The binary that uses the whole public API of the device crate.
pub(crate) const BINARY: &str = "panic-free";

/// The same for the integer line, which would not fit beside it in a small flash.
const BINARIES: [&str; 2] = [BINARY, "panic-free-integer"];

/// What the linker says when it misses the symbol.
const EVIDENCE: &str = "error(panic-never)";

/// Links the binaries for every target.
pub(crate) fn check(thumb: Thumb) -> Result<(), String> {
    let links = BINARIES.into_iter().flat_map(|name| TARGETS.map(|target| (name, target)));
    for (name, target) in links {
        let what = format!("{name} for {target}");
        let mut cargo = thumb.build(firmware::MANIFEST, target, &firmware::target_dir());
        // All of the API together is more than the smallest board has flash for.
        cargo.env("FIRMWARE_MEMORY", "mps2-an386.x").args(["--release", "--bin", name]);
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

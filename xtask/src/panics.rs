//! Proves that the device crate cannot panic. A binary that uses all of the crate links with
//! `panic-never`, which has a panic handler that refers to a symbol that does not exist.

use crate::firmware;
use crate::run::run_and_search;
use crate::toolchain::{M4F, M33F, TARGETS, Thumb};

/// The binary that uses the whole public API of the device crate.
pub(crate) const BINARY: &str = "panic-free";

/// Linked in addition: the targets with kernels that are not the default, and their features.
const KERNELS: [(&str, &str); 2] = [(M4F, "asm,dsp"), (M33F, "asm,dsp")];

/// The linker's message when the symbol is missing.
const EVIDENCE: &str = "error(panic-never)";

/// Links the binary for every target.
pub(crate) fn check(thumb: Thumb) -> Result<(), String> {
    for (target, features) in TARGETS.map(|target| (target, "")).into_iter().chain(KERNELS) {
        let what = format!("{BINARY} for {target} {features}");
        let mut cargo = thumb.build(firmware::MANIFEST, target, &firmware::target_dir());
        // The whole API together needs more flash than the smallest board has.
        cargo.env("FIRMWARE_MEMORY", "mps2-an386.x").args(["--release", "--bin", BINARY]);
        cargo.args(["--features", features]);
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

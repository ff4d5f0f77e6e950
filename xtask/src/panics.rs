//! Proves that the device crate cannot panic. A binary that uses all of the crate links with
//! `panic-never`, which has a panic handler that refers to a symbol that does not exist.

use crate::firmware;
use crate::run::run_and_search;
use crate::toolchain::{M4F, M33F, TARGETS, Thumb};

/// The binary that uses the whole public API of the device crate.
pub(crate) const BINARY: &str = "panic-free";

/// As [`BINARY`], for the integer line. Both in one binary would not fit in a small flash.
const INTEGER_BINARY: &str = "panic-free-integer";

/// Linked in addition to each binary for each target: the kernels that are not the default.
const KERNELS: [(&str, &str, &str); 4] = [
    (BINARY, M4F, "asm"),
    (BINARY, M33F, "asm"),
    (INTEGER_BINARY, M4F, "dsp"),
    (INTEGER_BINARY, M33F, "dsp"),
];

/// The linker's message when the symbol is missing.
const EVIDENCE: &str = "error(panic-never)";

/// Links the binaries for every target.
pub(crate) fn check(thumb: Thumb) -> Result<(), String> {
    let plain = [BINARY, INTEGER_BINARY].into_iter();
    let plain = plain.flat_map(|name| TARGETS.map(|target| (name, target, "")));
    for (name, target, features) in plain.chain(KERNELS) {
        let what = format!("{name} for {target} {features}");
        let mut cargo = thumb.build(firmware::MANIFEST, target, &firmware::target_dir());
        // The whole API together needs more flash than the smallest board has.
        cargo.env("FIRMWARE_MEMORY", "mps2-an386.x").args(["--release", "--bin", name]);
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

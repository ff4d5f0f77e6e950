//! Damaged model files and frames: on the host, and on an emulated 32-bit core with overflow checks.

use crate::consent::{self, Need};
use crate::emulation::{self, Machine};
use crate::run::{root, run, target_dir};
use crate::toolchain::{M4F, Thumb};
use crate::{firmware, qemu};
use std::process::Command;
use std::time::Instant;

/// The manifest of the fuzz crate.
pub(crate) const MANIFEST: &str = "fuzz/Cargo.toml";

/// How much to try.
struct Amount {
    /// Mutated files on the host, and as many frames.
    host: &'static str,
    /// Command lines of `fuzz-32`: the number of random files, and the seed. The files with edges
    /// come on top.
    device: &'static [&'static [&'static str]],
}

/// The share of `cargo xtask test`: some 20 s in all.
const SHORT: Amount = Amount { host: "500000", device: &[&["fuzz-32", "5000", "1"]] };
/// The long run: half an hour.
const LONG: Amount = Amount {
    host: "50000000",
    // Each below the time limit of an emulation.
    device: &[
        &["fuzz-32", "400000", "2"],
        &["fuzz-32", "400000", "3"],
        &["fuzz-32", "400000", "4"],
        &["fuzz-32", "400000", "5"],
    ],
};

/// A step of `cargo xtask test`.
pub(crate) fn check() -> Result<(), String> {
    fuzz(&SHORT)
}

/// `cargo xtask fuzz`.
pub(crate) fn long() -> Result<(), String> {
    let needs: Vec<Need> = qemu::need().into_iter().chain(Thumb::need(&[M4F])).collect();
    consent::settle(&needs)?;
    fuzz(&LONG)
}

fn fuzz(amount: &Amount) -> Result<(), String> {
    let mutations =
        [("mutate", "mutated model files"), ("mutate-bus", "mutated frames of the bus")];
    for (binary, what) in mutations {
        let mut cargo = Command::new("cargo");
        cargo.current_dir(root()).args(["run", "--locked", "--release", "--bin", binary]);
        cargo.args(["--manifest-path", MANIFEST, "--target-dir"]);
        cargo.arg(target_dir("fuzz", "fuzz/target"));
        run(what, cargo.args(["--", amount.host]))?;
    }

    let elf = firmware::build_checked(Thumb::for_targets(&[M4F])?, "fuzz-32", M4F)?;
    let emulator = qemu::find_or_install()?;
    for words in amount.device {
        let machine = Machine { name: "mps2-an386", file: None, words };
        eprintln!("==> {} on QEMU's {}", words.join(" "), machine.name);
        let started = Instant::now();
        eprint!("{}", emulation::run(&emulator, &machine, &elf)?);
        eprintln!("    {:.1} s", started.elapsed().as_secs_f64());
    }
    Ok(())
}

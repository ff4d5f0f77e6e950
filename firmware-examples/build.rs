//! Puts the board's memory.x where the linker looks, and asks for cortex-m-rt's linker script.
//!
//! Here rather than in rustflags, so that the flags of whoever calls cargo cannot displace it.

use std::path::PathBuf;
use std::{env, error, fs};

/// What differs from board to board.
struct Board {
    memory: &'static str,
    core: &'static str,
    /// The clock of `SysTick`, which QEMU takes from the board.
    megahertz: &'static str,
    /// Whether it has a floating-point unit.
    fpu: bool,
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let board = board(&env::var("TARGET")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // What is linked and never run may ask for more memory than the board has.
    println!("cargo::rerun-if-env-changed=FIRMWARE_MEMORY");
    let file = env::var("FIRMWARE_MEMORY").unwrap_or_else(|_| board.memory.into());
    let memory = PathBuf::from("memory").join(file);
    fs::copy(&memory, out.join("memory.x"))?;
    println!("cargo::rerun-if-changed={}", memory.display());
    println!("cargo::rustc-env=BOARD_CORE={}", board.core);
    println!("cargo::rustc-env=BOARD_MEGAHERTZ={}", board.megahertz);
    // What runs f32 models is left out without one.
    println!("cargo::rustc-check-cfg=cfg(fpu)");
    if board.fpu {
        println!("cargo::rustc-cfg=fpu");
    }
    // Not `rustc-link-search`, which the boards' binaries would have too: they have a memory.x of
    // their own. GNU ld looks only in what comes before the script.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-env-changed=BENCH_EMLEARN");
    if let Ok(object) = env::var("BENCH_EMLEARN") {
        println!("cargo::rustc-link-arg-bin=bench-emlearn={object}");
    }
    // Sections on their own pages would leave holes between vector table and code.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    // Without a word from outside, defmt would log errors only.
    println!("cargo::rerun-if-env-changed=DEFMT_LOG");
    println!("cargo::rustc-env=DEFMT_LOG={}", env::var("DEFMT_LOG").unwrap_or("info".into()));
    Ok(())
}

/// The board that a target is run on; the host's own, for clippy, counts as the first.
fn board(target: &str) -> Board {
    let (memory, core, megahertz, fpu) = match target {
        "thumbv6m-none-eabi" => ("microbit.x", "cortex-m0", "16", false),
        "thumbv8m.main-none-eabihf" => ("mps2-an505.x", "cortex-m33", "20", true),
        _ => ("mps2-an386.x", "cortex-m4f", "25", true),
    };
    Board { memory, core, megahertz, fpu }
}

//! Puts the board's memory.x where the linker looks, and asks for cortex-m-rt's linker script.
//!
//! They are set here and not in rustflags, so the caller's own cargo flags cannot replace them.

use std::path::PathBuf;
use std::{env, error, fs};

/// The properties in which boards differ.
struct Board {
    memory: &'static str,
    core: &'static str,
    /// The clock of `SysTick`, which QEMU takes from the board.
    megahertz: &'static str,
    /// True if it has a floating-point unit.
    fpu: bool,
}

fn main() -> Result<(), Box<dyn error::Error>> {
    let board = board(&env::var("TARGET")?);
    let out = PathBuf::from(env::var("OUT_DIR")?);
    // A binary that is linked but never run may ask for more memory than the board has.
    println!("cargo::rerun-if-env-changed=FIRMWARE_MEMORY");
    let file = env::var("FIRMWARE_MEMORY").unwrap_or_else(|_| board.memory.into());
    let memory = PathBuf::from("memory").join(file);
    fs::copy(&memory, out.join("memory.x"))?;
    println!("cargo::rerun-if-changed={}", memory.display());
    println!("cargo::rustc-env=BOARD_CORE={}", board.core);
    println!("cargo::rustc-env=BOARD_MEGAHERTZ={}", board.megahertz);
    // Without an FPU, the code for f32 models is left out.
    println!("cargo::rustc-check-cfg=cfg(fpu)");
    if board.fpu {
        println!("cargo::rustc-cfg=fpu");
    }
    // Not `rustc-link-search`: that would also apply to the boards' binaries, which have their own
    // memory.x. GNU ld searches only the paths given before the script.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    println!("cargo::rerun-if-env-changed=BENCH_EMLEARN");
    if let Ok(object) = env::var("BENCH_EMLEARN") {
        println!("cargo::rustc-link-arg-bin=bench-emlearn={object}");
    }
    // Page-aligned sections would leave holes between the vector table and the code.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    // Without DEFMT_LOG, defmt would log errors only.
    println!("cargo::rerun-if-env-changed=DEFMT_LOG");
    println!("cargo::rustc-env=DEFMT_LOG={}", env::var("DEFMT_LOG").unwrap_or("info".into()));
    Ok(())
}

/// The board that runs a target's binaries. The host's own target, for clippy, counts as the first.
fn board(target: &str) -> Board {
    let (memory, core, megahertz, fpu) = match target {
        "thumbv6m-none-eabi" => ("microbit.x", "cortex-m0", "16", false),
        "thumbv8m.main-none-eabihf" => ("mps2-an505.x", "cortex-m33", "20", true),
        _ => ("mps2-an386.x", "cortex-m4f", "25", true),
    };
    Board { memory, core, megahertz, fpu }
}

//! Puts the board's memory.x where the linker looks, and asks for the linker scripts.

use std::path::PathBuf;
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::copy("memory.x", out.join("memory.x"))?;
    println!("cargo::rerun-if-changed=memory.x");
    // GNU ld searches only the paths given before the scripts.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    for script in ["link.x", "defmt.x"] {
        println!("cargo::rustc-link-arg-bins=-T{script}");
    }
    // Page-aligned sections would leave holes between the vector table and the code.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    // Without DEFMT_LOG, defmt would log errors only.
    println!("cargo::rerun-if-env-changed=DEFMT_LOG");
    println!("cargo::rustc-env=DEFMT_LOG={}", env::var("DEFMT_LOG").unwrap_or("info".into()));
    Ok(())
}

//! Puts the project's memory.x where the linker looks, and asks for the linker scripts.

use std::path::PathBuf;
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    let memory = "../../../memory.x";
    fs::copy(memory, out.join("memory.x"))?;
    println!("cargo::rerun-if-changed={memory}");
    // The public key whose models the board takes.
    println!("cargo::rerun-if-env-changed=REBEARING_KEY");
    let key = env::var("REBEARING_KEY").unwrap_or("nobody.pub".into());
    fs::copy(&key, out.join("key.pub")).map_err(|error| format!("{key}: {error}"))?;
    println!("cargo::rerun-if-changed={key}");
    // GNU ld searches only the paths given before the scripts.
    println!("cargo::rustc-link-arg-bins=-L{}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    // Only these binaries log through defmt.
    for binary in ["stm32f405", "stm32f405-signed"] {
        println!("cargo::rustc-link-arg-bin={binary}=-Tdefmt.x");
    }
    // Page-aligned sections would leave holes between the vector table and the code.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    // Without DEFMT_LOG, defmt would log errors only.
    println!("cargo::rerun-if-env-changed=DEFMT_LOG");
    println!("cargo::rustc-env=DEFMT_LOG={}", env::var("DEFMT_LOG").unwrap_or("info".into()));
    Ok(())
}

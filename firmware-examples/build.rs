//! Puts memory.x where the linker looks, and asks for cortex-m-rt's linker script.
//!
//! Here rather than in rustflags, so that the flags of whoever calls cargo cannot displace it.

use std::path::PathBuf;
use std::{env, error, fs};

fn main() -> Result<(), Box<dyn error::Error>> {
    let out = PathBuf::from(env::var("OUT_DIR")?);
    fs::copy("memory.x", out.join("memory.x"))?;
    println!("cargo::rerun-if-changed=memory.x");
    println!("cargo::rustc-link-search={}", out.display());
    println!("cargo::rustc-link-arg-bins=-Tlink.x");
    // Sections on their own pages would leave holes between vector table and code.
    println!("cargo::rustc-link-arg-bins=--nmagic");
    Ok(())
}

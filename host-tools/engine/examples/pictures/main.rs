//! Draws the pictures of docs/ from simulated machines: `cargo xtask pictures`.
//!
//! Everything random has a seed, so every run gives the same bytes. `tests/report/pictures.rs` compares
//! them with the committed files.

mod pictures;

use std::path::Path;

use anyhow::{Context, Result};

fn main() -> Result<()> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/pictures");
    std::fs::create_dir_all(&folder).context("docs/pictures")?;
    for (name, picture) in pictures::all()? {
        let file = folder.join(name);
        std::fs::write(&file, &picture).with_context(|| file.display().to_string())?;
        println!("{name}: {} kB", picture.len().div_ceil(1000));
    }
    Ok(())
}

//! Runs docs/tutorial.md as it is written: every `sh` block in one folder. Every `text` block must
//! match the output of the block before it.
//!
//! The run needs QEMU and the board's ELF file, so a plain `cargo test` leaves it out;
//! `cargo xtask test tutorial` provides both.

#![cfg(target_os = "linux")]

use std::fs;
use std::process::Command;

use crate::probe::write_probe_rs;

const TUTORIAL: &str = include_str!("../../../../docs/tutorial.md");
/// The output of a board over RTT.
const TOUR: &str = concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt"
);

/// Returns the fenced blocks in order: language and lines.
fn blocks() -> Vec<(&'static str, Vec<&'static str>)> {
    let mut blocks = Vec::new();
    let mut lines = TUTORIAL.lines();
    while let Some(line) = lines.next() {
        if let Some(language) = line.strip_prefix("```") {
            blocks.push((language, lines.by_ref().take_while(|line| *line != "```").collect()));
        }
    }
    blocks
}

#[test]
fn every_step_is_there() {
    let commands: Vec<&str> =
        blocks().into_iter().filter(|(language, _)| *language == "sh").flat_map(|b| b.1).collect();
    for step in ["manifest", "fit", "adapt", "inspect", "predict", "emulate", "flash", "watch"] {
        let start = format!("rebearing {step} ");
        assert!(commands.iter().any(|line| line.starts_with(&start)), "{step}");
    }
    let languages = blocks().into_iter().map(|(language, _)| language);
    assert!(languages.into_iter().all(|l| ["sh", "text", "console"].contains(&l)));
}

#[test]
#[ignore = "wants QEMU and the board's firmware: cargo xtask test tutorial"]
fn every_command_does_what_the_page_says() {
    let elf = std::env::var_os("BOARD_ELF").expect("cargo xtask test tutorial names the file");
    let folder = tempfile::tempdir().unwrap();
    let programs = tempfile::tempdir().unwrap();
    fs::copy(elf, folder.path().join("sensor.elf")).unwrap();
    fs::write(folder.path().join("memory"), vec![0xff; 0x10_0000]).unwrap();
    let attach = format!("[ \"$1\" = attach ] && exec cat '{TOUR}'");
    write_probe_rs(programs.path(), &folder.path().join("memory"), &attach);
    let rebearing = env!("CARGO_BIN_EXE_rebearing");
    std::os::unix::fs::symlink(rebearing, programs.path().join("rebearing")).unwrap();
    let path = std::env::var("PATH").unwrap();
    let path = format!("{}:{path}", programs.path().display());

    let mut printed = String::new();
    for (language, lines) in blocks() {
        if language == "text" {
            for line in lines {
                assert!(
                    printed.lines().any(|found| found == line),
                    "{line:?} is not in\n{printed}"
                );
            }
            continue;
        }
        if language != "sh" {
            continue;
        }
        printed.clear();
        for line in lines {
            let mut shell = Command::new("bash");
            shell.args(["-euo", "pipefail", "-c", line]);
            let output = shell.current_dir(&folder).env("PATH", &path).output().unwrap();
            let errors = String::from_utf8_lossy(&output.stderr);
            // This computer may lack programs that other steps need. `doctor` may say so with exit
            // code 1.
            let allowed = i32::from(line == "rebearing doctor");
            assert!(output.status.code().is_some_and(|code| code <= allowed), "{line}\n{errors}");
            println!("$ {line}\n{}", String::from_utf8_lossy(&output.stdout));
            printed.push_str(&String::from_utf8_lossy(&output.stdout));
        }
    }
    let file = |name: &str| fs::read(folder.path().join(name)).unwrap();
    // Sector 10 holds the model, as in memory.x. The sectors before it are unchanged.
    let (model, memory) = (file("motor-b.rbm"), file("memory"));
    assert_eq!(memory[0xc_0000..][..model.len()], model);
    assert!(memory[..0xc_0000].iter().all(|byte| *byte == 0xff));
    for page in ["motor-b.html", "tuesday.html"] {
        assert!(file(page).starts_with(b"<!DOCTYPE html>"), "{page}");
    }
}

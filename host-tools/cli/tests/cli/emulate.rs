//! The calls that `rebearing emulate` and `demo` make to cargo, recorded by a stand-in for cargo.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use crate::probe::write_program;
use crate::workplace::Workplace;

/// The golden model: 256 samples per segment, at 20 kHz.
const GOLDEN: &[u8] = include_bytes!("../../../../tests/golden/model-v1.rbm");

/// A folder with a model, a recording, and a `cargo` that records its calls. It fails, like a cargo
/// that may not install anything.
struct Desk(Workplace);

impl Desk {
    fn new() -> Self {
        let desk = Self(Workplace::new());
        desk.0.write("model.rbm", GOLDEN);
        let samples = (0..4000).map(|i| ((i * i) % 977).to_string()).collect::<Vec<_>>().join("\n");
        desk.0.write("x.csv", format!("x\n{samples}\n"));
        let script = "echo \"$* in '$CARGO_TARGET_DIR'\" >> asked; pwd >> place; exit 2";
        let asked = desk.path("asked");
        let script = script.replace("asked", &asked.display().to_string());
        let script = script.replace("place", &desk.path("place").display().to_string());
        write_program(desk.0.path(), "cargo", &script);
        desk
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Runs the command from `program`. No variable tells it where to build, unless `variables`
    /// does.
    fn run(&self, program: &Path, words: &str, variables: &[(&str, &Path)]) -> Output {
        let mut command = Command::new(program);
        for variable in ["CARGO_TARGET_DIR", "CARGO_MANIFEST_DIR", "XDG_CACHE_HOME", "HOME"] {
            command.env_remove(variable);
        }
        command.env("CARGO", self.path("cargo")).envs(variables.iter().copied());
        command.args(words.split(' ')).current_dir(self.0.path()).output().expect("it runs")
    }

    /// Returns the last call to the stand-in.
    fn asked(&self) -> String {
        self.0.read("asked").lines().last().expect("a call").to_owned()
    }
}

const EMULATE: &str = "emulate --model model.rbm x.csv";

#[test]
fn emulate_installs_nothing_unless_told_and_demo_does() {
    let desk = Desk::new();
    let program = Path::new(env!("CARGO_BIN_EXE_rebearing"));
    let target = [("CARGO_TARGET_DIR", Path::new("/elsewhere"))];
    let output = desk.run(program, EMULATE, &target);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(said.contains("the emulated device is not available"), "{said}");
    assert_eq!(desk.asked(), "xtask firmware --json in '/elsewhere'");
    desk.run(program, &format!("{EMULATE} --yes"), &target);
    assert_eq!(desk.asked(), "xtask firmware --json --yes in '/elsewhere'");
    let output = desk.run(program, "demo", &target);
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(desk.asked(), "xtask firmware --json --yes in '/elsewhere'");
}

#[test]
fn an_installed_command_builds_in_the_users_cache() {
    let desk = Desk::new();
    let installed = desk.path("rebearing");
    fs::copy(env!("CARGO_BIN_EXE_rebearing"), &installed).expect("a copy");
    let (cache, home) = (desk.path("cache"), desk.path("home"));
    desk.run(&installed, EMULATE, &[("XDG_CACHE_HOME", &cache), ("HOME", &home)]);
    let folder = cache.join("rebearing");
    assert_eq!(desk.asked(), format!("xtask firmware --json in '{}'", folder.display()));
    desk.run(&installed, EMULATE, &[("HOME", &home)]);
    let folder = home.join(".cache/rebearing");
    assert_eq!(desk.asked(), format!("xtask firmware --json in '{}'", folder.display()));
    // Cargo runs the command from its checkout.
    let package = Path::new(env!("CARGO_MANIFEST_DIR"));
    desk.run(&installed, EMULATE, &[("HOME", &home), ("CARGO_MANIFEST_DIR", package)]);
    assert_eq!(desk.asked(), "xtask firmware --json in ''");
}

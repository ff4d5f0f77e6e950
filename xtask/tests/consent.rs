//! The programs that a task installs, and its question, on a machine of stand-ins: an apt-get that
//! notes its calls.

#![cfg(target_os = "linux")]

use std::fs;
use std::io::Write as _;
use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A folder of programs and a sysroot with everything but QEMU; `thumb` puts the targets into it.
struct Machine(PathBuf);

impl Machine {
    fn new(name: &str, thumb: bool) -> Self {
        let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name);
        let _ = fs::remove_dir_all(&folder);
        let machine = Self(folder);
        fs::create_dir_all(machine.path("bin")).unwrap();
        let sysroot = machine.path("sysroot");
        machine.program("rustc", &format!("echo {}", sysroot.display()));
        for target in ["thumbv6m-none-eabi", "thumbv7em-none-eabihf", "thumbv8m.main-none-eabihf"] {
            if thumb {
                fs::create_dir_all(sysroot.join("lib/rustlib").join(target).join("lib")).unwrap();
            }
        }
        // Builds nothing and tests nothing.
        machine.program("cargo", "exit 0");
        let bin = machine.path("bin");
        machine.program(
            "apt-get",
            &format!(
                "echo \"$*\" >> {calls}\necho '#!/bin/sh' > {bin}/qemu-system-arm",
                calls = machine.path("calls").display(),
                bin = bin.display()
            ),
        );
        symlink("/usr/bin/env", bin.join("env")).unwrap();
        machine
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.join(name)
    }

    fn program(&self, name: &str, script: &str) {
        let path = self.path("bin").join(name);
        fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        command.env("PATH", self.path("bin")).env("CARGO_TARGET_DIR", self.path("target"));
        command
    }

    fn xtask(&self, words: &[&str]) -> Output {
        self.command(env!("CARGO_BIN_EXE_xtask")).args(words).stdin(Stdio::null()).output().unwrap()
    }

    /// The calls of apt-get.
    fn calls(&self) -> String {
        fs::read_to_string(self.path("calls")).unwrap_or_default()
    }
}

fn errors(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
fn without_leave_nothing_is_installed_and_everything_missing_is_named() {
    let machine = Machine::new("refused", false);
    let output = machine.xtask(&["firmware", "--json"]);
    let said = errors(&output);
    assert_eq!(output.status.code(), Some(2), "{said}");
    assert!(output.stdout.is_empty());
    for part in [
        "sudo apt-get install qemu-system-arm",
        "rustup target add thumbv7em-none-eabihf thumbv6m-none-eabi",
        "--yes",
    ] {
        assert!(said.contains(part), "no {part} in {said}");
    }
    for task in [&["bench", "device"][..], &["size"], &["install"], &["report-test"], &["deny"]] {
        let output = machine.xtask(task);
        assert_eq!(output.status.code(), Some(2), "{task:?}: {}", errors(&output));
        assert!(errors(&output).contains("--yes"), "{task:?}");
    }
    assert_eq!(machine.calls(), "");
}

#[test]
fn with_yes_it_is_installed_after_it_was_said() {
    let machine = Machine::new("yes", true);
    let output = machine.xtask(&["firmware", "--json", "--yes"]);
    let said = errors(&output);
    assert!(output.status.success(), "{said}");
    assert!(String::from_utf8_lossy(&output.stdout).contains("bin/qemu-system-arm"));
    let (announced, installed) = (said.find("will be installed"), said.find("==> installing"));
    assert!(announced.is_some() && announced < installed, "{said}");
    assert!(machine.calls().contains("install --yes --no-remove"), "{}", machine.calls());
}

#[test]
fn test_sets_up_by_itself_and_says_so_first() {
    let machine = Machine::new("test", true);
    let output = machine.xtask(&["test", "device"]);
    let said = errors(&output);
    assert!(output.status.success(), "{said}");
    let (announced, step) = (said.find("will be installed:\n  qemu"), said.find("===== device"));
    assert!(announced.is_some() && announced < step, "{said}");
    assert!(machine.calls().contains("install --yes --no-remove"), "{}", machine.calls());
}

#[test]
fn on_a_terminal_it_asks() {
    for (answer, code) in [("n\n", 2), ("y\n", 0)] {
        let machine = Machine::new("asked", true);
        let program = env!("CARGO_BIN_EXE_xtask");
        // `script` makes a terminal.
        let mut script = machine.command("/usr/bin/script");
        script.args(["-qec", &format!("{program} firmware"), "/dev/null"]).env("SHELL", "/bin/sh");
        let script = script.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn();
        let Ok(mut child) = script else {
            eprintln!("SKIPPED: there is no `script` to make a terminal with");
            return;
        };
        child.stdin.take().unwrap().write_all(answer.as_bytes()).unwrap();
        let output = child.wait_with_output().unwrap();
        let shown = String::from_utf8_lossy(&output.stdout);
        assert!(shown.contains("Install it? [y/N]"), "{shown}");
        assert_eq!(output.status.code(), Some(code), "{shown}");
        assert_eq!(machine.calls().is_empty(), code == 2, "{shown}");
    }
}

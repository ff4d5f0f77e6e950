//! Debian and Ubuntu packages: finds what apt offers, and installs it.

use crate::run::{capture, on_path, run};
use std::path::Path;
use std::process::Command;
use std::{fs, io};

/// Returns the version that apt would install. Fetches the package lists if there are none.
pub(crate) fn candidate(package: &str) -> Option<String> {
    on_path("apt-cache")?;
    // A fresh container has no lists at all, so apt knows no package.
    if policy("apt").is_none() && update().is_err() {
        return None;
    }
    policy(package)
}

/// Installs `packages`. The error is one line that says what to install by hand.
pub(crate) fn install(packages: &[&str]) -> Result<(), String> {
    let names = packages.join(" ");
    if on_path("apt-get").is_none() {
        return Err(format!("please install {names} (no apt-get here to do it with)"));
    }
    let what = format!("installing {names}");
    // --no-remove: a test never removes anything of the user's.
    let arguments = ["install", "--yes", "--no-remove", "--no-install-recommends"];
    let attempt = || run(&what, apt_get(&arguments).args(packages));
    // Old lists name files that the mirror no longer has, so a failure is tried again with new
    // lists.
    let installed = attempt().or_else(|_| update().and_then(|()| attempt()));
    installed.map_err(|_| format!("please install by hand: sudo apt-get install {names}"))
}

/// Fetches `packages` and everything they need that is not installed, and unpacks it all below
/// `into`. This needs no rights and changes nothing in the system.
pub(crate) fn unpack(packages: &[&str], into: &Path) -> Result<(), String> {
    let text = |error: io::Error| error.to_string();
    fs::create_dir_all(into).map_err(text)?;
    let mut apt = Command::new("apt-get");
    apt.args(["install", "--simulate", "--no-install-recommends"]);
    let plan = capture(apt.args(packages)).ok_or("apt-get knows no way to install it")?;
    let needed = plan.lines().filter_map(|line| line.strip_prefix("Inst ")?.split(' ').next());
    let mut download = Command::new("apt-get");
    download.current_dir(into).args(["--quiet", "--quiet", "download"]).args(needed);
    let names = packages.join(" ");
    run(&format!("fetching {names}, to be used without installing it"), &mut download)?;
    for file in fs::read_dir(into).map_err(text)?.flatten().map(|entry| entry.path()) {
        if file.extension().is_some_and(|extension| extension == "deb") {
            capture(Command::new("dpkg-deb").arg("--extract").arg(&file).arg(into))
                .ok_or_else(|| format!("dpkg-deb cannot read {}", file.display()))?;
            fs::remove_file(&file).map_err(text)?;
        }
    }
    Ok(())
}

/// Fetches the package lists.
pub(crate) fn update() -> Result<(), String> {
    run("fetching apt's package lists", &mut apt_get(&["update"]))
}

/// Returns the candidate in the package lists at hand. apt's own entry shows that there are lists.
fn policy(package: &str) -> Option<String> {
    let text = capture(Command::new("apt-cache").args(["policy", package]))?;
    let mut lines = text.lines().map(str::trim);
    let version = lines.find_map(|line| line.strip_prefix("Candidate: "))?;
    // Without lists, an installed package is its own candidate, known only from dpkg's status.
    let offered = text.lines().any(|line| line.contains("://") || line.contains("file:"));
    (version != "(none)" && offered).then(|| version.to_owned())
}

fn apt_get(arguments: &[&str]) -> Command {
    let root = capture(Command::new("id").arg("-u")).is_some_and(|id| id == "0");
    let mut command = match on_path("sudo") {
        Some(sudo) if !root => {
            let mut command = Command::new(sudo);
            command.arg("env");
            command
        }
        _ => Command::new("env"),
    };
    // Another apt may be running (several tests may want the firmware at once): wait for it.
    command
        .args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "-qq", "-o", "DPkg::Lock::Timeout=600"])
        .args(arguments);
    command
}

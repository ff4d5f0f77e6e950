//! emlearn from PyPI, compiled for a board with arm-none-eabi-gcc.

use std::path::{Path, PathBuf};
use std::process::Command;

use super::boards::Board;
use crate::bench::python;
use crate::packages;
use crate::run::{capture, on_path, run, target_dir};
use crate::toolchain::{M0, M4F};

/// The release that the bench measures.
pub(super) const VERSION: &str = "0.23.2";

const GCC: &str = "arm-none-eabi-gcc";
const ASSEMBLER: &str = "arm-none-eabi-as";
/// The compiler and its standard library.
const GCC_PACKAGES: [&str; 2] = ["gcc-arm-none-eabi", "libnewlib-arm-none-eabi"];

/// emlearn's headers and a compiler for them. Both are fetched below the target directory if
/// missing.
pub(super) struct Emlearn {
    headers: PathBuf,
    gcc: PathBuf,
    /// Folder of an unpacked compiler's own headers and libraries.
    sysroot: Option<PathBuf>,
    objects: PathBuf,
}

impl Emlearn {
    pub(super) fn fetch() -> Result<Self, String> {
        let home = target_dir("bench-device", "target/bench-device");
        let headers = home.join(format!("emlearn-{VERSION}"));
        if !headers.join("emlearn/eml_mixture.h").is_file() {
            let mut pip = Command::new("python3");
            pip.args([
                "-m",
                "pip",
                "download",
                "--quiet",
                "--no-deps",
                "--disable-pip-version-check",
            ]);
            pip.arg("--dest").arg(&home).arg(format!("emlearn=={VERSION}"));
            run("emlearn from PyPI", &mut pip)?;
            let wheel = home.join(format!("emlearn-{VERSION}-py3-none-any.whl"));
            let mut unzip = Command::new("python3");
            run(
                "unpacking emlearn",
                unzip.args(["-m", "zipfile", "-e"]).arg(&wheel).arg(&headers),
            )?;
        }
        let (gcc, sysroot) = compiler()?;
        Ok(Self { headers, gcc, sysroot, objects: home })
    }

    /// Compiles the object file for `board`, including everything that it needs from the C library.
    pub(super) fn compile(&self, board: Board) -> Result<PathBuf, String> {
        let object = self.objects.join(format!("emlearn-{}.o", board.core));
        let machine: &[&str] = match board.target {
            M0 => &["-mcpu=cortex-m0"],
            M4F => &["-mcpu=cortex-m4", "-mfloat-abi=hard", "-mfpu=fpv4-sp-d16"],
            _ => &["-mcpu=cortex-m33", "-mfloat-abi=hard", "-mfpu=fpv5-sp-d16"],
        };
        let mut gcc = Command::new(&self.gcc);
        gcc.args(machine).args(["-mthumb", "-O3", "-r", "-nostdlib"]);
        gcc.arg("-I").arg(self.headers.join("emlearn")).arg(python::script("emlearn.c"));
        if let Some(sysroot) = &self.sysroot {
            let multilib = capture(
                Command::new(&self.gcc).args(machine).args(["-mthumb", "-print-multi-directory"]),
            );
            let multilib = multilib.ok_or("arm-none-eabi-gcc does not know its libraries")?;
            // Away from its place, the compiler does not find its assembler and linker. They were
            // either installed before, or unpacked with it.
            let unpacked = sysroot.join("usr/bin").join(ASSEMBLER);
            let assembler = on_path(ASSEMBLER).unwrap_or(unpacked);
            let prefix = assembler.to_string_lossy().trim_end_matches("as").to_owned();
            gcc.arg(format!("-B{prefix}"));
            gcc.arg("-isystem").arg(sysroot.join("usr/include/newlib"));
            gcc.arg("-L").arg(sysroot.join("usr/lib/arm-none-eabi/newlib").join(multilib));
        }
        gcc.args(["-lm", "-lc", "-lgcc", "-o"]).arg(&object);
        run(&format!("emlearn for {}", board.core), &mut gcc)?;
        Ok(object)
    }
}

/// Returns the compiler, and its root directory if it was unpacked and not installed.
fn compiler() -> Result<(PathBuf, Option<PathBuf>), String> {
    if let Some(installed) = on_path(GCC) {
        return Ok((installed, None));
    }
    let home = target_dir("gcc", "target/gcc");
    let unpacked = |home: &Path| home.join("usr/bin").join(GCC);
    if !unpacked(&home).is_file() {
        packages::unpack(&GCC_PACKAGES, &home)
            .map_err(|error| format!("please install gcc-arm-none-eabi ({error})"))?;
    }
    Ok((unpacked(&home), Some(home)))
}

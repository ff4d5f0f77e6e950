//! The linked firmware of every board: flashing it never erases a model, and flashing a model
//! never erases it.
//!
//! The tests need the boards' ELF files, so a plain `cargo test` leaves them out.
//! `cargo xtask test boards` builds the files and passes their paths.

use std::ops::Range;
use std::path::{Path, PathBuf};
use std::process::Command;

use object::LittleEndian;
use object::elf::{FileHeader32, PT_LOAD, ProgramHeader32};
use object::read::elf::{ElfFile, ProgramHeader};
use rebearing::Encoding;
use rebearing::model::Section;
use rebearing::update::DeviceId;
use rebearing_host::device::firmware::{Firmware, FirmwareError};
use rebearing_host::device::sectors::sector;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::model::file::seal;
use rebearing_host::model::on_disk::envelope_of;

/// For each chip: the MODEL region from its board's memory.x, and the start of its flash.
const BOARDS: [(&str, Range<u32>, u32); 2] = [
    ("STM32F405RG", 0x080C_0000..0x0810_0000, 0x0800_0000),
    ("nRF52840_xxAA", 0x000E_0000..0x0010_0000, 0),
];

fn elves() -> Vec<PathBuf> {
    let paths = std::env::var_os("BOARD_ELVES").expect("cargo xtask test boards names the files");
    let paths: Vec<PathBuf> = std::env::split_paths(&paths).collect();
    assert!(paths.len() >= BOARDS.len(), "{paths:?}");
    paths
}

fn board(firmware: &Firmware) -> &'static (&'static str, Range<u32>, u32) {
    let chip = firmware.descriptor.chip();
    BOARDS.iter().find(|board| board.0 == chip).expect("a board that is known")
}

/// Returns the address range of each load segment that has bytes, and the offset of its physical
/// address in the file.
fn load_segments(bytes: &[u8]) -> Vec<(Range<u32>, usize)> {
    let elf = ElfFile::<FileHeader32<LittleEndian>>::parse(bytes).expect("an ELF file");
    let table = u32::from_le_bytes(*bytes[0x1c..].first_chunk().unwrap()) as usize;
    let headers = elf.elf_program_headers().iter().enumerate();
    let loaded = headers.filter(|(_, header)| {
        header.p_type(LittleEndian) == PT_LOAD && header.p_filesz(LittleEndian) > 0
    });
    loaded
        .map(|(index, header)| {
            let start = header.p_paddr(LittleEndian);
            (start..start + header.p_filesz(LittleEndian), table + 32 * index + 12)
        })
        .collect()
}

#[test]
#[ignore = "needs the boards' firmware: cargo xtask test boards"]
fn no_load_segment_is_in_or_erased_with_the_model_region() {
    let mut chips = Vec::new();
    for path in elves() {
        let firmware = Firmware::read(&path).expect("a firmware that leaves its model alone");
        let (chip, model, flash) = board(&firmware);
        chips.push(*chip);
        assert_eq!(firmware.model_region, *model, "{}", path.display());
        assert_eq!(firmware.descriptor.slots, 2);
        // Each slot begins and ends at a sector boundary.
        let middle = model.start + model.len() as u32 / 2;
        for edge in [model.start, middle, model.end] {
            assert_eq!(sector(chip, edge).expect("a known chip").start, edge, "{edge:#x}");
        }
        let segments = load_segments(&std::fs::read(&path).unwrap());
        assert!(segments.iter().any(|(segment, _)| segment.start == *flash), "a vector table");
        for (segment, _) in segments {
            let first = sector(chip, segment.start).expect("in flash");
            let last = sector(chip, segment.end - 1).expect("in flash");
            let apart = last.end <= model.start || first.start >= model.end;
            assert!(apart, "{}: {segment:x?} and MODEL {model:x?}", path.display());
        }
    }
    for (chip, ..) in &BOARDS {
        assert!(chips.contains(chip), "no firmware for {chip}");
    }
}

#[test]
#[ignore = "needs the boards' firmware: cargo xtask test boards"]
fn a_monitor_takes_no_flash() {
    /// Start of the RAM in every chip here.
    const RAM: u32 = 0x2000_0000;
    for path in elves() {
        let firmware = Firmware::read(&path).unwrap();
        let bytes = std::fs::read(&path).unwrap();
        let elf = ElfFile::<FileHeader32<LittleEndian>>::parse(&*bytes).expect("an ELF file");
        let in_ram = |header: &&ProgramHeader32<LittleEndian>| {
            header.p_type(LittleEndian) == PT_LOAD && header.p_vaddr(LittleEndian) >= RAM
        };
        let in_ram: Vec<_> = elf.elf_program_headers().iter().filter(in_ram).collect();
        let initial: u32 = in_ram.iter().map(|header| header.p_filesz(LittleEndian)).sum();
        let all: u32 = in_ram.iter().map(|header| header.p_memsz(LittleEndian)).sum();
        // Variables that start as zeros take no space in the file. The monitor is one of them.
        let monitor = firmware.descriptor.capacities.device_ram() as u32;
        assert!(all >= monitor && initial < 1024, "{}: {initial} of {all}", path.display());
    }
}

#[test]
#[ignore = "needs the boards' firmware: cargo xtask test boards"]
fn a_segment_moved_into_the_model_region_is_refused() {
    let folder = tempfile::tempdir().unwrap();
    for path in elves() {
        let (_, model, _) = board(&Firmware::read(&path).unwrap());
        let bytes = std::fs::read(&path).unwrap();
        for (_, place) in load_segments(&bytes) {
            let mut moved = bytes.clone();
            moved[place..place + 4].copy_from_slice(&(model.end - 4).to_le_bytes());
            let copy = folder.path().join("moved.elf");
            std::fs::write(&copy, moved).unwrap();
            let refused = Firmware::read(&copy);
            assert!(matches!(refused, Err(FirmwareError::Overlap { .. })), "{refused:?}");
        }
    }
}

/// A golden model for samples at another rate.
fn at_rate(model: &str, rate_hz: f32) -> Vec<u8> {
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../tests/golden");
    let mut bytes = std::fs::read(golden.join(model)).unwrap();
    let tag = Section::FrontEnd.tag();
    let front_end = bytes.windows(4).position(|four| four == tag).unwrap() + 8;
    bytes[front_end..front_end + 4].copy_from_slice(&rate_hz.to_le_bytes());
    seal(&mut bytes);
    bytes
}

/// A model with an envelope. Whether its signature holds, only the device looks.
fn with_envelope(model: &[u8]) -> Vec<u8> {
    let parsed = DeployedModel::from_bytes(model).unwrap();
    let envelope = envelope_of(&parsed, 7, 1, DeviceId::ANY);
    [model, &envelope.to_bytes(&[7; 64])].concat()
}

#[test]
#[ignore = "needs the boards' firmware: cargo xtask test boards"]
fn flash_takes_each_firmware_and_would_write_the_model_region_alone() {
    let folder = tempfile::tempdir().unwrap();
    for path in elves() {
        let firmware = Firmware::read(&path).unwrap();
        let (chip, region, _) = board(&firmware);
        let sampling = firmware.descriptor.sampling.expect("it says how it samples");
        // Half of the watchdog's time.
        assert_eq!(sampling.longest_window_ms, 4000);
        let simulated = path.display().to_string().contains("qemu");
        let expected = if simulated { (0.0, 0.0) } else { (26_667.0, 16.0) };
        assert_eq!((sampling.rate_hz, sampling.full_scale_g), expected, "{}", path.display());
        let flash_bytes = |bytes: Vec<u8>| {
            let file = folder.path().join("model.rbm");
            std::fs::write(&file, bytes).unwrap();
            let mut flash = Command::new(env!("CARGO_BIN_EXE_rebearing"));
            flash.args(["flash", "--dry-run", "--json", "--chip", chip, "--model"]);
            flash.arg(file).arg("--firmware").arg(&path).output().unwrap()
        };
        let signed = firmware.descriptor.signed;
        assert_eq!(signed, path.display().to_string().ends_with("-signed"));
        let flash = |model: &str, rate_hz: f32| {
            let model = at_rate(model, rate_hz);
            flash_bytes(if signed { with_envelope(&model) } else { model })
        };
        let (model, other) = match firmware.descriptor.capacities.encoding {
            Encoding::F32 => ("model-v1.rbm", "model-v1-i16.rbm"),
            Encoding::I16 => ("model-v1-i16.rbm", "model-v1.rbm"),
        };
        assert_eq!(flash(other, 26_667.0).status.code(), Some(2), "{}", path.display());
        let plain = flash_bytes(at_rate(model, 26_667.0));
        assert_eq!(plain.status.success(), !signed, "{}", path.display());
        // The sensor has one rate; the simulated machine has the model's.
        assert_eq!(flash(model, 20_000.0).status.success(), simulated, "{}", path.display());
        let output = flash(model, 26_667.0);
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        let json: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
        assert_eq!(json["address"], region.start, "{json}");
        // The write covers both slots; otherwise a newer model in the other slot would win.
        assert_eq!(json["bytes"], region.len(), "{json}");
    }
}

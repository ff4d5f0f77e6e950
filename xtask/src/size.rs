//! Flash and RAM of the firmware binaries, from the section headers of their ELF files.

use crate::boards::{self, BOARDS};
use crate::firmware::{self, QEMU_BINARY};
use crate::panics;
use crate::toolchain::{M4F, Thumb};
use std::path::Path;

/// Memory that a firmware takes, in bytes.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Size {
    /// Code, constants and the initial values of variables.
    pub(crate) flash: u64,
    /// Variables. The stack takes the rest of the RAM.
    pub(crate) ram: u64,
}

/// Builds every firmware binary and prints a table of sizes.
pub(crate) fn print() -> Result<(), String> {
    let thumb = Thumb::for_targets(&[M4F])?;
    // All binaries are built first, so that build progress does not break up the table.
    let mut elves = Vec::new();
    for name in [QEMU_BINARY, panics::BINARY] {
        elves.push((name, firmware::build(thumb, name, M4F)?));
    }
    for board in &BOARDS {
        elves.extend(boards::build(thumb, board)?);
    }
    println!("{:<18} {:<24} {:>10} {:>10}", "binary", "target", "flash", "RAM");
    for (name, elf) in elves {
        let size = size(&elf)?;
        println!("{name:<18} {M4F:<24} {:>10} {:>10}", size.flash, size.ram);
    }
    Ok(())
}

/// Returns the memory that the firmware in an ELF file takes.
pub(crate) fn size(elf: &Path) -> Result<Size, String> {
    let bytes = std::fs::read(elf).map_err(|error| format!("{}: {error}", elf.display()))?;
    sections(&bytes)
        .ok_or_else(|| format!("{}: not a 32-bit little-endian ELF file", elf.display()))
}

/// Sums the sections that are in the target's memory. `None` if the bytes are no such ELF file.
fn sections(elf: &[u8]) -> Option<Size> {
    const NOBITS: u64 = 8;
    const WRITE: u64 = 1;
    const ALLOC: u64 = 2;
    let read = |offset: u64, length: usize| {
        let offset = usize::try_from(offset).ok()?;
        let field = elf.get(offset..offset.checked_add(length)?)?;
        Some(field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    };
    if elf.get(..6)? != b"\x7fELF\x01\x01" {
        return None;
    }
    let (table, entry, count) = (read(0x20, 4)?, read(0x2e, 2)?, read(0x30, 2)?);
    let mut size = Size { flash: 0, ram: 0 };
    for header in (0..count).map(|index| table + index * entry) {
        let (kind, flags, bytes) =
            (read(header + 4, 4)?, read(header + 8, 4)?, read(header + 20, 4)?);
        if flags & ALLOC != 0 {
            size.flash += if kind == NOBITS { 0 } else { bytes };
            size.ram += if flags & WRITE == 0 { 0 } else { bytes };
        }
    }
    Some(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An ELF header followed by its section headers: (kind, flags, size) each.
    fn elf(headers: &[(u32, u32, u32)]) -> Vec<u8> {
        let mut bytes = vec![0; 0x34];
        bytes[..6].copy_from_slice(b"\x7fELF\x01\x01");
        bytes[0x20] = 0x34;
        bytes[0x2e] = 40;
        bytes[0x30] = headers.len() as u8;
        for &(kind, flags, size) in headers {
            for field in [0, kind, flags, 0, 0, size, 0, 0, 0, 0] {
                bytes.extend(u32::to_le_bytes(field));
            }
        }
        bytes
    }

    #[test]
    fn text_counts_as_flash_bss_as_ram_data_as_both_and_symbols_as_neither() {
        let sections_of = [(1, 6, 1000), (1, 3, 20), (8, 3, 300), (2, 0, 9999)];
        assert_eq!(sections(&elf(&sections_of)), Some(Size { flash: 1020, ram: 320 }));
    }

    #[test]
    fn a_truncated_file_has_no_size() {
        let whole = elf(&[(1, 6, 1000)]);
        // Any cut is noticed, up to the size field of the last header.
        for length in 0..whole.len() - 16 {
            assert_eq!(sections(&whole[..length]), None, "{length}");
        }
    }
}

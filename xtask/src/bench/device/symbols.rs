//! Sizes of functions, from the symbol table of an ELF file.

use std::collections::BTreeMap;
use std::path::Path;

/// Returns the bytes of all functions with one of `parts` in their names. Two names of one function
/// count once.
pub(super) fn code_size(elf: &Path, parts: &[&str]) -> Result<u64, String> {
    let bytes = std::fs::read(elf).map_err(|error| format!("{}: {error}", elf.display()))?;
    let functions = functions(&bytes)
        .ok_or_else(|| format!("{}: no 32-bit little-endian ELF file", elf.display()))?;
    let wanted = functions.iter().filter(|(_, name)| parts.iter().any(|part| name.contains(part)));
    let sizes: BTreeMap<u64, u64> = wanted.map(|((address, size), _)| (*address, *size)).collect();
    Ok(sizes.values().sum())
}

/// Returns address, size and name of every function.
fn functions(elf: &[u8]) -> Option<Vec<((u64, u64), String)>> {
    const SYMBOL_TABLE: u64 = 2;
    const FUNCTION: u64 = 2;
    let read = |offset: u64, length: usize| {
        let offset = usize::try_from(offset).ok()?;
        let field = elf.get(offset..offset.checked_add(length)?)?;
        Some(field.iter().rev().fold(0, |value, &byte| value << 8 | u64::from(byte)))
    };
    if elf.get(..6)? != b"\x7fELF\x01\x01" {
        return None;
    }
    let (table, entry, count) = (read(0x20, 4)?, read(0x2e, 2)?, read(0x30, 2)?);
    let section = |index: u64| {
        let header = table + index * entry;
        Some((read(header + 16, 4)?, read(header + 20, 4)?, read(header + 24, 4)?))
    };
    let mut functions = Vec::new();
    for index in 0..count {
        if read(table + index * entry + 4, 4)? != SYMBOL_TABLE {
            continue;
        }
        let (offset, length, names) = section(index)?;
        let (names, _, _) = section(names)?;
        for symbol in (offset..offset + length).step_by(16) {
            if read(symbol + 12, 1)? & 15 == FUNCTION {
                let name = elf.get(usize::try_from(names + read(symbol, 4)?).ok()?..)?;
                let name = name.split(|byte| *byte == 0).next()?;
                let name = String::from_utf8_lossy(name).into_owned();
                functions.push(((read(symbol + 4, 4)?, read(symbol + 8, 4)?), name));
            }
        }
    }
    Some(functions)
}

//! Stand-ins for a board in the tests of `flash` and `watch`: the firmware's ELF file, and a
//! `probe-rs`.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use rebearing::update::descriptor::Descriptor;

/// Start of the flash of the STM32F405.
pub(crate) const FLASH: u32 = 0x0800_0000;
/// Sector 10 of that flash. It holds the model, as in memory.x.
pub(crate) const MODEL: u32 = 0x080c_0000;

/// Returns a minimal ELF file: loadable segments as (address, bytes), the descriptor, two symbols.
pub(crate) fn elf(
    descriptor: impl Into<Option<Descriptor>>,
    region: (u32, u32),
    segments: &[(u32, u32)],
) -> Vec<u8> {
    let descriptor = descriptor.into().map(|descriptor| descriptor.to_bytes());
    elf_of(descriptor.as_ref().map_or(&[], |bytes| &bytes[..]), region, segments)
}

/// As [`elf`], with any bytes where the descriptor should be.
pub(crate) fn elf_of(content: &[u8], region: (u32, u32), segments: &[(u32, u32)]) -> Vec<u8> {
    let names = b"\0.rebearing\0.symtab\0.strtab\0__model_start\0__model_end\0";
    let (rebearing, symtab, strtab, start, end) = (1, 12, 20, 28, 42);
    let content_at = 52 + 32 * segments.len() as u32;
    let symbols_at = content_at + content.len() as u32;
    let names_at = symbols_at + 48;
    let sections_at = (names_at + names.len() as u32).next_multiple_of(4);

    let mut file = b"\x7fELF\x01\x01\x01\0\0\0\0\0\0\0\0\0\x02\0\x28\0".to_vec();
    let words = |file: &mut Vec<u8>, words: &[u32]| {
        file.extend(words.iter().flat_map(|word| word.to_le_bytes()));
    };
    words(&mut file, &[1, 0, 52, sections_at, 0]);
    for half in [52, 32, segments.len() as u16, 40, 4, 3] {
        file.extend(half.to_le_bytes());
    }
    for &(address, bytes) in segments {
        words(&mut file, &[1, 0, address, address, bytes, bytes, 5, 4]);
    }
    file.extend(content.iter());
    words(&mut file, &[0; 4]);
    // Names, values, sizes; global, absolute.
    words(&mut file, &[start, region.0, 0, 0xfff1_0010, end, region.1, 0, 0xfff1_0010]);
    file.extend(names);
    file.resize(sections_at as usize, 0);
    words(&mut file, &[0; 10]);
    let length = content.len() as u32;
    words(&mut file, &[rebearing, 1, 2, FLASH, content_at, length, 0, 0, 4, 0]);
    words(&mut file, &[symtab, 2, 0, 0, symbols_at, 48, 3, 1, 4, 16]);
    words(&mut file, &[strtab, 3, 0, 0, names_at, names.len() as u32, 0, 0, 1, 0]);
    file
}

/// Writes a shell script into a folder as a program.
pub(crate) fn write_program(folder: &Path, name: &str, script: &str) {
    let path = folder.join(name);
    fs::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
    fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
}

/// Writes a `probe-rs` that uses the file `memory` as a board's flash, from its start on.
///
/// `first` is shell code that runs before anything else, and may end the run.
pub(crate) fn write_probe_rs(folder: &Path, memory: &Path, first: &str) {
    let script = format!(
        r#"memory='{memory}'
for last; do :; done
{first}
case $1 in
--version) echo "probe-rs 0.29.1 (git commit: v0.29.1)" ;;
download)
    while [ "$1" != --base-address ]; do shift; done
    dd if="$last" of="$memory" bs=65536 oflag=seek_bytes seek=$(($2 - {FLASH})) conv=notrunc 2>/dev/null ;;
read)
    while [ "$1" != --output ]; do shift; done
    dd if="$memory" of="$2" bs=65536 iflag=skip_bytes,count_bytes skip=$(($4 - {FLASH})) count=$((4 * $5)) 2>/dev/null ;;
reset) ;;
*) echo "what is $1?" >&2; exit 2 ;;
esac"#,
        memory = memory.display(),
    );
    write_program(folder, "probe-rs", &script);
}

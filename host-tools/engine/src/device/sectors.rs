//! Erase sectors of the chips that have a firmware in this project.
//!
//! probe-rs knows the sectors of every chip. But only its library gives them, and then everyone who
//! builds this tool would build that library too. So this module has its own table.

use std::ops::Range;

const KIB: u32 = 1024;
/// Address at which an STM32's flash begins.
const STM32_FLASH: u32 = 0x0800_0000;

/// Returns the erase sector of `chip` that contains `address`; `None` for other chips.
pub fn sector(chip: &str, address: u32) -> Option<Range<u32>> {
    let chip = chip.to_lowercase();
    if chip.starts_with("nrf52") {
        return Some(of_size(address, 0, 4 * KIB));
    }
    let offset = address.checked_sub(STM32_FLASH).filter(|_| chip.starts_with("stm32f4"))?;
    // Four sectors of 16 KB, one of 64 KB, then sectors of 128 KB. A second bank begins at 1 MB in
    // the same way.
    let bank = address - offset % (1024 * KIB);
    Some(match address - bank {
        0x0..0x1_0000 => of_size(address, bank, 16 * KIB),
        0x1_0000..0x2_0000 => of_size(address, bank, 64 * KIB),
        _ => of_size(address, bank, 128 * KIB),
    })
}

/// Returns everything that is erased with `range`, which must not be empty; `None` for unknown
/// chips.
pub fn erased_with(chip: &str, range: &Range<u32>) -> Option<Range<u32>> {
    let first = sector(chip, range.start)?;
    let last = sector(chip, range.end - 1)?;
    Some(first.start..last.end)
}

fn of_size(address: u32, base: u32, size: u32) -> Range<u32> {
    let start = address - (address - base) % size;
    start..start.saturating_add(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sectors_of_the_reference_manuals() {
        // RM0090, table 5: sectors 0, 3, 4, 5, 10 and 11, each by its first and last byte.
        let stm32 = [
            (0x0800_0000, 0x0800_4000),
            (0x0800_C000, 0x0801_0000),
            (0x0801_0000, 0x0802_0000),
            (0x0802_0000, 0x0804_0000),
            (0x080C_0000, 0x080E_0000),
            (0x080E_0000, 0x0810_0000),
            // The second bank of a part with 2 MB.
            (0x0810_0000, 0x0810_4000),
            (0x081E_0000, 0x0820_0000),
        ];
        for (start, end) in stm32 {
            for address in [start, end - 1] {
                assert_eq!(sector("STM32F405RG", address), Some(start..end), "{address:#x}");
            }
        }
        assert_eq!(sector("stm32f405", 0x2000_0000 - 1).map(|s| s.end), Some(0x2000_0000));
        assert_eq!(sector("stm32f405", 0), None);
        for address in [0xE_0000, 0xE_0FFF] {
            assert_eq!(sector("nRF52840_xxAA", address), Some(0xE_0000..0xE_1000));
        }
        assert_eq!(sector("RP2040", 0x1000_0000), None);
    }

    #[test]
    fn a_range_is_erased_with_all_the_sectors_it_touches() {
        let erased = |range| erased_with("STM32F405RG", &range);
        assert_eq!(erased(0x080C_0000..0x0810_0000), Some(0x080C_0000..0x0810_0000));
        assert_eq!(erased(0x080C_FFFF..0x080E_0001), Some(0x080C_0000..0x0810_0000));
        assert_eq!(erased_with("nrf52", &(1..2)), Some(0..0x1000));
    }
}

//! Whole blocks of eight dimensions in assembly, for Armv7E-M and for Armv8-M with the DSP
//! extension.
//!
//! Macros write the DSP instructions as numbers. A Cortex-M33 may have these instructions, but its
//! targets do not assume so, and the assembler refuses their names. (`.cpu` would allow them. But
//! with LTO it would also change what is allowed in all assembly after it.)
//!
//! The function is in `global_asm!`, as for `f32`: it needs all registers, and `asm!` leaves out
//! some. It follows the procedure call standard.

use core::arch::global_asm;

use super::STRIDE;

/// Maximum number of blocks of eight in one call. The number of blocks left shares a register with
/// the sum.
const MOST: usize = 1 << 14;

unsafe extern "C" {
    /// Returns Σt² over `blocks` blocks of eight dimensions, from 1 to [`MOST`]. The numbers must
    /// begin on a word.
    fn rebearing_add_squares_i16(
        x: *const i16,
        means: *const i16,
        scales: *const i16,
        blocks: usize,
    ) -> u64;
}

/// Returns Σt² over the whole blocks of eight, limited to the largest `u32`, and the number of
/// their dimensions.
///
/// Returns `None` if there are no whole blocks, too many of them, or numbers that do not begin on a
/// word.
#[allow(clippy::inline_always, reason = "called in a loop over the components")]
#[inline(always)]
pub(super) fn add_squares(x: &[i16], means: &[i16], scales: &[i16]) -> Option<(u32, usize)> {
    let blocks = x.len() / STRIDE;
    let together = x.as_ptr().addr() | means.as_ptr().addr() | scales.as_ptr().addr();
    let enough = means.len() >= x.len() && scales.len() >= x.len();
    if !enough || !(1..=MOST).contains(&blocks) || !together.is_multiple_of(size_of::<u32>()) {
        return None;
    }
    // SAFETY: the function reads `blocks` blocks of eight numbers, at least one block, from each
    // pointer. All of them are in the slices, because `means` and `scales` are no shorter than `x`.
    // All three begin on a word, as LDM requires. It writes no memory.
    let sum =
        unsafe { rebearing_add_squares_i16(x.as_ptr(), means.as_ptr(), scales.as_ptr(), blocks) };
    Some((u32::try_from(sum).unwrap_or(u32::MAX), blocks * STRIDE))
}

global_asm!(
    ".syntax unified",
    // Macros take registers by their numbers.
    ".macro rebearing_ssub16 d, n, m",
    ".inst.w 0xfad0f000 | (\\n << 16) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlabb d, n, m, a",
    ".inst.w 0xfb100000 | (\\n << 16) | (\\a << 12) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlatt d, n, m, a",
    ".inst.w 0xfb100030 | (\\n << 16) | (\\a << 12) | (\\d << 8) | \\m",
    ".endm",
    // With asr #16 of the second operand.
    ".macro rebearing_pkhtb d, n, m",
    ".inst.w 0xeac04020 | (\\n << 16) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlald low, high, n, m",
    ".inst.w 0xfbc000c0 | (\\n << 16) | (\\low << 12) | (\\high << 8) | \\m",
    ".endm",
    // Two dimensions: puts both t into the register of the differences and adds their squares to
    // the sum.
    ".macro rebearing_pair difference, scale, free",
    "rebearing_smlabb \\free, \\difference, \\scale, 14",
    "rebearing_smlatt \\difference, \\difference, \\scale, 14",
    "rebearing_pkhtb \\difference, \\difference, \\free",
    "rebearing_smlald 12, 3, \\difference, \\difference",
    ".endm",
    "",
    ".section .text.rebearing_add_squares_i16, \"ax\", %progbits",
    ".global rebearing_add_squares_i16",
    ".type rebearing_add_squares_i16, %function",
    ".thumb_func",
    "rebearing_add_squares_i16:",
    "push {{r4-r11, lr}}",
    // The sum is in r12 and the lower half of r3: at most 2¹⁴ blocks of eight squares of 2²⁸ have
    // 45 bits. The upper half of r3 counts the blocks that are left, and is negative after the
    // last.
    "sub r3, r3, #1",
    "lsl r3, r3, #16",
    "mov r12, #0",
    "mov lr, #0x8000",
    "1:",
    "ldmia r0!, {{r4-r7}}",
    "ldmia r1!, {{r8-r11}}",
    "rebearing_ssub16 4, 4, 8",
    "rebearing_ssub16 5, 5, 9",
    "rebearing_ssub16 6, 6, 10",
    "rebearing_ssub16 7, 7, 11",
    // The fourth pair waits for a register.
    "ldmia r2!, {{r8-r10}}",
    "rebearing_pair 4, 8, 11",
    "rebearing_pair 5, 9, 11",
    "rebearing_pair 6, 10, 11",
    "ldr r8, [r2], #4",
    "rebearing_pair 7, 8, 11",
    "subs r3, r3, #0x10000",
    "bpl 1b",
    "mov r0, r12",
    "uxth r1, r3",
    "pop {{r4-r11, pc}}",
    ".size rebearing_add_squares_i16, . - rebearing_add_squares_i16",
    "",
    ".purgem rebearing_pair",
    ".purgem rebearing_smlald",
    ".purgem rebearing_pkhtb",
    ".purgem rebearing_smlatt",
    ".purgem rebearing_smlabb",
    ".purgem rebearing_ssub16",
);

//! Whole eights of dimensions in assembly, for Armv7E-M and for Armv8-M with the DSP extension.
//!
//! The DSP instructions are written as numbers, by macros of their names: a Cortex-M33 may have
//! them, but its targets do not presume so and the assembler refuses the names. (`.cpu` would let
//! them in, and with LTO change what is allowed in everybody's assembly behind it.)
//!
//! A function in `global_asm!`, as for `f32`: it takes all the registers that there are, and
//! `asm!` leaves out some. It follows the procedure call standard.

use core::arch::global_asm;

use super::STRIDE;

/// Most eights in one call: what is left of them and the sum share a register.
const MOST: usize = 1 << 14;

unsafe extern "C" {
    /// Σt² over `blocks` eights of dimensions, from 1 to [`MOST`], of numbers in whole words.
    fn rebearing_add_squares_i16(
        x: *const i16,
        means: *const i16,
        scales: *const i16,
        blocks: usize,
    ) -> u64;
}

/// Σt² over the whole eights, or the largest `u32` where it is beyond, and how many dimensions
/// they are; `None` where there are none, too many, or numbers that do not begin on a word.
#[allow(clippy::inline_always, reason = "called in a loop over the components")]
#[inline(always)]
pub(super) fn add_squares(x: &[i16], means: &[i16], scales: &[i16]) -> Option<(u32, usize)> {
    let blocks = x.len() / STRIDE;
    let together = x.as_ptr().addr() | means.as_ptr().addr() | scales.as_ptr().addr();
    let enough = means.len() >= x.len() && scales.len() >= x.len();
    if !enough || !(1..=MOST).contains(&blocks) || !together.is_multiple_of(size_of::<u32>()) {
        return None;
    }
    // SAFETY: the function reads `blocks` eights of numbers, at least one, from each pointer on; all
    // of them are in the slices, as `means` and `scales` are no shorter than `x`. All three begin on
    // a word, as LDM wants it. It writes no memory.
    let sum =
        unsafe { rebearing_add_squares_i16(x.as_ptr(), means.as_ptr(), scales.as_ptr(), blocks) };
    Some((u32::try_from(sum).unwrap_or(u32::MAX), blocks * STRIDE))
}

global_asm!(
    ".syntax unified",
    // Registers by their numbers.
    ".macro rebearing_ssub16 d, n, m",
    ".inst.w 0xfad0f000 | (\\n << 16) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlabb d, n, m, a",
    ".inst.w 0xfb100000 | (\\n << 16) | (\\a << 12) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlatt d, n, m, a",
    ".inst.w 0xfb100030 | (\\n << 16) | (\\a << 12) | (\\d << 8) | \\m",
    ".endm",
    // With asr #16 of the second.
    ".macro rebearing_pkhtb d, n, m",
    ".inst.w 0xeac04020 | (\\n << 16) | (\\d << 8) | \\m",
    ".endm",
    ".macro rebearing_smlald low, high, n, m",
    ".inst.w 0xfbc000c0 | (\\n << 16) | (\\low << 12) | (\\high << 8) | \\m",
    ".endm",
    // Two dimensions: both t into the register of the differences, and their squares onto the sum.
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
    // The sum is in r12 and the lower half of r3: at most 2¹⁴ eights of 2²⁸ have 45 bits. The
    // upper half of r3 counts the blocks that are left, and is negative after the last.
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

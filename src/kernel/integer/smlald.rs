//! Whole eights of dimensions in assembly, for Armv7E-M.
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
    // Two dimensions: both t into the register of the differences, and their squares onto the sum.
    ".macro rebearing_pair difference, scale, free",
    "smlabb \\free, \\difference, \\scale, lr",
    "smlatt \\difference, \\difference, \\scale, lr",
    "pkhtb \\difference, \\difference, \\free, asr #16",
    "smlald r12, r3, \\difference, \\difference",
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
    "ssub16 r4, r4, r8",
    "ssub16 r5, r5, r9",
    "ssub16 r6, r6, r10",
    "ssub16 r7, r7, r11",
    // The fourth pair waits for a register.
    "ldmia r2!, {{r8-r10}}",
    "rebearing_pair r4, r8, r11",
    "rebearing_pair r5, r9, r11",
    "rebearing_pair r6, r10, r11",
    "ldr r8, [r2], #4",
    "rebearing_pair r7, r8, r11",
    "subs r3, r3, #0x10000",
    "bpl 1b",
    "mov r0, r12",
    "uxth r1, r3",
    "pop {{r4-r11, pc}}",
    ".size rebearing_add_squares_i16, . - rebearing_add_squares_i16",
    "",
    ".purgem rebearing_pair",
);

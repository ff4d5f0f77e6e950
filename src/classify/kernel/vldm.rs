//! Whole blocks in assembly, for Armv7E-M and Armv8-M with a floating-point unit.
//!
//! The functions are in `global_asm!`, because `asm!` takes floating-point registers only on
//! targets with double precision. They follow the procedure call standard: integers in r0…r3,
//! floats in s0…, r4…r11 and s16…s31 preserved.

use core::arch::global_asm;

use super::Block;

/// Four floats, which the procedure call standard returns in s0…s3.
#[repr(C)]
struct Sums {
    a: f32,
    b: f32,
    c: f32,
    d: f32,
}

unsafe extern "C" {
    /// Adds Σ t² over `blocks` blocks of x for four components. The scales of the first are at
    /// `row`, its offsets `stride` bytes later, the scales of the next another `stride` later, and
    /// so on.
    fn rebearing_add_squares_of_four(
        x: *const Block,
        row: *const f32,
        stride: usize,
        blocks: usize,
        a: f32,
        b: f32,
        c: f32,
        d: f32,
    ) -> Sums;

    /// Adds Σ t² over `blocks` blocks of x to `sum`, for one component.
    fn rebearing_add_squares(
        x: *const Block,
        row: *const f32,
        stride: usize,
        blocks: usize,
        sum: f32,
    ) -> f32;
}

/// Adds Σ t² of whole blocks for four components. The caller guarantees that `rows` has 7·`dims`
/// more numbers than `x`.
#[inline(always)]
pub(super) fn add_four(x: &[Block], rows: &[f32], dims: usize, [a, b, c, d]: [f32; 4]) -> [f32; 4] {
    if x.is_empty() {
        return [a, b, c, d];
    }
    let (x, blocks) = (x.as_ptr(), x.len());
    // SAFETY: the function reads as many numbers as `x` has from the front of `rows`, from `dims`
    // later, and so on up to 7·`dims` later. All of them are in `rows`. It reads at least one
    // block, which exists, and writes no memory.
    let Sums { a, b, c, d } =
        unsafe { rebearing_add_squares_of_four(x, rows.as_ptr(), 4 * dims, blocks, a, b, c, d) };
    [a, b, c, d]
}

/// Adds Σ t² of whole blocks for one component. The caller guarantees that `row` has `dims` more
/// numbers than `x`.
#[inline(always)]
pub(super) fn add_one(x: &[Block], row: &[f32], dims: usize, sum: f32) -> f32 {
    if x.is_empty() {
        return sum;
    }
    // SAFETY: the function reads as many numbers as `x` has from the front of `row` and from `dims`
    // later. All of them are in `row`. It reads at least one block, which exists, and writes no
    // memory.
    unsafe { rebearing_add_squares(x.as_ptr(), row.as_ptr(), 4 * dims, x.len(), sum) }
}

global_asm!(
    ".syntax unified",
    ".fpu fpv4-sp-d16",
    // t of eight dimensions in s16…s23, from x in s0…s7. Then t² is added to a sum.
    ".macro rebearing_component scale, offset, sum",
    "vldmia \\scale!, {{s8-s15}}",
    "vldmia \\offset!, {{s16-s23}}",
    "vmla.f32 s16, s8, s0",
    "vmla.f32 s17, s9, s1",
    "vmla.f32 s18, s10, s2",
    "vmla.f32 s19, s11, s3",
    "vmla.f32 s20, s12, s4",
    "vmla.f32 s21, s13, s5",
    "vmla.f32 s22, s14, s6",
    "vmla.f32 s23, s15, s7",
    "vmla.f32 \\sum, s16, s16",
    "vmla.f32 \\sum, s17, s17",
    "vmla.f32 \\sum, s18, s18",
    "vmla.f32 \\sum, s19, s19",
    "vmla.f32 \\sum, s20, s20",
    "vmla.f32 \\sum, s21, s21",
    "vmla.f32 \\sum, s22, s22",
    "vmla.f32 \\sum, s23, s23",
    ".endm",
    "",
    ".section .text.rebearing_add_squares_of_four, \"ax\", %progbits",
    ".global rebearing_add_squares_of_four",
    ".type rebearing_add_squares_of_four, %function",
    ".thumb_func",
    "rebearing_add_squares_of_four:",
    "push {{r4-r10, lr}}",
    "vpush {{s16-s27}}",
    "add r4, r1, r2",
    "add r5, r4, r2",
    "add r6, r5, r2",
    "add r7, r6, r2",
    "add r8, r7, r2",
    "add r9, r8, r2",
    "add r10, r9, r2",
    "vmov.f32 s24, s0",
    "vmov.f32 s25, s1",
    "vmov.f32 s26, s2",
    "vmov.f32 s27, s3",
    "1:",
    "vldmia r0!, {{s0-s7}}",
    "rebearing_component r1, r4, s24",
    "rebearing_component r5, r6, s25",
    "rebearing_component r7, r8, s26",
    "rebearing_component r9, r10, s27",
    "subs r3, r3, #1",
    "bne 1b",
    "vmov.f32 s0, s24",
    "vmov.f32 s1, s25",
    "vmov.f32 s2, s26",
    "vmov.f32 s3, s27",
    "vpop {{s16-s27}}",
    "pop {{r4-r10, pc}}",
    ".size rebearing_add_squares_of_four, . - rebearing_add_squares_of_four",
    "",
    ".section .text.rebearing_add_squares, \"ax\", %progbits",
    ".global rebearing_add_squares",
    ".type rebearing_add_squares, %function",
    ".thumb_func",
    "rebearing_add_squares:",
    "vpush {{s16-s24}}",
    "add r2, r1, r2",
    "vmov.f32 s24, s0",
    "1:",
    "vldmia r0!, {{s0-s7}}",
    "rebearing_component r1, r2, s24",
    "subs r3, r3, #1",
    "bne 1b",
    "vmov.f32 s0, s24",
    "vpop {{s16-s24}}",
    "bx lr",
    ".size rebearing_add_squares, . - rebearing_add_squares",
    "",
    ".purgem rebearing_component",
);

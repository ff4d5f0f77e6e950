//! Figures that this bench does not measure: CMSIS-DSP's Gaussian naive Bayes classifier. It was
//! counted once in the same way (QEMU 7.2, -O3), because no package index has CMSIS to fetch. It
//! gives only unnormalised class scores, and its rows say that they are quoted.

use super::rows::Row;

const SHAPES: [(usize, usize); 6] =
    [(10, 16), (20, 32), (40, 64), (40, 128), (100, 128), (10, 1024)];
/// Instructions of `arm_gaussian_naive_bayes_predict_f32` on the Cortex-M4F.
const M4F: [u64; 6] = [15_400, 59_400, 233_000, 461_000, 1_150_000, 915_000];
/// Its instructions on the Cortex-M0, at (40, 128) alone.
const M0_40_128: u64 = 19_200_000;

/// Returns all quoted rows.
pub(super) fn rows() -> Vec<Row> {
    let row = |core: &str, (components, dims), instructions| Row {
        core: core.to_owned(),
        encoding: "f32".to_owned(),
        kernel: "cmsis-dsp (quoted)".to_owned(),
        components,
        dims,
        case: "plain".to_owned(),
        instructions,
        flash: None,
        ram: None,
        bits: None,
    };
    let of_m4f = SHAPES.iter().zip(M4F).map(|(shape, count)| row("cortex-m4f", *shape, count));
    of_m4f.chain([row("cortex-m0", (40, 128), M0_40_128)]).collect()
}

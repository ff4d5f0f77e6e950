//! Prints the estimates of `rebearing inspect` for the bench's mixtures and its window.

use rebearing::Encoding;
use rebearing_host::device::instructions::{CORES, Core, Shape, TOLERANCE};
use serde_json::json;

use crate::SHAPES;
use crate::problem::CLASSES;
use crate::window::{BANDS, COMPONENTS, FFT};

/// Prints a line of JSON for each row of the bench that has an estimate.
pub(crate) fn print() {
    for core in CORES {
        for (components, dims) in SHAPES {
            // An i16 model always tries an early drop.
            let cases: &[_] = match core.encoding {
                Encoding::F32 => &[("plain", false), ("worst", true)],
                Encoding::I16 => &[("worst", true)],
            };
            for &(case, early_drop) in cases {
                let mixture = core.mixture(&shape(components, dims, early_drop));
                print_line(
                    &core,
                    mixture,
                    json!({"components": components, "dims": dims, "case": case}),
                );
            }
        }
        let early_drop = core.encoding == Encoding::I16;
        print_line(&core, core.window(&shape(COMPONENTS, BANDS, early_drop)), json!({}));
    }
}

fn shape(components: usize, dims: usize, early_drop: bool) -> Shape {
    Shape { segments: 1, points: FFT, dims, components, classes: CLASSES, early_drop }
}

fn print_line(core: &Core, instructions: f64, mut line: serde_json::Value) {
    line["core"] = core.name.into();
    line["encoding"] = core.encoding.name().into();
    line["instructions"] = instructions.into();
    line["tolerance"] = TOLERANCE.into();
    println!("{line}");
}

//! Prints the estimates of `rebearing inspect` for the bench's mixtures and its window.

use rebearing_host::device::instructions::{CORES, Core, Encoding, Shape, TOLERANCE};
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
            for &(case, leads) in cases {
                let mixture = core.mixture(&shape(components, dims, leads));
                print_line(
                    &core,
                    mixture,
                    json!({"components": components, "dims": dims, "case": case}),
                );
            }
        }
        let leads = core.encoding == Encoding::I16;
        print_line(&core, core.decision(&shape(COMPONENTS, BANDS, leads)), json!({}));
    }
}

fn shape(components: usize, dims: usize, leads: bool) -> Shape {
    Shape { segments: 1, points: FFT, dims, components, classes: CLASSES, leads }
}

fn print_line(core: &Core, instructions: f64, mut line: serde_json::Value) {
    line["core"] = core.name.into();
    line["encoding"] = core.encoding.name().into();
    line["instructions"] = instructions.into();
    line["tolerance"] = TOLERANCE.into();
    println!("{line}");
}

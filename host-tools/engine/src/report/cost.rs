//! The cost of the model on the device.

use maud::{Markup, html};
use rebearing::monitor::Samples;
use rebearing::operation::alarm_device_ram;

use super::{Page, Section};
use crate::device::instructions::{Core, Encoding, Shape};
use crate::device::{smallest, type_name};
use crate::model::deployed::DeployedModel;

/// Clock in MHz for the number of windows per second.
const CLOCK_MHZ: f64 = 64.0;

pub(super) fn section(page: &Page<'_>) -> Section {
    let model = page.contents.model;
    let mut rows: Vec<(String, String)> =
        vec![("Flash".into(), format!("{} bytes (the model file)", model.bytes().len()))];
    let mut ram = |kind: &str, bytes: usize, name: String| {
        rows.push((format!("RAM{kind}"), format!("{bytes} bytes as {name}")));
    };
    let (encoding, shape) = match model {
        DeployedModel::F32(bytes) => {
            for (samples, what) in [(Samples::Floats, ""), (Samples::Counts, ", 16-bit samples")] {
                let monitor = smallest(&bytes.model(), samples);
                ram(what, monitor.device_ram(), type_name(&monitor));
            }
            (Encoding::F32, Shape::of(&bytes.model()))
        }
        DeployedModel::I16(bytes) => {
            let monitor = smallest(&bytes.model(), Samples::Counts);
            ram("", monitor.device_ram(), type_name(&monitor));
            (Encoding::I16, Some(Shape::of_integer(&bytes.model())))
        }
    };
    let (classes, average) = (model.classes(), model.alarm().average);
    let decision = alarm_device_ram(classes, average as usize);
    ram(", decision over time", decision, format!("Decision<{classes}, {average}>"));
    let front_end = model.front_end();
    let rate = f64::from(front_end.rate_hz);
    let window_s = front_end.window_len() as f64 / rate;
    let every_s = (front_end.hop * front_end.segments) as f64 / rate;
    rows.push((
        "Window".into(),
        format!("{window_s:.3} s of signal, a decision every {every_s:.3} s without a pause"),
    ));
    rows.push(("Encoding".into(), model.encoding().name().into()));
    Section::new("cost", "Device", "What it costs on the device").saying(html! {
        table class="facts" {
            @for (name, value) in &rows { tr { th scope="row" { (name) } td { (value) } } }
        }
        @match shape {
            Some(shape) => (cores(encoding, &shape, every_s)),
            None => p class="note" { "Instructions are not estimated: blocks of shaft orders are not in the bench." },
        }
    })
}

fn cores(encoding: Encoding, shape: &Shape, every_s: f64) -> Markup {
    html! {
        div class="wide" {
            table {
                thead {
                    tr {
                        th scope="col" { "core" }
                        th scope="col" { "instructions a decision" }
                        th scope="col" { (format!("decisions a second at {CLOCK_MHZ:.0} MHz")) }
                        th scope="col" { "share of the core, without a pause" }
                    }
                }
                tbody {
                    @for core in Core::of(encoding) {
                        @let instructions = core.decision(shape);
                        @let per_second = CLOCK_MHZ * 1e6 / instructions;
                        tr {
                            th scope="row" { (core.name) }
                            td { (format!("{:.3} million", instructions / 1e6)) }
                            td { (format!("{per_second:.1}")) }
                            td { (share(1.0 / (per_second * every_s))) }
                        }
                    }
                }
            }
        }
        p class="note" {
            "An estimate from instruction counts of emulated cores, at worst, with an instruction a cycle; a real core \
             takes one to three cycles for one."
        }
    }
}

/// Returns the share of a core that windows without a pause take, as text.
fn share(of_core: f64) -> String {
    if of_core <= 1.0 {
        format!("{:.1} %", 100.0 * of_core)
    } else {
        format!("too slow: {of_core:.1} times all of it")
    }
}

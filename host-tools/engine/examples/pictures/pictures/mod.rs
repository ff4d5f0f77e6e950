//! The pictures, one file each. `story` has the machines that they show.
#![allow(clippy::cast_possible_wrap, reason = "pixels, bins and rows are few")]

mod canvas;
mod carried;
mod front_end;
mod gate;
mod machines;
mod plan;
mod pools;
mod story;

use anyhow::Result;

use story::Story;

/// Returns every picture: its file name in docs/pictures and its SVG.
pub(crate) fn all() -> Result<Vec<(&'static str, String)>> {
    let story = Story::new()?;
    Ok(vec![
        ("front-end.svg", front_end::draw(&story)?),
        ("machines.svg", machines::draw(&story)?),
        ("carried.svg", carried::draw(&story)?),
        ("plan.svg", plan::draw(&story)?),
        ("gate.svg", gate::draw(&story)?),
        ("pools.svg", pools::draw(&story)?),
    ])
}

//! The pictures, each a file of its own; `story` has what they show.
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

/// Every picture: its file in docs/pictures and its SVG.
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

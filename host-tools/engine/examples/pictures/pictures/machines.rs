//! The same conditions on two machines: the difference that labels must cross.

use anyhow::Result;
use plotters::prelude::*;

use super::canvas::{COLOURS, FONT, TITLE, key, svg};
use super::story::{NAMES, Story};

const CLASSES: [&str; 2] = ["Healthy", "InnerRace"];

pub(super) fn draw(story: &Story) -> Result<String> {
    let machines = [&story.known, &story.new];
    let colours = [COLOURS[2], COLOURS[1]];
    svg(520, |area| {
        let (top, rest) = area.split_vertically(30);
        let names = [0, 1].map(|i| (NAMES[i].to_owned(), colours[i]));
        key(&top, (60, 15), &names)?;
        for (panel, class) in rest.split_evenly((2, 1)).iter().zip(CLASSES) {
            let class_index = story.class(class)?;
            let means = machines.map(|machine| machine.mean(class_index));
            let all = || means.iter().flatten().copied();
            let range = all().fold(0.0, f64::min) - 0.3..all().fold(0.0, f64::max) + 0.3;
            let top_khz = story.known.domain.rate_hz / 2000.0;
            let bands = means[0].len() as f64;
            let mut chart = ChartBuilder::on(panel)
                .caption(class, TITLE)
                .margin(8)
                .margin_right(25)
                .x_label_area_size(35)
                .y_label_area_size(50)
                .build_cartesian_2d(0.0..top_khz, range)?;
            chart
                .configure_mesh()
                .light_line_style(TRANSPARENT)
                .label_style(FONT)
                .x_desc("kHz")
                .y_desc("nats")
                .draw()?;
            for (mean, colour) in means.iter().zip(colours) {
                let points = mean.iter().enumerate();
                let points = points.map(|(b, x)| (top_khz * (b as f64 + 0.5) / bands, *x));
                chart.draw_series(LineSeries::new(points, colour.stroke_width(2)))?;
            }
        }
        Ok(())
    })
}

//! Results of the methods when only the healthy machine was recorded.

use anyhow::{Context, Result};
use plotters::prelude::*;
use plotters::style::text_anchor::{HPos, Pos, VPos};
use rebearing_host::adapt::plan::{PlanSettings, Solver};
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::evaluate::{
    EvaluateSettings, PoolChoice, Run, Scores, SourceDomain, Sources, TargetDomain, evaluate,
};

use super::canvas::{COLOURS, FONT, TITLE, key, svg};
use super::story::Story;

const METHODS: [(&str, &str); 3] = [
    ("source-only", "motor-a's model as it is"),
    ("gmm-otda-map", "balanced transport"),
    ("guarded", "adapt --pool-is healthy"),
];
type Rate = fn(&Scores) -> Option<f64>;
const RATES: [(&str, Rate); 3] = [
    ("false alarms", |scores| scores.false_alarm_rate),
    ("faults found", |scores| scores.detection_rate),
    ("type right", |scores| scores.fault_type_accuracy),
];

pub(super) fn draw(story: &Story) -> Result<String> {
    let front_end = &story.source.front_end;
    let known = SourceDomain::extract(&story.known.domain, front_end)?;
    let new = TargetDomain::extract(&story.new.domain, front_end, 0.6, None)?;
    let runs = METHODS.map(|(method, _)| -> Result<Run> {
        let settings = EvaluateSettings {
            method: method.parse()?,
            pool: PoolChoice::Healthy,
            pool_is: Pool::Healthy,
            plan: PlanSettings {
                solver: Solver::Sinkhorn,
                epsilon: 0.01,
                ..PlanSettings::default()
            },
            ..EvaluateSettings::default()
        };
        evaluate(&Sources::one(&known), &new, &settings, 0)?.into_iter().next().context("no run")
    });
    let runs = runs.into_iter().collect::<Result<Vec<_>>>()?;

    svg(360, |area| {
        let (top, rest) = area.split_vertically(30);
        let names = runs.iter().enumerate().map(|(i, run)| {
            let verdict = run.verdict.map_or(String::new(), |v| format!(" (its verdict: {v})"));
            (format!("{}{verdict}", METHODS[i].1), COLOURS[i + 1])
        });
        let names: Vec<_> = names.collect();
        key(&top, (60, 15), &names)?;
        let mut chart = ChartBuilder::on(&rest)
            .caption(
                "motor-b was recorded while it was healthy, and tested with every fault",
                TITLE,
            )
            .margin(8)
            .margin_right(25)
            .x_label_area_size(30)
            .y_label_area_size(55)
            .build_cartesian_2d(0.0..RATES.len() as f64, 0.0..110.0)?;
        chart
            .configure_mesh()
            .disable_x_mesh()
            .disable_x_axis()
            .light_line_style(TRANSPARENT)
            .label_style(FONT)
            .y_desc("% of windows")
            .draw()?;
        let centred = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Center, VPos::Bottom));
        for (group, (name, rate)) in RATES.iter().enumerate() {
            let middle = group as f64 + 0.5;
            for (method, run) in runs.iter().enumerate() {
                let percent = 100.0 * rate(&run.scores).context("a rate is missing")?;
                let left = middle - 0.36 + 0.24 * method as f64;
                let bar = [(left + 0.02, 0.0), (left + 0.22, percent)];
                chart.draw_series([Rectangle::new(bar, COLOURS[method + 1].filled())])?;
                let text = format!("{percent:.1}");
                let at = (left + 0.12, percent + 1.0);
                chart.draw_series([Text::new(text, at, centred.clone())])?;
            }
            let below = chart.backend_coord(&(middle, 0.0));
            let under = TextStyle::from(FONT.into_font()).pos(Pos::new(HPos::Center, VPos::Top));
            area.draw(&Text::new(*name, (below.0, below.1 + 8), under)).context("name")?;
        }
        Ok(())
    })
}

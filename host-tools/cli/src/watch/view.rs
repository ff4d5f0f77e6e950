//! Draws the dashboard from the state of a watch. It does not depend on a terminal.

use ratatui::Frame;
use ratatui::layout::{Constraint, Layout, Rect};
use ratatui::style::{Color, Modifier, Style, Stylize as _};
use ratatui::symbols::Marker;
use ratatui::text::{Line as TextLine, Span};
use ratatui::widgets::{
    Axis, Bar, BarChart, BarGroup, Block, Chart, Dataset, GraphType, Paragraph, Wrap,
};
use std::fmt::Write as _;

use rebearing::Zone;

use crate::text::printable::is_hidden;

use rebearing_host::device::line::{FindingSeen, ModelSeen, ReportSeen};
use rebearing_host::device::watch::state::{Counts, TrendPoint, Watch, state_text};

/// Smallest size for pictures, in columns and rows. A smaller terminal shows only text.
const SMALLEST: (u16, u16) = (60, 18);
/// Height of the spectrum in decibels, from the strongest band down.
const SPAN_DB: f32 = 60.0;
/// How far below the threshold a log-likelihood is still drawn to scale. The first number is a
/// multiple of the distance from the threshold to the best value. The second is the least distance
/// in nats. So one outlier does not flatten the rest.
const BELOW: (f32, f32) = (4.0, 20.0);

/// Settings of the drawing.
#[derive(Debug, Clone, Copy)]
pub struct Look<'a> {
    /// Name of the stream's source.
    pub title: &'a str,
    /// True if colours may be used.
    pub colour: bool,
    /// True if the stream has ended.
    pub ended: bool,
}

impl Look<'_> {
    fn paint(self, colour: Color) -> Style {
        if self.colour { Style::new().fg(colour) } else { Style::new() }
    }

    fn alert(self) -> Style {
        // It must also stand out without colours.
        self.paint(Color::Red).add_modifier(Modifier::BOLD | Modifier::REVERSED)
    }
}

/// Draws everything, in a terminal of any size.
pub fn draw(frame: &mut Frame<'_>, watch: &Watch, look: Look<'_>) {
    let area = frame.area();
    if area.width < SMALLEST.0 || area.height < SMALLEST.1 {
        frame.render_widget(Paragraph::new(now(watch, look)).wrap(Wrap { trim: true }), area);
        return harmless(frame);
    }
    let rows = Layout::vertical([
        Constraint::Length(1),
        Constraint::Length(7),
        Constraint::Fill(3),
        Constraint::Fill(1),
        Constraint::Length(1),
    ]);
    let [title, top, middle, bottom, keys] = rows.areas(area);
    let halves = Layout::horizontal([Constraint::Percentage(50), Constraint::Percentage(50)]);
    let [left, right] = halves.areas(top);
    let [spectrum_area, trend_area] = halves.areas(middle);
    frame.render_widget(TextLine::from(heading(watch, look)).bold(), title);
    // Long text comes last.
    for (name, lines, area) in
        [(" Now ", now(watch, look), left), (" Counted ", counted(watch), right)]
    {
        let text = Paragraph::new(lines).wrap(Wrap { trim: true });
        frame.render_widget(text.block(Block::bordered().title(name)), area);
    }
    spectrum(frame, watch, look, spectrum_area);
    trend(frame, watch, look, trend_area);
    messages(frame, watch, bottom);
    let ended = if look.ended { "the stream has ended   " } else { "" };
    frame.render_widget(TextLine::from(format!("{ended}q, Esc or Ctrl-C: quit")).dim(), keys);
    harmless(frame);
}

/// Replaces characters that the terminal would obey and not show.
fn harmless(frame: &mut Frame<'_>) {
    for cell in &mut frame.buffer_mut().content {
        if cell.symbol().contains(is_hidden) {
            cell.set_symbol("\u{fffd}");
        }
    }
}

fn heading(watch: &Watch, look: Look<'_>) -> String {
    let mut text = format!("rebearing watch   {}", look.title);
    if let Some(model) = &watch.model {
        let _ = write!(text, "   {} Hz, FFT {}", model.rate_hz, model.fft);
    }
    text
}

/// Returns the state of the machine, in five lines.
fn now(watch: &Watch, look: Look<'_>) -> Vec<TextLine<'static>> {
    let Some(report) = &watch.last else {
        let what =
            if look.ended { "no report received" } else { "waiting for the first report …" };
        return vec![what.into()];
    };
    let window = Span::from(format!("window {}  ", report.window)).dim();
    let mut lines = match &report.finding {
        Ok(finding) => vec![
            TextLine::from(vec![window, label(watch, finding, look)]),
            TextLine::from(confidence(watch, finding)),
        ],
        Err(fault) => vec![
            TextLine::from(vec![window, Span::styled("SENSOR FAULT", look.alert())]),
            TextLine::from(fault.to_string()),
        ],
    };
    lines.push(state(report));
    lines.push(alarm(report, look));
    lines.push(strength(report, look));
    lines
}

fn label(watch: &Watch, finding: &FindingSeen, look: Look<'_>) -> Span<'static> {
    let text = match finding.confidence() {
        Some(p) => format!("{}  {:.1} %", finding.label.word(), 100.0 * p),
        None => finding.label.word().to_owned(),
    };
    let healthy = finding.trend().is_some_and(|(value, least)| value >= least);
    let known = finding.confidence().is_some();
    let colour = match (healthy, known) {
        (true, true) => Color::Green,
        (_, true) if watch.last.as_ref().is_none_or(|last| last.alarm.is_none()) => Color::Yellow,
        (_, true) => Color::Red,
        (_, false) => Color::Magenta,
    };
    Span::styled(text, look.paint(colour).add_modifier(Modifier::BOLD))
}

/// Returns the three likeliest classes with their probabilities.
fn confidence(watch: &Watch, finding: &FindingSeen) -> String {
    let mut classes: Vec<(usize, f32)> = finding.posterior.iter().copied().enumerate().collect();
    classes.sort_by(|(_, a), (_, b)| b.total_cmp(a));
    let shares = classes.iter().filter(|(_, p)| *p > 0.0);
    let shares =
        shares.map(|(class, p)| format!("{} {:.1} %", watch.class_name(*class), 100.0 * p));
    shares.take(3).collect::<Vec<_>>().join(", ")
}

fn state(report: &ReportSeen) -> TextLine<'static> {
    let mut text = report.state.map_or("no alarm state".into(), state_text);
    if let Some(level) = report.level {
        let _ = write!(text, ", {:.1} % not healthy", 100.0 * level);
    }
    text.into()
}

fn alarm(report: &ReportSeen, look: Look<'_>) -> TextLine<'static> {
    let mut spans = vec![match &report.alarm {
        Some(alarm) if alarm.active => {
            Span::styled(format!(" ALARM {} ", alarm.label.word()), look.alert())
        }
        Some(alarm) => {
            Span::styled(format!("latched {}", alarm.label.word()), look.paint(Color::Yellow))
        }
        None => "no alarm".into(),
    }];
    if report.alarm.as_ref().is_some_and(|alarm| alarm.acknowledged) {
        spans.push(" acknowledged".into());
    }
    if report.drift == Some(true) {
        spans.push(Span::styled("  drifted: re-adapt", look.paint(Color::Yellow).bold()));
    }
    spans.into()
}

fn strength(report: &ReportSeen, look: Look<'_>) -> TextLine<'static> {
    let Ok(finding) = &report.finding else { return TextLine::default() };
    let axes =
        |numbers: &[f32]| numbers.iter().map(|x| format!("{x:.4}")).collect::<Vec<_>>().join(" ");
    let mut spans = vec![Span::from(format!("rms {}", axes(&finding.rms)))];
    if let Some((zone, velocity)) = &finding.severity {
        let colour = match zone {
            Zone::A | Zone::B => Color::Green,
            Zone::C => Color::Yellow,
            Zone::D => Color::Red,
        };
        let style = look.paint(colour).bold();
        spans.push(Span::from(format!("  {} mm/s ", axes(velocity))));
        spans.push(Span::styled(format!("zone {}", zone.name()), style));
    }
    spans.into()
}

fn counted(watch: &Watch) -> Vec<TextLine<'static>> {
    let counts = &watch.counts;
    let mut labels: Vec<(&String, &u64)> = counts.labels.iter().collect();
    labels.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let listed = |names: Vec<String>| names.join(", ");
    let labels = listed(labels.iter().map(|(name, count)| format!("{name} {count}")).collect());
    let faults = counts.faults.iter().map(|(name, count)| format!("{name} {count}")).collect();
    let faults = listed(faults);
    let Counts { reports, missing, restarts, alarms, damaged, text, other_version, .. } = counts;
    vec![
        format!("reports {reports}, missing {missing}, restarts {restarts}").into(),
        format!("alarms {alarms}, lines damaged {damaged}, other {}", text + other_version).into(),
        labels.into(),
        format!("faults: {}", if faults.is_empty() { "none" } else { &faults }).into(),
    ]
}

fn spectrum(frame: &mut Frame<'_>, watch: &Watch, look: Look<'_>, area: Rect) {
    let block = Block::bordered().title(" Spectrum ");
    let Some(bands) = watch.bands.first().filter(|bands| !bands.is_empty()) else {
        let text = Paragraph::new("the device sends no bands").block(block);
        return frame.render_widget(text, area);
    };
    let inner = block.inner(area);
    let columns = usize::from(inner.width).max(1);
    // If there are more bands than columns, neighbours share a column. It shows the strongest.
    let bands: Vec<f32> = bands
        .chunks(bands.len().div_ceil(columns))
        .map(|share| share.iter().copied().fold(f32::NEG_INFINITY, f32::max))
        .collect();
    let width = (columns / bands.len()).max(1);
    let strongest = bands.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let top = 10.0 * (strongest / 10.0).ceil();
    let floor = top - SPAN_DB;
    let bars: Vec<Bar<'_>> = bands
        .iter()
        .map(|decibels| Bar::default().value((decibels - floor).max(0.0) as u64).text_value(""))
        .collect();
    let (low, high) = match watch.model.as_ref().and_then(ModelSeen::span_hz) {
        Some((low, high)) => (format!(" {low:.0} Hz "), format!(" {high:.0} Hz ")),
        None => (" band 1 ".into(), format!(" band {} ", watch.bands[0].len())),
    };
    let block = block
        .title(TextLine::from(format!(" {floor:.0} to {top:.0} dB ")).right_aligned())
        .title_bottom(low)
        .title_bottom(TextLine::from(high).right_aligned());
    let chart = BarChart::default()
        .block(block)
        .data(BarGroup::default().bars(&bars))
        .max(SPAN_DB as u64)
        .bar_width(width as u16)
        .bar_gap(0)
        .bar_style(look.paint(Color::Cyan));
    frame.render_widget(chart, area);
}

fn trend(frame: &mut Frame<'_>, watch: &Watch, look: Look<'_>, area: Rect) {
    let points: Vec<&TrendPoint> =
        watch.trend.iter().filter(|point| point.value.is_finite()).collect();
    let block = Block::bordered().title(" Log-likelihood ");
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return frame.render_widget(Paragraph::new("nothing yet").block(block), area);
    };
    // A column has two dots. Older points have no room and are left out.
    let room = 2 * u64::from(area.width.saturating_sub(12)).max(10);
    let from = first.at.max(last.at.saturating_sub(room));
    let shown: Vec<&TrendPoint> = points.iter().copied().filter(|p| p.at >= from).collect();
    let least = last.least;
    let best = shown.iter().map(|point| point.value).fold(least, f32::max);
    let worst = shown.iter().map(|point| point.value).fold(least, f32::min);
    let bottom = worst.max(least - (BELOW.0 * (best - least)).max(BELOW.1)) - 0.5;
    let bounds = [f64::from(bottom), f64::from(best + 0.5)];
    let span = [from as f64, (last.at.max(from + 10)) as f64];
    let values: Vec<(f64, f64)> = shown
        .iter()
        .map(|point| (point.at as f64, f64::from(point.value.max(bottom + 0.25))))
        .collect();
    let limit = [(span[0], f64::from(least)), (span[1], f64::from(least))];
    let data = |points, colour, kind| {
        let set = Dataset::default().marker(Marker::Braille).graph_type(kind).data(points);
        set.style(look.paint(colour))
    };
    let sets = vec![
        data(&limit, Color::Red, GraphType::Line),
        data(&values, Color::Green, GraphType::Scatter),
    ];
    let block = block.title(TextLine::from(format!(" threshold {least:.2} ")).right_aligned());
    let labels = bounds.map(|bound| Span::from(format!("{bound:.1}")));
    let chart = Chart::new(sets)
        .block(block)
        .x_axis(Axis::default().bounds(span))
        .y_axis(Axis::default().bounds(bounds).labels(labels));
    frame.render_widget(chart, area);
}

fn messages(frame: &mut Frame<'_>, watch: &Watch, area: Rect) {
    let block = Block::bordered().title(" Messages ");
    let room = usize::from(block.inner(area).height);
    let from = watch.messages.len().saturating_sub(room);
    let lines: Vec<TextLine<'_>> =
        watch.messages.iter().skip(from).map(|message| message.as_str().into()).collect();
    frame.render_widget(Paragraph::new(lines).block(block), area);
}

#[cfg(test)]
mod tests {
    use super::{Look, Watch, draw};
    use ratatui::Terminal;
    use ratatui::backend::TestBackend;
    use rebearing_host::device::line::Line;

    /// The firmware's output in QEMU. `cargo xtask test boards` checks that it is the same.
    const TOUR: &str =
        include_str!("../../../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt");

    fn drawn(lines: usize, columns: u16, rows: u16) -> String {
        let mut watch = Watch::default();
        TOUR.lines().take(lines).for_each(|line| watch.push(Line::parse(line.as_bytes())));
        let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
        let look = Look { title: "recorded", colour: true, ended: false };
        terminal.draw(|frame| draw(frame, &watch, look)).unwrap();
        let buffer = terminal.backend().buffer().clone();
        let mut text = String::new();
        for row in 0..rows {
            let line: String = (0..columns).map(|column| buffer[(column, row)].symbol()).collect();
            text += line.trim_end();
            text.push('\n');
        }
        text
    }

    /// Each picture has its own file. To make them again, set `REBEARING_REDRAW=1` and look at what
    /// changed.
    fn compare(name: &str, picture: &str) {
        let path = format!("{}/tests/watch/{name}.txt", env!("CARGO_MANIFEST_DIR"));
        if std::env::var_os("REBEARING_REDRAW").is_some() {
            std::fs::write(&path, picture).unwrap();
        }
        let wanted = std::fs::read_to_string(&path).unwrap();
        assert_eq!(picture, wanted, "{name} is now\n{picture}and was\n{wanted}");
    }

    #[test]
    fn a_recorded_stream_fills_80_columns_and_24_rows() {
        compare("healthy", &drawn(17, 80, 24));
        compare("alarm", &drawn(29, 80, 24));
        compare("sensor-fault", &drawn(40, 80, 24));
        compare("end", &drawn(usize::MAX, 80, 24));
    }

    #[test]
    fn hidden_characters_are_not_drawn() {
        let mut watch = Watch::default();
        watch.push(Line::parse("hello\u{2028}world \u{202e}fdp\u{2066}".as_bytes()));
        for (columns, rows) in [(80, 24), (30, 10)] {
            let mut terminal = Terminal::new(TestBackend::new(columns, rows)).unwrap();
            let look = Look { title: "x\u{2028}\u{202e}", colour: true, ended: false };
            terminal.draw(|frame| draw(frame, &watch, look)).unwrap();
            let cells = terminal.backend().buffer().content.clone();
            assert!(!cells.iter().any(|cell| cell.symbol().contains(super::is_hidden)));
        }
    }

    #[test]
    fn every_size_is_drawn() {
        for (columns, rows) in [(1, 1), (3, 40), (20, 5), (59, 24), (60, 18), (80, 17), (300, 90)] {
            for lines in [0, 4, 5, 6, 40, 100] {
                let picture = drawn(lines, columns, rows);
                assert_eq!(picture.lines().count(), usize::from(rows));
            }
        }
        assert!(drawn(17, 40, 10).contains("Healthy"));
    }
}

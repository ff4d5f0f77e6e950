//! The tables.

use std::fmt::Write as _;

use super::rows::{Row, Stage};

/// Everything that was measured, as text.
pub(super) fn text(emulator: &str, rows: &[Row], stages: &[Stage]) -> String {
    let mut text = format!("{emulator}, -icount shift=0; instructions, not cycles\n\n");
    let mut shapes: Vec<(usize, usize)> = Vec::new();
    let mut lines: Vec<(&str, &str, &str, &str)> = Vec::new();
    for row in rows {
        let line = (&row.core[..], &row.encoding[..], &row.kernel[..], &row.case[..]);
        if !shapes.contains(&(row.components, row.dims)) {
            shapes.push((row.components, row.dims));
        }
        if !lines.contains(&line) {
            lines.push(line);
        }
    }
    let _ = write!(text, "| core | encoding | kernel | case |");
    for (components, dims) in &shapes {
        let _ = write!(text, " {components}, {dims} |");
    }
    let _ = writeln!(text, "\n|---|---|---|---|{}", "---|".repeat(shapes.len()));
    for (core, encoding, kernel, case) in lines {
        let _ = write!(text, "| {core} | {encoding} | {kernel} | {case} |");
        for shape in &shapes {
            let row = rows.iter().find(|row| {
                (row.components, row.dims) == *shape
                    && (&row.core[..], &row.encoding[..], &row.kernel[..], &row.case[..])
                        == (core, encoding, kernel, case)
            });
            let _ = match row {
                Some(row) => write!(text, " {} |", row.instructions),
                None => write!(text, " – |"),
            };
        }
        text.push('\n');
    }
    if !stages.is_empty() {
        text.push_str(
            "\n| core | encoding | kernel | stage | instructions |\n|---|---|---|---|---|\n",
        );
    }
    for Stage { core, encoding, kernel, name, instructions } in stages {
        let _ = writeln!(text, "| {core} | {encoding} | {kernel} | {name} | {instructions} |");
    }
    text
}

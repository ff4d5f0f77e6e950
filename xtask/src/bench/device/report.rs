//! The tables of the device bench.

use std::fmt::Write as _;

use super::rows::{BESIDE, Function, Row, Stack, Stage};
use super::{Measured, Unfit};

/// The words that identify a line of a table.
type Line<'r> = [&'r str; 4];

/// Returns all measurements as text.
pub(super) fn text(emulator: &str, measured: &Measured) -> String {
    let mut text = format!("{emulator}, -icount shift=0; instructions, not cycles\n\n");
    text += &table(&measured.rows, "instructions", |row| Some(row.instructions));
    text += &table(&measured.rows, "flash, bytes", |row| row.flash);
    text += &table(&measured.rows, "RAM, bytes", |row| row.ram);
    text += &stages(&measured.stages);
    for Stack { core, encoding, kernel, push, start, new, ram } in &measured.stacks {
        let _ = writeln!(
            text,
            "{core} {encoding} {kernel}: push takes {push} bytes of stack, the monitor {ram} bytes of RAM; \
             to start it in place takes {start} bytes of stack, to build it with `new` {new}"
        );
    }
    for Function { core, name, library, instructions, error } in &measured.functions {
        let _ = writeln!(
            text,
            "{core}: {name} of {library} takes {instructions} instructions, error {error:.1e}"
        );
    }
    for Unfit { core, problem, bytes, room } in &measured.unfit {
        let _ =
            writeln!(text, "{core}: {problem} does not fit, {bytes} bytes where there are {room}");
    }
    text
}

fn line(row: &Row) -> Line<'_> {
    [&row.core, &row.encoding, &row.kernel, &row.case]
}

/// Returns a table with a column for each shape.
fn table(rows: &[Row], what: &str, value: impl Fn(&Row) -> Option<u64>) -> String {
    let mut shapes: Vec<(usize, usize)> = Vec::new();
    let mut lines: Vec<Line<'_>> = Vec::new();
    for row in rows.iter().filter(|row| value(row).is_some()) {
        if !shapes.contains(&(row.components, row.dims)) {
            shapes.push((row.components, row.dims));
        }
        if !lines.contains(&line(row)) {
            lines.push(line(row));
        }
    }
    shapes.sort_by_key(|(components, dims)| (components * dims, *dims));
    let mut text = format!("| {what} | | | |");
    for (components, dims) in &shapes {
        let _ = write!(text, " {components}, {dims} |");
    }
    let _ = writeln!(text, "\n|---|---|---|---|{}", "---|".repeat(shapes.len()));
    for words in lines {
        let _ = write!(text, "| {} |", words.join(" | "));
        for shape in &shapes {
            let row =
                rows.iter().find(|row| (row.components, row.dims) == *shape && line(row) == words);
            let _ = match row.and_then(&value) {
                Some(value) => write!(text, " {value} |"),
                None => write!(text, " – |"),
            };
        }
        text.push('\n');
    }
    text + "\n"
}

/// Returns a table with a column for each stage, their sum, and the stages outside the sum.
fn stages(stages: &[Stage]) -> String {
    let mut names: Vec<&str> = Vec::new();
    let mut lines: Vec<[&str; 3]> = Vec::new();
    for stage in stages {
        if !names.contains(&&stage.name[..]) {
            names.push(&stage.name);
        }
        if !lines.contains(&[&stage.core, &stage.encoding, &stage.kernel]) {
            lines.push([&stage.core, &stage.encoding, &stage.kernel]);
        }
    }
    let (beside, summed): (Vec<&str>, Vec<&str>) =
        names.iter().copied().partition(|name| BESIDE.contains(name));
    let heads = [&summed[..], &["sum"], &beside[..]].concat();
    let mut text =
        format!("| instructions of a window | | | {} |\n|---|---|---|", heads.join(" | "));
    let _ = writeln!(text, "{}", "---|".repeat(heads.len()));
    for words in lines {
        let count = |name: &str| {
            let found = stages.iter().find(|stage| {
                stage.name == name && [&stage.core[..], &stage.encoding, &stage.kernel] == words
            });
            found.map(|stage| stage.instructions)
        };
        let sum: u64 = summed.iter().filter_map(|name| count(name)).sum();
        let _ = write!(text, "| {} |", words.join(" | "));
        for name in &heads {
            let _ = match if *name == "sum" { Some(sum) } else { count(name) } {
                Some(instructions) => write!(text, " {instructions} |"),
                None => write!(text, " – |"),
            };
        }
        text.push('\n');
    }
    text + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::bench::device::quoted;

    #[test]
    fn a_shape_without_a_row_has_a_dash() {
        let text = table(&quoted::rows(), "instructions", |row| Some(row.instructions));
        let m0 = text.lines().find(|line| line.contains("cortex-m0")).unwrap();
        assert!(m0.contains("| – | – | – | 19200000 |"), "{text}");
        assert!(!table(&quoted::rows(), "flash", |row| row.flash).contains("cmsis"));
    }
}

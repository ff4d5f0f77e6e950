//! The firmware's measurements: a row per mixture, a row per stage.

use crate::bench::json::{Answer, Json};

/// One inference with a mixture.
#[derive(Debug, Clone)]
pub(super) struct Row {
    pub(super) core: String,
    pub(super) encoding: String,
    pub(super) kernel: String,
    pub(super) components: usize,
    pub(super) dims: usize,
    pub(super) case: String,
    pub(super) instructions: u64,
    /// Bytes of the inference's code and the mixture's numbers.
    pub(super) flash: Option<u64>,
    /// Bytes of the inference's buffers, without the features and the stack.
    pub(super) ram: Option<u64>,
    /// A digest of the bits of all results. `None` if the results need not agree in every bit.
    pub(super) bits: Option<u64>,
}

/// One stage of a whole window.
#[derive(Debug, Clone)]
pub(super) struct Stage {
    pub(super) core: String,
    pub(super) encoding: String,
    pub(super) kernel: String,
    pub(super) name: String,
    pub(super) instructions: u64,
}

/// Stack that a monitor takes, and its RAM.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    pub(super) core: String,
    pub(super) encoding: String,
    pub(super) kernel: String,
    /// To push samples.
    pub(super) push: u64,
    /// To start it in place.
    pub(super) start: u64,
    /// To build it by `new`, the monitor itself included.
    pub(super) new: u64,
    pub(super) ram: u64,
}

impl Stack {
    pub(super) fn read(answer: &Answer) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            encoding: answer.text("encoding")?.to_owned(),
            kernel: answer.text("kernel")?.to_owned(),
            push: answer.number("stack")? as u64,
            start: answer.number("start")? as u64,
            new: answer.number("new")? as u64,
            ram: answer.number("ram")? as u64,
        })
    }

    pub(super) fn json(&self) -> Json {
        Json::object([
            ("core", Json::text(&self.core)),
            ("encoding", Json::text(&self.encoding)),
            ("kernel", Json::text(&self.kernel)),
            ("stack", Json::Number(self.push as f64)),
            ("start", Json::Number(self.start as f64)),
            ("new", Json::Number(self.new as f64)),
            ("ram", Json::Number(self.ram as f64)),
        ])
    }
}

/// A call of a mathematical function.
#[derive(Debug, Clone)]
pub(super) struct Function {
    pub(super) core: String,
    pub(super) name: String,
    pub(super) library: String,
    pub(super) instructions: u64,
    /// Largest error relative to the result.
    pub(super) error: f64,
}

impl Function {
    pub(super) fn read(answer: &Answer) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            name: answer.text("function")?.to_owned(),
            library: answer.text("library")?.to_owned(),
            instructions: answer.number("instructions")? as u64,
            error: answer.number("error_billionths")? / 1e9,
        })
    }

    pub(super) fn json(&self) -> Json {
        Json::object([
            ("core", Json::text(&self.core)),
            ("function", Json::text(&self.name)),
            ("library", Json::text(&self.library)),
            ("instructions", Json::Number(self.instructions as f64)),
            ("error", Json::Number(self.error)),
        ])
    }
}

impl Row {
    /// Reads the firmware's row and adds the size of its `code`.
    pub(super) fn read(answer: &Answer, code: u64) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            encoding: answer.text("encoding")?.to_owned(),
            kernel: answer.text("kernel")?.to_owned(),
            components: answer.number("components")? as usize,
            dims: answer.number("dims")? as usize,
            case: answer.text("case")?.to_owned(),
            instructions: answer.number("instructions")? as u64,
            flash: Some(code + answer.number("parameters")? as u64),
            ram: Some(answer.number("ram")? as u64),
            bits: answer.number("bits").ok().map(|bits| bits as u64),
        })
    }

    pub(super) fn json(&self) -> Json {
        let optional =
            |value: Option<u64>| value.map_or(Json::Null, |value| Json::Number(value as f64));
        let number = |value: u64| Json::Number(value as f64);
        Json::object([
            ("core", Json::text(&self.core)),
            ("encoding", Json::text(&self.encoding)),
            ("kernel", Json::text(&self.kernel)),
            ("components", number(self.components as u64)),
            ("dims", number(self.dims as u64)),
            ("case", Json::text(&self.case)),
            ("instructions", number(self.instructions)),
            ("flash", optional(self.flash)),
            ("ram", optional(self.ram)),
        ])
    }
}

impl Stage {
    pub(super) fn read(answer: &Answer) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            encoding: answer.text("encoding")?.to_owned(),
            kernel: answer.text("kernel")?.to_owned(),
            name: answer.text("stage")?.to_owned(),
            instructions: answer.number("instructions")? as u64,
        })
    }

    pub(super) fn json(&self) -> Json {
        Json::object([
            ("core", Json::text(&self.core)),
            ("encoding", Json::text(&self.encoding)),
            ("stage", Json::text(&self.name)),
            ("instructions", Json::Number(self.instructions as f64)),
        ])
    }
}

/// Names of stages outside the sum: another way to push, and the whole window.
pub(super) const BESIDE: [&str; 2] = ["push singly", "whole"];

/// Returns each stage of a window once per core and encoding, from the kernel with the fewest
/// instructions.
pub(super) fn leanest(stages: &[Stage]) -> impl Iterator<Item = &Stage> {
    let same =
        |a: &Stage, b: &Stage| (&a.core, &a.encoding, &a.name) == (&b.core, &b.encoding, &b.name);
    stages.iter().enumerate().filter_map(move |(index, stage)| {
        let leaner = |(other, rival): (usize, &Stage)| {
            same(stage, rival) && (rival.instructions, other) < (stage.instructions, index)
        };
        let counts = !BESIDE.contains(&&stage.name[..]);
        (counts && !stages.iter().enumerate().any(leaner)).then_some(stage)
    })
}

/// Checks that every kernel on every core gave the same bits for the same problem.
pub(super) fn same_bits(rows: &[Row]) -> Result<(), String> {
    let problem = |row: &Row| (row.encoding.clone(), row.components, row.dims, row.case.clone());
    for (index, row) in rows.iter().enumerate().filter(|(_, row)| row.bits.is_some()) {
        let earlier = rows.iter().take(index).filter(|other| other.bits.is_some());
        let mut earlier = earlier.filter(|other| problem(other) == problem(row));
        if let Some(other) = earlier.find(|other| other.bits != row.bits) {
            let [a, b] = [other, row].map(|row| format!("{} on {}", row.kernel, row.core));
            return Err(format!("{a} and {b} differ in a bit of {:?}", problem(row)));
        }
    }
    Ok(())
}

/// Checks that early drop costs at most a quarter more than no early drop when nothing can be
/// dropped.
pub(super) fn worst_within_a_quarter(rows: &[Row]) -> Result<(), String> {
    let same = |a: &Row, b: &Row| {
        (&a.core, &a.encoding, &a.kernel) == (&b.core, &b.encoding, &b.kernel)
            && (a.components, a.dims) == (b.components, b.dims)
    };
    for worst in rows.iter().filter(|row| row.case == "worst") {
        let plain = rows.iter().find(|row| row.case == "plain" && same(row, worst));
        let plain = plain.ok_or_else(|| format!("{worst:?} has no plain row to compare with"))?;
        if 4 * worst.instructions > 5 * plain.instructions {
            let Row { core, encoding, kernel, components, dims, .. } = worst;
            return Err(format!(
                "{core} {encoding} {kernel} ({components}, {dims}): {} instructions at worst, \
                 more than a quarter above the {} of plain",
                worst.instructions, plain.instructions
            ));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(kernel: &str, case: &str, bits: Option<u64>) -> Row {
        Row {
            core: "cortex-m4f".into(),
            encoding: "f32".into(),
            kernel: kernel.into(),
            components: 10,
            dims: 16,
            case: case.into(),
            instructions: 1,
            flash: None,
            ram: None,
            bits,
        }
    }

    #[test]
    fn a_bit_that_differs_is_noticed_and_other_problems_are_not_compared() {
        let rows = [row("safe", "plain", Some(1)), row("safe", "worst", Some(2))];
        let emlearn = row("emlearn", "plain", None);
        let all = |last: Row| [&rows[..], &[emlearn.clone(), last]].concat();
        assert_eq!(same_bits(&all(row("asm", "plain", Some(1)))), Ok(()));
        assert!(same_bits(&all(row("asm", "plain", Some(3)))).unwrap_err().contains("asm"));
    }

    #[test]
    fn a_worst_case_beyond_a_quarter_is_noticed() {
        let of = |case: &str, instructions| Row { instructions, ..row("safe", case, None) };
        let rows = |worst| [of("plain", 100), of("clustered", 200), of("worst", worst)];
        assert_eq!(worst_within_a_quarter(&rows(125)), Ok(()));
        assert!(worst_within_a_quarter(&rows(126)).unwrap_err().contains("126"));
        assert!(worst_within_a_quarter(&rows(100)[1..]).is_err());
    }

    #[test]
    fn a_stage_is_listed_once_by_its_leanest_kernel() {
        let stage = |kernel: &str, name: &str, instructions| Stage {
            core: "cortex-m4f".into(),
            encoding: "f32".into(),
            kernel: kernel.into(),
            name: name.into(),
            instructions,
        };
        let stages = [
            stage("safe", "fft", 7),
            stage("safe", "mixture", 9),
            stage("safe", "whole", 99),
            stage("asm", "fft", 7),
            stage("asm", "mixture", 5),
        ];
        let counts: Vec<u64> = leanest(&stages).map(|stage| stage.instructions).collect();
        assert_eq!(counts, [7, 5]);
    }
}

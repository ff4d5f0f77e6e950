//! What the firmware measured: a row per mixture, a row per stage.

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
    /// Code of the inference, and the mixture's numbers.
    pub(super) flash: Option<u64>,
    /// Buffers of the inference, without the features and the stack.
    pub(super) ram: Option<u64>,
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

/// What a monitor's push takes of the stack, and the monitor of RAM.
#[derive(Debug, Clone)]
pub(super) struct Stack {
    pub(super) core: String,
    pub(super) kernel: String,
    pub(super) bytes: u64,
    pub(super) ram: u64,
}

impl Stack {
    pub(super) fn read(answer: &Answer) -> Result<Self, String> {
        Ok(Self {
            core: answer.text("core")?.to_owned(),
            kernel: answer.text("kernel")?.to_owned(),
            bytes: answer.number("stack")? as u64,
            ram: answer.number("ram")? as u64,
        })
    }

    pub(super) fn json(&self) -> Json {
        Json::object([
            ("core", Json::text(&self.core)),
            ("kernel", Json::text(&self.kernel)),
            ("stack", Json::Number(self.bytes as f64)),
            ("ram", Json::Number(self.ram as f64)),
        ])
    }
}

impl Row {
    /// The firmware's row, with the size of its `code`.
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
            ("kernel", Json::text(&self.kernel)),
            ("stage", Json::text(&self.name)),
            ("instructions", Json::Number(self.instructions as f64)),
        ])
    }
}

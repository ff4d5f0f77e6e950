//! The rows that a bench prints, as lines of JSON.

use super::CORE;
use crate::line::Line;
use crate::semihosting::Console;

/// One row of the table of mixtures.
pub struct Row {
    /// How the model's numbers are stored.
    pub encoding: &'static str,
    /// Which code evaluates them.
    pub kernel: &'static str,
    /// Components of the mixture.
    pub components: usize,
    /// Features.
    pub dims: usize,
    /// `plain`, `clustered` or `worst`.
    pub case: &'static str,
    /// Instructions of one inference.
    pub instructions: u32,
    /// Bytes of parameters in flash.
    pub parameters: usize,
    /// Bytes of buffers.
    pub ram: usize,
    /// Digest of the bits of all results; `None` if no other code has to give the same bits.
    pub bits: Option<Digest>,
}

/// A digest of results by FNV-1a over words; it differs if the results differ in a bit.
#[derive(Clone, Copy)]
pub struct Digest(u32);

impl Digest {
    /// The digest of no words.
    pub const EMPTY: Self = Self(0x811C_9DC5);

    /// Adds one more word of the results.
    pub fn add(&mut self, word: u32) {
        self.0 = (self.0 ^ word).wrapping_mul(0x0100_0193);
    }

    /// Adds the exact bits of floats.
    pub fn add_floats(&mut self, floats: &[f32]) {
        for x in floats {
            self.add(x.to_bits());
        }
    }
}

impl Row {
    /// Prints the row as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(self.encoding);
        line.text("\",\"kernel\":\"").text(self.kernel);
        line.text("\",\"components\":").decimal(self.components);
        line.text(",\"dims\":").decimal(self.dims);
        line.text(",\"case\":\"").text(self.case);
        line.text("\",\"instructions\":").decimal(self.instructions as usize);
        line.text(",\"parameters\":").decimal(self.parameters);
        line.text(",\"ram\":").decimal(self.ram);
        if let Some(Digest(bits)) = self.bits {
            line.text(",\"bits\":").decimal(bits as usize);
        }
        line.text("}").end();
    }
}

/// The cost and the error of a mathematical function.
pub struct Function {
    /// Name of the function.
    pub name: &'static str,
    /// The library that it comes from.
    pub library: &'static str,
    /// Instructions of one call.
    pub instructions: u32,
    /// Largest error relative to the result, in 10⁻⁹.
    pub error_billionths: usize,
}

impl Function {
    /// Prints the function as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"function\":\"").text(self.name);
        line.text("\",\"library\":\"").text(self.library);
        line.text("\",\"instructions\":").decimal(self.instructions as usize);
        line.text(",\"error_billionths\":").decimal(self.error_billionths).text("}").end();
    }
}

/// The stack that a monitor needs, and its RAM.
pub struct Stack {
    /// How the model's numbers are stored.
    pub encoding: &'static str,
    /// Which code evaluates them.
    pub kernel: &'static str,
    /// Largest number of stack bytes that a push takes.
    pub push: usize,
    /// Bytes of stack to start the monitor in place.
    pub start: usize,
    /// Bytes of stack to build the monitor by `new`, including the monitor.
    pub new: usize,
    /// Bytes of RAM of the monitor.
    pub ram: usize,
}

impl Stack {
    /// Prints the sizes as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(self.encoding);
        line.text("\",\"kernel\":\"").text(self.kernel);
        line.text("\",\"stack\":").decimal(self.push);
        line.text(",\"start\":").decimal(self.start);
        line.text(",\"new\":").decimal(self.new);
        line.text(",\"ram\":").decimal(self.ram).text("}").end();
    }
}

/// The cost of a step of the receiver of new models.
pub struct Step {
    /// Name of the step.
    pub name: &'static str,
    /// Who verifies: `ed25519`, `unsigned`, or `none` without a store.
    pub verifier: &'static str,
    /// Bytes of a model.
    pub bytes: usize,
    /// Instructions.
    pub instructions: u32,
    /// Bytes of stack.
    pub stack: usize,
}

impl Step {
    /// Prints the step as a line of JSON.
    pub fn print(&self, console: &Console) {
        let mut line = Line::new(console);
        line.text("{\"core\":\"").text(CORE).text("\",\"step\":\"").text(self.name);
        line.text("\",\"verifier\":\"").text(self.verifier);
        line.text("\",\"bytes\":").decimal(self.bytes);
        line.text(",\"instructions\":").decimal(self.instructions as usize);
        line.text(",\"stack\":").decimal(self.stack).text("}").end();
    }
}

/// Prints the instructions of one stage of a window as a line of JSON.
pub fn print_stage(
    console: &Console,
    encoding: &str,
    kernel: &str,
    stage: &str,
    instructions: u32,
) {
    let mut line = Line::new(console);
    line.text("{\"core\":\"").text(CORE).text("\",\"encoding\":\"").text(encoding);
    line.text("\",\"kernel\":\"").text(kernel).text("\",\"stage\":\"").text(stage);
    line.text("\",\"instructions\":").decimal(instructions as usize).text("}").end();
}

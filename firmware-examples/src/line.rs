//! Lines of text for the console, composed in a buffer and written at once.
//!
//! They are composed by hand instead of with `core::fmt`, because reports give floats as exact
//! bits, and because less formatting code means less to prove free of panics.

use crate::semihosting::Console;

/// A line under construction.
pub struct Line<'c> {
    console: &'c Console,
    buffer: [u8; 512],
    length: usize,
}

impl<'c> Line<'c> {
    /// An empty line for `console`.
    pub fn new(console: &'c Console) -> Self {
        Self { console, buffer: [0; 512], length: 0 }
    }

    /// Appends `text`.
    pub fn text(&mut self, text: &str) -> &mut Self {
        text.bytes().for_each(|byte| self.byte(byte));
        self
    }

    /// Appends a decimal number.
    pub fn decimal(&mut self, number: usize) -> &mut Self {
        if number >= 10 {
            self.decimal(number / 10);
        }
        // This is one digit, so the cast cuts nothing off.
        self.byte(b'0' + (number % 10) as u8);
        self
    }

    /// Appends eight hexadecimal digits.
    pub fn hexadecimal(&mut self, number: u32) -> &mut Self {
        for shift in (0..8).rev() {
            let digit = (number >> (4 * shift) & 15) as u8;
            self.byte(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 });
        }
        self
    }

    /// Appends the exact bits of a float as eight hexadecimal digits.
    pub fn bits(&mut self, number: f32) -> &mut Self {
        self.hexadecimal(number.to_bits())
    }

    /// Ends the line and writes it.
    pub fn end(&mut self) {
        self.byte(b'\n');
        self.flush();
    }

    fn byte(&mut self, byte: u8) {
        if self.length == self.buffer.len() {
            self.flush();
        }
        if let Some(place) = self.buffer.get_mut(self.length) {
            *place = byte;
            self.length += 1;
        }
    }

    fn flush(&mut self) {
        if let Some(text) = self.buffer.get(..self.length) {
            self.console.write(text);
        }
        self.length = 0;
    }
}

impl core::fmt::Write for Line<'_> {
    fn write_str(&mut self, text: &str) -> core::fmt::Result {
        self.text(text);
        Ok(())
    }
}

//! A line of text in the making, with its checksum.

use core::fmt::{self, Write};

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

use super::MARK;
use crate::classify::Label;
use crate::model::{AnyModel, Decimal, Places};
use crate::operation::alarm::{AlarmState, Raised, State};

pub(super) const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// A line in the making, and the checksum so far.
///
/// It writes to a `dyn Write`, and its parts are never inlined. A line has many parts and is not
/// written often, so size counts for more than speed.
pub(super) struct Checked<'w> {
    out: &'w mut dyn Write,
    digest: Digest<'static, u32, Table<1>>,
}

impl<'w> Checked<'w> {
    pub(super) fn start(out: &'w mut dyn Write, kind: &str) -> Result<Self, fmt::Error> {
        let mut line = Self { out, digest: CRC.digest() };
        line.text(MARK)?;
        line.text(kind)?;
        Ok(line)
    }

    pub(super) fn end(mut self) -> fmt::Result {
        let checksum = self.digest.clone().finalize();
        self.text(" crc=")?;
        self.hexadecimal(checksum, 8)
    }

    #[inline(never)]
    pub(super) fn text(&mut self, text: &str) -> fmt::Result {
        self.digest.update(text.as_bytes());
        self.out.write_str(text)
    }

    fn ascii(&mut self, byte: u8) -> fmt::Result {
        self.digest.update(&[byte]);
        self.out.write_char(char::from(byte))
    }

    pub(super) fn decimal(&mut self, number: u32) -> fmt::Result {
        self.digits(number, 1)
    }

    /// Each name with its number.
    pub(super) fn counts(&mut self, counts: &[(&str, usize)]) -> fmt::Result {
        counts.iter().try_for_each(|(name, count)| {
            self.text(name)?;
            self.decimal(*count as u32)
        })
    }

    /// A decimal number with at least so many digits.
    #[inline(never)]
    fn digits(&mut self, mut number: u32, least: usize) -> fmt::Result {
        let mut digits = [b'0'; 10];
        let mut count = 0;
        for digit in digits.iter_mut().rev() {
            if number == 0 && count >= least {
                break;
            }
            // One digit, so nothing is cut off.
            *digit += (number % 10) as u8;
            number /= 10;
            count += 1;
        }
        digits.iter().skip(10 - count.min(10)).try_for_each(|digit| self.ascii(*digit))
    }

    /// A decimal number; `nan` for none.
    #[inline(never)]
    pub(super) fn fixed(&mut self, number: Option<Decimal>, places: Places) -> fmt::Result {
        let Some(Decimal { negative, whole, rest }) = number else { return self.text("nan") };
        self.text(if negative { "-" } else { "" })?;
        self.decimal(whole)?;
        self.text(".")?;
        self.digits(rest, places.digits())
    }

    #[inline(never)]
    pub(super) fn hexadecimal(&mut self, number: u32, digits: u32) -> fmt::Result {
        for place in (0..digits).rev() {
            let digit = (number >> ((4 * place) & 31) & 15) as u8;
            self.ascii(if digit < 10 { b'0' + digit } else { b'a' + digit - 10 })?;
        }
        Ok(())
    }

    /// A word of bits as eight hexadecimal digits; a dash for none.
    pub(super) fn word(&mut self, bits: Option<u32>) -> fmt::Result {
        match bits {
            Some(bits) => self.hexadecimal(bits, 8),
            None => self.text("-"),
        }
    }

    /// Writes `name`, and the items with commas between.
    pub(super) fn list<T>(
        &mut self,
        name: &str,
        items: &[T],
        mut item: impl FnMut(&mut Self, &T) -> fmt::Result,
    ) -> fmt::Result {
        self.text(name)?;
        for (index, each) in items.iter().enumerate() {
            self.text(if index == 0 { "" } else { "," })?;
            item(self, each)?;
        }
        Ok(())
    }

    #[inline(never)]
    pub(super) fn label<B>(&mut self, model: &AnyModel<'_, B>, label: Label) -> fmt::Result {
        match label {
            Label::Class(class) => {
                self.decimal(class as u32)?;
                self.text(":")?;
                self.name(model.class_name(class).unwrap_or("?"))
            }
            Label::Unknown => self.text("unknown"),
            Label::UnknownFault => self.text("unknown_fault"),
        }
    }

    /// A class name; what would end a word or a line as `%` and two digits.
    #[inline(never)]
    pub(super) fn name(&mut self, name: &str) -> fmt::Result {
        for character in name.chars() {
            match character {
                '\0'..=' ' | '%' | ',' | ':' | '=' | '\x7f' => {
                    self.text("%")?;
                    self.hexadecimal(u32::from(character), 2)?;
                }
                // Their first byte in UTF-8 is C2, and their second their number.
                '\u{80}'..='\u{9f}' => {
                    self.text("%c2%")?;
                    self.hexadecimal(u32::from(character), 2)?;
                }
                _ => {
                    self.digest.update(character.encode_utf8(&mut [0; 4]).as_bytes());
                    self.out.write_char(character)?;
                }
            }
        }
        Ok(())
    }

    pub(super) fn alarm<B>(&mut self, model: &AnyModel<'_, B>, alarm: &AlarmState) -> fmt::Result {
        self.text(" state=")?;
        self.text(alarm.state.name())?;
        if let State::SensorFault(fault) = alarm.state {
            self.text(":")?;
            self.text(fault.name())?;
        }
        if let Some(level) = alarm.level {
            self.text(" level=")?;
            self.fixed(Some(Decimal::of_q15(level, Places::Three)), Places::Three)?;
        }
        if let Some(Raised { label, active, acknowledged }) = alarm.alarm {
            self.text(" alarm=")?;
            self.label(model, label)?;
            self.text(if active { ",on" } else { ",latched" })?;
            self.text(if acknowledged { ",acknowledged" } else { ",new" })?;
        }
        Ok(())
    }
}

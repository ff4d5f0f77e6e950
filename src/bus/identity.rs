//! Identification of a device (function 43, type 14): its names, one by one or all at once.

use super::answer::{Answer, Exception};
use super::map::cut;

/// Objects of an identity.
pub const OBJECTS: usize = 7;
/// Objects of the basic identity: vendor, product code, revision.
const BASIC: usize = 3;
/// Longest text of an object; longer ones are cut.
pub const OBJECT_LEN: usize = 64;
/// Type of the request inside function 43.
pub const IDENTIFICATION: u8 = 14;
/// Basic and regular objects, one by one too.
const CONFORMITY: u8 = 0x82;
/// Place of the flag that more objects follow, and of the next one, in the answer.
const MORE_AT: usize = 4;

/// The names of a device. Texts are cut to 64 bytes; controllers expect ASCII.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Identity<'a> {
    /// Who made the device.
    pub vendor: &'a str,
    /// Product code, for example the name of the board.
    pub product_code: &'a str,
    /// Version of the firmware.
    pub revision: &'a str,
    /// Where to read about it.
    pub url: &'a str,
    /// Name of the product.
    pub product: &'a str,
    /// Name of the variant, for example chip and sensor.
    pub variant: &'a str,
    /// The machine that it watches: the target's name in the model.
    pub application: &'a str,
}

impl Identity<'_> {
    fn object(&self, id: usize) -> Option<&str> {
        let objects: [&str; OBJECTS] = [
            self.vendor,
            self.product_code,
            self.revision,
            self.url,
            self.product,
            self.variant,
            self.application,
        ];
        objects.get(id).map(|text| cut(text, OBJECT_LEN))
    }

    /// Writes the answer to a request for objects.
    pub(super) fn answer(&self, data: &[u8], answer: &mut Answer) -> Result<(), Exception> {
        let (kind, rest) = data.split_first().ok_or(Exception::Value)?;
        if *kind != IDENTIFICATION {
            return Err(Exception::Function);
        }
        let &[code, first] = rest else { return Err(Exception::Value) };
        let first = usize::from(first);
        let objects = match code {
            1 => stream(first, BASIC),
            // Extended objects there are none, so this is answered as regular.
            2 | 3 => stream(first, OBJECTS),
            4 if first < OBJECTS => first..first + 1,
            4 => return Err(Exception::Address),
            _ => return Err(Exception::Value),
        };
        answer.extend(&[IDENTIFICATION, code, CONFORMITY, 0, 0, 0]);
        let mut count = 0;
        for id in objects {
            let Some(text) = self.object(id) else { break };
            if answer.room() < 2 + text.len() {
                answer.set(MORE_AT, 0xff);
                answer.set(MORE_AT + 1, id as u8);
                break;
            }
            answer.extend(&[id as u8, text.len() as u8]);
            answer.extend(text.as_bytes());
            count += 1;
        }
        answer.set(MORE_AT + 2, count);
        Ok(())
    }
}

/// The objects from `first` on; all of them if there is no such object.
fn stream(first: usize, end: usize) -> core::ops::Range<usize> {
    if first < end { first..end } else { 0..end }
}

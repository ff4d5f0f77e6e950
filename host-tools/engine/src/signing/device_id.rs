//! Device ids as people write them.

use rebearing::update::DeviceId;
use thiserror::Error;

use crate::files::hex_bytes;

/// Why a text is not a device id. It does not repeat the text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DeviceIdError {
    /// The text does not have an even number of hexadecimal digits, 2 to 32.
    #[error(
        "`device` takes 2 to 32 hexadecimal digits, two for each byte, such as the 24 of an STM32's \
         unique id"
    )]
    NotHex,
    /// All digits are zero.
    #[error("a `device` of zeros would be every device; leave it out to sign for every device")]
    Any,
}

/// The device id that hexadecimal digits give. Zeros follow if there are fewer than 32.
pub fn parse(digits: &str) -> Result<DeviceId, DeviceIdError> {
    let bytes = hex_bytes(digits).filter(|bytes| (1..=16).contains(&bytes.len()));
    let bytes = bytes.ok_or(DeviceIdError::NotHex)?;
    let mut id = DeviceId::ANY;
    id.0[..bytes.len()].copy_from_slice(&bytes);
    if id == DeviceId::ANY { Err(DeviceIdError::Any) } else { Ok(id) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn short_ids_are_filled_up_with_zeros() {
        let id = |bytes: [u8; 16]| Ok(DeviceId(bytes));
        assert_eq!(parse("01"), id([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]));
        let stm32 = parse("2F0031000a51363238373331");
        assert_eq!(stm32.unwrap().0[..4], [0x2f, 0, 0x31, 0]);
        assert_eq!(stm32.unwrap().0[11..], [0x31, 0, 0, 0, 0]);
        assert_eq!(parse(&"ab".repeat(16)), id([0xab; 16]));
    }

    #[test]
    fn what_is_no_id_is_refused_without_repeating_it() {
        for wrong in ["", "1", "012", "0x12", "abcz", "12 34", &"ab".repeat(17)] {
            assert_eq!(parse(wrong), Err(DeviceIdError::NotHex), "{wrong}");
        }
        for zero in ["00", &"00".repeat(16)] {
            assert_eq!(parse(zero), Err(DeviceIdError::Any));
        }
        assert!(!DeviceIdError::NotHex.to_string().contains("abcz"));
    }
}

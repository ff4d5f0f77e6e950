//! A public key, and its file.

use core::fmt;

use ed25519_compact::Error;

use crate::error::KeyError;
use crate::hex::key_of;

/// A public key of Ed25519. Its first four bytes, which are its id, are not all zero.
///
/// It is not printed: what a log has, anyone may read.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct PublicKey([u8; 32]);

impl PublicKey {
    /// The first word of the file.
    pub const WORD: &'static str = "rebearing-ed25519";

    /// The key that the text of a `.pub` file holds: `rebearing-ed25519`, 64 hexadecimal digits, a
    /// comment.
    ///
    /// This works while compiling, so it does not look whether the bytes are a good point:
    /// [`validate`](Self::validate) does, and every check of a signature does it again.
    pub const fn from_text(text: &str) -> Result<Self, KeyError> {
        match key_of(text.as_bytes(), Self::WORD.as_bytes()) {
            Ok(bytes) => Self::from_bytes(bytes),
            Err(error) => Err(error),
        }
    }

    /// The key of 64 hexadecimal digits.
    ///
    /// # Panics
    /// If they are not, or the first eight are zero. In a `const`, that is an error of the compiler.
    pub const fn from_hex(digits: &str) -> Self {
        let mut text = [b' '; 66];
        text[0] = b'k';
        let (_, place) = text.split_at_mut(2);
        assert!(digits.len() == 64, "a public key has 64 hexadecimal digits");
        place.copy_from_slice(digits.as_bytes());
        match key_of(&text, b"k") {
            Ok(bytes) => Self::or_stop(Self::from_bytes(bytes)),
            Err(error) => Self::or_stop(Err(error)),
        }
    }

    /// The key of these bytes, unless its id is zero.
    pub const fn from_bytes(bytes: [u8; 32]) -> Result<Self, KeyError> {
        let key = Self(bytes);
        if key.id() == 0 { Err(KeyError::NoId) } else { Ok(key) }
    }

    /// For [`public_key!`](crate::public_key!).
    #[doc(hidden)]
    pub const fn or_stop(key: Result<Self, KeyError>) -> Self {
        match key {
            Ok(key) => key,
            Err(error) => panic!("{}", error.text()),
        }
    }

    /// Refuses bytes that are no point of the curve or a point of small order. Neither could verify
    /// anything.
    pub fn validate(&self) -> Result<(), KeyError> {
        ed25519_compact::PublicKey::new(self.0).validate().map_err(|error| match error {
            Error::WeakPublicKey => KeyError::SmallOrder,
            _ => KeyError::NotAPoint,
        })
    }

    /// The id that an envelope names the key by: the first four bytes, little-endian. Never zero.
    pub const fn id(&self) -> u32 {
        let [a, b, c, d, ..] = self.0;
        u32::from_le_bytes([a, b, c, d])
    }

    /// The 32 bytes.
    pub const fn bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("PublicKey")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for PublicKey {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "PublicKey");
    }
}

/// Reads a `.pub` file while compiling. A file that is not a public key does not compile.
///
/// The path is relative to the file that calls the macro, as in `include_str!`.
#[macro_export]
macro_rules! public_key {
    ($path:expr $(,)?) => {
        const { $crate::PublicKey::or_stop($crate::PublicKey::from_text(include_str!($path))) }
    };
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    /// The key of test 1 in RFC 8032, section 7.1.
    const KEY: PublicKey =
        PublicKey::from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");

    #[test]
    fn a_key_is_read_from_its_file_and_its_digits() {
        assert_eq!(crate::public_key!("../tests/plant.pub"), KEY);
        assert_eq!(KEY.id(), 0x0198_5ad7);
        assert_eq!(KEY.validate(), Ok(()));
        assert_eq!(PublicKey::from_bytes(*KEY.bytes()), Ok(KEY));
    }

    #[test]
    fn a_key_without_an_id_is_never_made() {
        let mut bytes = *KEY.bytes();
        bytes[..4].fill(0);
        assert_eq!(PublicKey::from_bytes(bytes), Err(KeyError::NoId));
        let text = format!("rebearing-ed25519 00000000{}", "1".repeat(56));
        assert_eq!(PublicKey::from_text(&text), Err(KeyError::NoId));
        bytes[3] = 1;
        assert!(PublicKey::from_bytes(bytes).is_ok());
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        assert_eq!(format!("{KEY:?}"), "PublicKey");
    }
}

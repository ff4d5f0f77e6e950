//! The reason why a key is not used.

use core::fmt;

/// The reason why a key is not used. It never contains the key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum KeyError {
    /// The file does not begin with the word for its kind.
    OtherFile,
    /// The key does not have 64 hexadecimal digits.
    NotHex,
    /// More than a comment follows the key.
    MoreLines,
    /// The first four bytes are zero, which stands for a model that nobody signed.
    NoId,
    /// The bytes are not the canonical encoding of a point of the curve.
    NotAPoint,
    /// The point has small order: signatures of it can be made without a secret.
    SmallOrder,
}

impl KeyError {
    /// The reason in words.
    pub const fn text(self) -> &'static str {
        match self {
            Self::OtherFile => {
                "it is not a key of this kind: a public key begins with \"rebearing-ed25519 \", a \
                 snapshot key with \"rebearing-snapshot \""
            }
            Self::NotHex => "the key does not have 64 hexadecimal digits",
            Self::MoreLines => {
                "more than one key: after the first line only comments with # are allowed"
            }
            Self::NoId => "its first four bytes are zero: make another key",
            Self::NotAPoint => "it is not a point of the curve: the file is damaged",
            Self::SmallOrder => "it is a weak key, whose signatures anyone can make",
        }
    }
}

impl fmt::Display for KeyError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.text())
    }
}

impl core::error::Error for KeyError {}

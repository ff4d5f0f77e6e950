//! The secret under which a device seals its snapshots: HMAC-SHA-256.

use core::fmt;

use hmac::{Hmac, KeyInit, Mac as _};
use rebearing::operation::snapshot::Mac;
use rebearing::operation::snapshot::sealed::TAG_LEN;
use sha2::Sha256;

use crate::error::KeyError;
use crate::hex::key_of;

/// The secret of one device and its host. Whoever has it can make snapshots of that device.
#[derive(Clone)]
pub struct SnapshotKey([u8; 32]);

impl SnapshotKey {
    /// The first word of the file.
    pub const WORD: &'static str = "rebearing-snapshot";

    /// The key of these bytes.
    pub const fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key that the text of a file holds: `rebearing-snapshot`, 64 hexadecimal digits, a comment.
    pub const fn from_text(text: &str) -> Result<Self, KeyError> {
        match key_of(text.as_bytes(), Self::WORD.as_bytes()) {
            Ok(bytes) => Ok(Self(bytes)),
            Err(error) => Err(error),
        }
    }

    /// A code without bytes yet, for one record.
    pub fn mac(&self) -> SnapshotMac {
        // HMAC fills a key up with zeros to a block of its hash, which cannot fail.
        let mut block = [0; 64];
        block[..32].copy_from_slice(&self.0);
        SnapshotMac(Hmac::new(&block.into()))
    }
}

/// Shows nothing of the key.
impl fmt::Debug for SnapshotKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SnapshotKey")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for SnapshotKey {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SnapshotKey");
    }
}

/// HMAC-SHA-256 under a [`SnapshotKey`].
#[derive(Clone)]
pub struct SnapshotMac(Hmac<Sha256>);

impl SnapshotMac {
    /// Returns true if the tag of all bytes that were taken is `tag`. The time does not tell where
    /// they differ.
    pub fn holds(self, tag: &[u8; TAG_LEN]) -> bool {
        self.0.verify_slice(tag).is_ok()
    }
}

impl Mac for SnapshotMac {
    fn absorb(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn tag(self) -> [u8; TAG_LEN] {
        self.0.finalize().into_bytes().into()
    }
}

impl fmt::Debug for SnapshotMac {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("SnapshotMac")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for SnapshotMac {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SnapshotMac");
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::format;

    fn bytes<const N: usize>(hex: &str) -> [u8; N] {
        core::array::from_fn(|at| u8::from_str_radix(&hex[2 * at..2 * at + 2], 16).unwrap())
    }

    /// RFC 4231, test cases 1, 2 and 4. HMAC fills a short key up with zeros, so a key of 32 bytes
    /// gives the same tag.
    #[test]
    fn tags_are_those_of_the_rfc() {
        let key = |start: &[u8]| {
            let mut key = [0; 32];
            key[..start.len()].copy_from_slice(start);
            SnapshotKey::from_bytes(key)
        };
        let counting: [u8; 25] = core::array::from_fn(|n| n as u8 + 1);
        for (key, message, tag) in [
            (
                key(&[0x0b; 20]),
                &b"Hi There"[..],
                "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7",
            ),
            (
                key(b"Jefe"),
                b"what do ya want for nothing?",
                "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843",
            ),
            (
                key(&counting),
                &[0xcd; 50],
                "82558a389a443c0ea4cc819899f2083a85f0faa3e578f8077a2e3ff46729665b",
            ),
        ] {
            let (mut mac, tag) = (key.mac(), bytes(tag));
            for byte in message {
                mac.absorb(&[*byte]);
            }
            assert_eq!(mac.clone().tag(), tag);
            assert!(mac.clone().holds(&tag));
            mac.absorb(b"x");
            assert!(!mac.holds(&tag));
        }
    }

    #[test]
    fn nothing_of_a_key_is_printed() {
        let key = SnapshotKey::from_text(&format!("rebearing-snapshot {}", "ab".repeat(32)));
        let key = key.unwrap();
        assert_eq!(format!("{key:?} {:?}", key.mac()), "SnapshotKey SnapshotMac");
    }
}

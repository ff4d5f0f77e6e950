//! The public keys of a device, and a check of a signature by one of them.

use core::fmt;

use ed25519_compact::{Signature, VerifyingState};
use rebearing::update::envelope::SIGNATURE_LEN;
use rebearing::update::{SignatureCheck, Verifier};

use crate::public_key::PublicKey;

/// The public keys of a device: one, or two while the owner changes from one to the other.
///
/// As soon as a model of the newer key was confirmed, the store takes no model of the older one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Ed25519Keys {
    /// The key that is good until a model of the newer one was confirmed.
    pub older: Option<PublicKey>,
    /// The key that is always good.
    pub newer: PublicKey,
}

impl Ed25519Keys {
    /// One key.
    pub const fn one(key: PublicKey) -> Self {
        Self { older: None, newer: key }
    }

    /// Two keys, while models change from the older to the newer one.
    ///
    /// # Panics
    /// If both have the same id. In a `const` or `static`, that is an error of the compiler.
    pub const fn two(older: PublicKey, newer: PublicKey) -> Self {
        assert!(older.id() != newer.id(), "the two keys have the same id: make another key");
        Self { older: Some(older), newer }
    }

    /// The key with this id; the newer one if both have it.
    fn find(&self, key_id: u32) -> Option<&PublicKey> {
        [Some(&self.newer), self.older.as_ref()]
            .into_iter()
            .flatten()
            .find(|key| key.id() == key_id)
    }
}

impl Verifier for Ed25519Keys {
    type Check = Ed25519Check;

    fn start(&self, key_id: u32, signature: &[u8; SIGNATURE_LEN]) -> Option<Ed25519Check> {
        let key = ed25519_compact::PublicKey::new(*self.find(key_id)?.bytes());
        key.verify_incremental(&Signature::new(*signature)).ok().map(Ed25519Check)
    }

    fn knows(&self, key_id: u32) -> bool {
        self.find(key_id).is_some()
    }

    fn retires(&self, key_id: u32) -> Option<u32> {
        let older = self.older.filter(|_| key_id == self.newer.id())?.id();
        Some(older).filter(|older| *older != key_id)
    }
}

/// A check of an Ed25519 signature that is under way. It takes 600 bytes of RAM.
#[derive(Clone)]
pub struct Ed25519Check(VerifyingState);

impl SignatureCheck for Ed25519Check {
    fn absorb(&mut self, bytes: &[u8]) {
        self.0.absorb(bytes);
    }

    fn holds(self) -> bool {
        self.0.verify().is_ok()
    }
}

impl fmt::Debug for Ed25519Check {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Ed25519Check")
    }
}

#[cfg(feature = "defmt")]
impl defmt::Format for Ed25519Check {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "Ed25519Check");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: PublicKey =
        PublicKey::from_hex("d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a");
    const B: PublicKey =
        PublicKey::from_hex("3d4017c3e843895a92b70aa74d1b7ebc9c982ccf2ec4968cc0cd55f12af4660c");

    #[test]
    fn a_device_knows_its_keys_and_no_other() {
        let one = Ed25519Keys::one(A);
        let two = Ed25519Keys::two(A, B);
        assert!(one.knows(A.id()) && !one.knows(B.id()) && !one.knows(0));
        assert!(two.knows(A.id()) && two.knows(B.id()) && !two.knows(0));
        assert!(two.start(0, &[0; 64]).is_none());
    }

    #[test]
    fn only_the_newer_key_retires_the_older() {
        assert_eq!(Ed25519Keys::one(A).retires(A.id()), None);
        let two = Ed25519Keys::two(A, B);
        assert_eq!(two.retires(B.id()), Some(A.id()));
        assert_eq!(two.retires(A.id()), None);
        assert_eq!(two.retires(0), None);
        // Made without `two`: a key never retires itself.
        let twice = Ed25519Keys { older: Some(A), newer: A };
        assert_eq!(twice.retires(A.id()), None);
    }

    #[test]
    fn a_check_takes_as_much_ram_as_documented() {
        assert!(size_of::<Ed25519Check>() <= 600, "{}", size_of::<Ed25519Check>());
    }
}

//! The traits through which a store checks signatures and reads a counter that cannot go back.
//!
//! This crate has no cryptography, so that no panic can be reached in it. The package
//! `rebearing-verify` has a verifier for Ed25519.

use super::envelope::{SIGNATURE_LEN, UNSIGNED};

/// The public keys of a device.
///
/// A store made with a verifier yields verified models only. There is no way around it at run time,
/// and no Cargo feature: it is in the store's type.
pub trait Verifier {
    /// A check that is under way.
    type Check: SignatureCheck;

    /// Starts to check a signature by the key with this id. `None` if the device does not have the
    /// key, or the signature is malformed.
    fn start(&self, key_id: u32, signature: &[u8; SIGNATURE_LEN]) -> Option<Self::Check>;

    /// Returns true if the device has a key with this id.
    fn knows(&self, key_id: u32) -> bool;

    /// The id of the key that is no longer good once a model of `key_id` was confirmed: the older
    /// key of the device, if `key_id` is the newer one.
    fn retires(&self, key_id: u32) -> Option<u32>;
}

/// A check of a signature that takes what was signed piece by piece.
pub trait SignatureCheck {
    /// Takes the next bytes of what was signed.
    fn absorb(&mut self, bytes: &[u8]);

    /// Returns true if the signature holds for all bytes that were taken.
    fn holds(self) -> bool;
}

/// Demands no signature: anyone who reaches the device may change its model. For a bench, or where
/// the bus is out of reach. The model's own checksum still finds damage.
///
/// A signed model is refused rather than taken unchecked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Unsigned;

impl Verifier for Unsigned {
    type Check = Self;

    fn start(&self, key_id: u32, signature: &[u8; SIGNATURE_LEN]) -> Option<Self> {
        (self.knows(key_id) && *signature == [0; SIGNATURE_LEN]).then_some(Self)
    }

    fn knows(&self, key_id: u32) -> bool {
        key_id == UNSIGNED
    }

    fn retires(&self, _: u32) -> Option<u32> {
        None
    }
}

impl SignatureCheck for Unsigned {
    fn absorb(&mut self, _: &[u8]) {}

    fn holds(self) -> bool {
        true
    }
}

/// A counter in hardware that only goes up: fuses, one-time memory, a replay-protected block of an
/// eMMC. The store keeps a floor of its own in flash; the larger of the two counts.
pub trait FloorCounter {
    /// The counter; `None` if it cannot be read. A model is refused then.
    fn floor(&mut self) -> Option<u32>;

    /// Raises the counter; returns true if it is at least `floor` now.
    fn raise(&mut self, floor: u32) -> bool;
}

/// No counter in hardware: the floor is in flash alone, where a debug probe can erase it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FlashOnly;

impl FloorCounter for FlashOnly {
    fn floor(&mut self) -> Option<u32> {
        Some(0)
    }

    fn raise(&mut self, _: u32) -> bool {
        true
    }
}

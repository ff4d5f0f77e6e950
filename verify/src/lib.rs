//! Signatures of models and tags of snapshots, for a device or a host.
//!
//! The device crate `rebearing` has no cryptography, only the traits for it. This crate implements
//! them:
//!
//! - [`Ed25519Keys`]: the public keys of a device. A store made with them yields only models that
//!   the owner of a key signed.
//! - [`SnapshotKey`]: the secret under which a device seals its snapshots.
//!
//! ```
//! use rebearing_verify::{Ed25519Keys, PublicKey};
//!
//! # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/plant.pub") } }
//! // Read while compiling: a file that is not a public key does not compile.
//! const PLANT: PublicKey = rebearing_verify::public_key!(path!());
//! static KEYS: Ed25519Keys = Ed25519Keys::one(PLANT);
//! ```
//!
//! `rebearing key new` makes the files, and `docs/signing.md` says how to keep and replace keys.
//!
//! # What is refused
//!
//! A public key or an R of small order, an encoding that is not canonical, and S ≥ L. So a signature
//! cannot be changed into another one that holds for the same model. The equation is the cofactored
//! one of RFC 8032.
//!
//! # What is **not** here
//!
//! Signing: that is the host's. And **not** the promise of the device crate that no panic can be
//! reached: the arithmetic of the curve indexes arrays, and a compiler cannot prove all of it away.
//! No input is known that makes it panic; the tests feed it a hundred thousand damaged envelopes.

#![no_std]
#![forbid(unsafe_code)]

#[cfg(test)]
extern crate std;

mod error;
mod hex;
mod keys;
mod public_key;
mod snapshot_key;

pub use error::KeyError;
pub use keys::{Ed25519Check, Ed25519Keys};
pub use public_key::PublicKey;
pub use snapshot_key::{SnapshotKey, SnapshotMac};

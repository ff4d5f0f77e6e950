//! Keys and signatures: who may change a device's model, and which device sent a snapshot.
//!
//! ```text
//! private key ─► signing_key ─┐
//! a command of the owner ─────┴─► signer ─► sign ─► signed model file ─► verify ◄─ public key
//! ```
//!
//! Nothing here prints or logs a key, a counter or a device id, and no error contains one.

mod closed;
pub mod device_id;
mod error;
pub mod public_key;
pub mod sign;
pub mod signer;
pub mod signing_key;
pub mod snapshot_key;

pub use error::KeyFileError;
pub use public_key::{PublicKey, key_id_text};
pub use sign::{SignError, VerifyError, sign, verify};
pub use signer::{Signer, SignerError};
pub use signing_key::SigningKey;
pub use snapshot_key::SnapshotKey;

//! A secret closed by a passphrase: argon2id, then XChaCha20-Poly1305.

use argon2::{Algorithm, Argon2, Params, Version};
use chacha20poly1305::XChaCha20Poly1305;
use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use zeroize::Zeroizing;

use super::error::KeyFileError;
use crate::files::{hex, hex_bytes};

/// Memory of the derivation in KiB, its rounds, and its lanes: the second choice of RFC 9106, for
/// computers without 2 GB to spare.
const COST: (u32, u32, u32) = (65_536, 3, 4);
/// The largest memory in KiB and number of rounds that a file may ask for: 1 GiB, 64 rounds.
const MOST: (u32, u32, u32) = (1_048_576, 64, 64);

/// How a file is closed: everything but the passphrase.
pub(super) struct Closing {
    cost: (u32, u32, u32),
    salt: [u8; 16],
    nonce: [u8; 24],
}

/// A word of the line of a closing, and its value.
fn value<'t>(word: Option<&'t str>, name: &str) -> Option<&'t str> {
    word?.strip_prefix(name)?.strip_prefix('=')
}

impl Closing {
    /// A new way to close, with salt and nonce of its own.
    pub(super) fn new() -> Result<Self, KeyFileError> {
        let (mut salt, mut nonce) = ([0; 16], [0; 24]);
        getrandom::fill(&mut salt).map_err(KeyFileError::Random)?;
        getrandom::fill(&mut nonce).map_err(KeyFileError::Random)?;
        Ok(Self { cost: COST, salt, nonce })
    }

    /// The closing as a line of the file.
    pub(super) fn line(&self) -> String {
        let Self { cost: (memory, rounds, lanes), salt, nonce } = self;
        format!(
            "argon2id m={memory} t={rounds} p={lanes} salt={} xchacha20poly1305 nonce={}",
            hex(salt),
            hex(nonce)
        )
    }

    /// The closing that a line describes; `None` for anything else, and if it would cost too much.
    pub(super) fn from_line(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        words.next().filter(|word| *word == "argon2id")?;
        let mut number = |name| value(words.next(), name)?.parse().ok();
        let cost = (number("m")?, number("t")?, number("p")?);
        let salt = hex_bytes(value(words.next(), "salt")?)?.try_into().ok()?;
        words.next().filter(|word| *word == "xchacha20poly1305")?;
        let nonce = hex_bytes(value(words.next(), "nonce")?)?.try_into().ok()?;
        let bearable = cost.0 <= MOST.0 && cost.1 <= MOST.1 && cost.2 <= MOST.2;
        (bearable && words.next().is_none()).then_some(Self { cost, salt, nonce })
    }

    /// Closes `secret`. `about` is not closed but cannot change unseen.
    pub(super) fn close(
        &self,
        passphrase: &[u8],
        secret: &[u8],
        about: &[u8],
    ) -> Result<Vec<u8>, KeyFileError> {
        let cipher = self.cipher(passphrase)?;
        let payload = Payload { msg: secret, aad: about };
        // It fails only for messages of 256 GB.
        cipher.encrypt(&self.nonce.into(), payload).map_err(|_| KeyFileError::Memory)
    }

    /// Opens what [`close`](Self::close) returned; `None` if passphrase or bytes are others.
    pub(super) fn open(
        &self,
        passphrase: &[u8],
        closed: &[u8],
        about: &[u8],
    ) -> Result<Option<Zeroizing<Vec<u8>>>, KeyFileError> {
        let cipher = self.cipher(passphrase)?;
        let payload = Payload { msg: closed, aad: about };
        Ok(cipher.decrypt(&self.nonce.into(), payload).ok().map(Zeroizing::new))
    }

    fn cipher(&self, passphrase: &[u8]) -> Result<XChaCha20Poly1305, KeyFileError> {
        if passphrase.is_empty() {
            return Err(KeyFileError::NoPassphrase);
        }
        let (memory, rounds, lanes) = self.cost;
        let params = Params::new(memory, rounds, lanes, Some(32));
        let params = params.map_err(|_| KeyFileError::Memory)?;
        let mut key = Zeroizing::new([0; 32]);
        Argon2::new(Algorithm::Argon2id, Version::V0x13, params)
            .hash_password_into(passphrase, &self.salt, &mut *key)
            .map_err(|_| KeyFileError::Memory)?;
        Ok(XChaCha20Poly1305::new(&(*key).into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// As cheap as possible: the tests are not about the cost.
    fn cheap() -> Closing {
        Closing { cost: (8, 1, 1), ..Closing::new().unwrap() }
    }

    #[test]
    fn what_is_closed_opens_with_the_same_passphrase_alone() {
        let closing = cheap();
        let closed = closing.close(b"a long one", b"secret", b"about").unwrap();
        let read = Closing::from_line(&closing.line()).unwrap();
        let open = |passphrase: &[u8], closed: &[u8], about: &[u8]| {
            read.open(passphrase, closed, about).unwrap().map(|secret| secret.to_vec())
        };
        assert_eq!(open(b"a long one", &closed, b"about"), Some(b"secret".to_vec()));
        assert_eq!(open(b"a long On", &closed, b"about"), None);
        assert_eq!(open(b"a long one", &closed, b"About"), None);
        for bit in 0..8 * closed.len() {
            let mut damaged = closed.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(open(b"a long one", &damaged, b"about"), None, "bit {bit}");
        }
        assert!(matches!(closing.close(b"", b"x", b""), Err(KeyFileError::NoPassphrase)));
    }

    #[test]
    fn lines_that_nobody_wrote_and_costs_without_end_are_refused() {
        let line = Closing::new().unwrap().line();
        assert!(line.starts_with("argon2id m=65536 t=3 p=4 salt="), "{line}");
        assert!(Closing::from_line(&line).is_some());
        for (from, to) in [
            ("argon2id", "argon2i"),
            ("m=65536", "m=4000000000"),
            ("t=3", "t=4000000"),
            ("p=4", "p=-4"),
            ("salt=", "salt=00"),
            ("nonce=", "nonce=0"),
            ("xchacha20poly1305", "none"),
        ] {
            assert!(Closing::from_line(&line.replacen(from, to, 1)).is_none(), "{to}");
        }
        assert!(Closing::from_line(&(line + " x")).is_none());
    }
}

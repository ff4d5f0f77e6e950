//! Private keys and their files.
//!
//! A file is text. Without a passphrase:
//!
//! ```text
//! rebearing-ed25519-private 1
//! open 64 hexadecimal digits
//! ```
//!
//! With a passphrase, the second line says how the file is closed:
//!
//! ```text
//! rebearing-ed25519-private 1
//! argon2id m=65536 t=3 p=4 salt=32 digits xchacha20poly1305 nonce=48 digits
//! closed 96 digits
//! ```

use std::path::{Path, PathBuf};

use ed25519_compact::{KeyPair, Seed};
use rebearing_verify::PublicKey;
use zeroize::Zeroizing;

use super::closed::Closing;
use super::error::{KeyFileError, read_text};
use super::public_key;
use crate::files::private::{Readers, check_absent, write_new};
use crate::files::{hex, hex_bytes};

/// First word of a private key's file.
const WORD: &str = "rebearing-ed25519-private";
/// Version of the file.
const VERSION: &str = "1";

/// A key that signs models. It is wiped from memory when it is dropped, and never printed.
pub struct SigningKey {
    pair: KeyPair,
    public: PublicKey,
}

impl std::fmt::Debug for SigningKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SigningKey")
    }
}

impl SigningKey {
    /// A new key, from the random bytes of the operating system.
    pub fn new() -> Result<Self, KeyFileError> {
        loop {
            let mut seed = Zeroizing::new([0; 32]);
            getrandom::fill(&mut *seed).map_err(KeyFileError::Random)?;
            // One key in four billion has no id.
            if let Some(key) = Self::from_seed(&seed) {
                return Ok(key);
            }
        }
    }

    /// The key of a seed; `None` if the seed is zero or its public key has no id.
    fn from_seed(seed: &[u8; 32]) -> Option<Self> {
        let pair = KeyPair::try_from_seed(Seed::new(*seed)).ok()?;
        let public = PublicKey::from_bytes(*pair.pk).ok()?;
        Some(Self { pair, public })
    }

    /// The public key.
    pub fn public(&self) -> PublicKey {
        self.public
    }

    /// The signature of `message`: always the same for the same message.
    pub fn sign(&self, message: &[u8]) -> [u8; 64] {
        *self.pair.sk.sign(message, None)
    }

    /// Fails if the files of a key are there already, before a passphrase is asked for.
    pub fn check_absent(path: &Path) -> Result<(), KeyFileError> {
        check_absent(path)?;
        Ok(check_absent(&public_path(path))?)
    }

    /// Makes the file of the key, which only its owner can read, and beside it that of the public
    /// key, whose path it returns. Nothing is replaced.
    pub fn write(&self, path: &Path, passphrase: Option<&str>) -> Result<PathBuf, KeyFileError> {
        Self::check_absent(path)?;
        let public = public_path(path);
        write_new(path, self.text(passphrase)?.as_bytes(), Readers::Owner)?;
        let written = write_new(&public, public_key::text(&self.public).as_bytes(), Readers::Usual);
        if let Err(error) = written {
            // A key without its public key is of no use, and nobody has it yet.
            let _ = std::fs::remove_file(path);
            return Err(error.into());
        }
        Ok(public)
    }

    fn text(&self, passphrase: Option<&str>) -> Result<Zeroizing<String>, KeyFileError> {
        let seed = Zeroizing::new(*self.pair.sk.seed());
        let Some(passphrase) = passphrase else {
            let digits = Zeroizing::new(hex(&*seed));
            return Ok(Zeroizing::new(format!("{WORD} {VERSION}\nopen {}\n", *digits)));
        };
        let closing = Closing::new()?;
        let head = format!("{WORD} {VERSION}\n{}\n", closing.line());
        let closed = closing.close(passphrase.as_bytes(), &*seed, head.as_bytes())?;
        Ok(Zeroizing::new(format!("{head}closed {}\n", hex(&closed))))
    }

    /// Reads the file of a key. `passphrase` is called only if the file is closed by one.
    pub fn read<E: From<KeyFileError>>(
        path: &Path,
        passphrase: impl FnOnce() -> Result<Zeroizing<String>, E>,
    ) -> Result<Self, E> {
        let text = read_text(path)?;
        let broken = || KeyFileError::NotPrivate { path: path.into() };
        let mut lines = text.lines();
        match lines.next().and_then(|line| line.split_once(' ')) {
            Some((WORD, VERSION)) => (),
            Some((WORD, _)) => return Err(KeyFileError::Newer { path: path.into() }.into()),
            _ => return Err(broken().into()),
        }
        let second = lines.next().ok_or_else(broken)?;
        let seed = match second.strip_prefix("open ") {
            Some(digits) => hex_bytes(digits).map(Zeroizing::new),
            None => {
                let closing = Closing::from_line(second).ok_or_else(broken)?;
                let closed = lines.next().and_then(|line| line.strip_prefix("closed "));
                let closed = closed.and_then(hex_bytes).ok_or_else(broken)?;
                let head = format!("{WORD} {VERSION}\n{}\n", closing.line());
                let passphrase = passphrase()?;
                let seed = closing.open(passphrase.as_bytes(), &closed, head.as_bytes())?;
                Some(seed.ok_or_else(|| KeyFileError::Passphrase { path: path.into() })?)
            }
        };
        let seed = seed.filter(|_| lines.all(|line| line.trim().is_empty()));
        let seed = seed.and_then(|seed| {
            Some(Zeroizing::new(*seed.first_chunk::<32>()?)).filter(|_| seed.len() == 32)
        });
        Ok(seed.and_then(|seed| Self::from_seed(&seed)).ok_or_else(broken)?)
    }
}

/// The file of the public key beside that of the key.
fn public_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".pub");
    name.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn none() -> Result<Zeroizing<String>, KeyFileError> {
        panic!("an open file needs no passphrase")
    }

    #[test]
    fn a_key_is_read_back_with_and_without_a_passphrase() {
        let folder = tempfile::tempdir().unwrap();
        let [open, closed] = ["open", "closed"].map(|name| folder.path().join(name));
        let key = SigningKey::new().unwrap();
        let public = key.write(&open, None).unwrap();
        assert_eq!(public_key::read(&public).unwrap(), key.public());
        assert_eq!(SigningKey::read(&open, none).unwrap().public(), key.public());

        key.write(&closed, Some("a long passphrase")).unwrap();
        let text = std::fs::read_to_string(&closed).unwrap();
        let secret = std::fs::read_to_string(&open).unwrap();
        let digits = secret.lines().nth(1).unwrap().strip_prefix("open ").unwrap();
        assert!(!text.contains(digits) && text.contains("argon2id"), "{text}");
        let with = |passphrase: &str| {
            SigningKey::read(&closed, || Ok(Zeroizing::new(passphrase.to_owned())))
        };
        assert_eq!(with("a long passphrase").unwrap().public(), key.public());
        let error: KeyFileError = with("another").unwrap_err();
        assert!(matches!(error, KeyFileError::Passphrase { .. }), "{error}");
        assert!(!error.to_string().contains("another"));
    }

    #[test]
    fn nothing_is_replaced_and_nothing_left_behind() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let public = folder.path().join("key.pub");
        std::fs::write(&public, "of another key").unwrap();
        let key = SigningKey::new().unwrap();
        assert!(matches!(key.write(&path, None), Err(KeyFileError::New(_))));
        assert!(!path.exists());
        assert_eq!(std::fs::read_to_string(&public).unwrap(), "of another key");
    }

    #[test]
    fn what_is_no_private_key_is_refused_without_repeating_it() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let digits = "5a".repeat(32);
        for (text, part) in [
            (String::new(), "no private key"),
            (format!("rebearing-ed25519 {digits}"), "no private key"),
            (format!("{WORD} 2\nopen {digits}\n"), "newer version"),
            (format!("{WORD} 1\n"), "no private key"),
            (format!("{WORD} 1\nopen {digits}00\n"), "no private key"),
            (format!("{WORD} 1\nopen {}\n", &digits[2..]), "no private key"),
            (format!("{WORD} 1\nopen {digits}\nmore\n"), "no private key"),
            (format!("{WORD} 1\nopen {}\n", "00".repeat(32)), "no private key"),
            (format!("{WORD} 1\nargon2id\nclosed {digits}\n"), "no private key"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = SigningKey::read(&path, none).unwrap_err().to_string();
            assert!(error.contains(part) && !error.contains("5a5a"), "{text}: {error}");
        }
        assert_eq!(format!("{:?}", SigningKey::new().unwrap()), "SigningKey");
    }
}

//! Who signs: a key on this computer, or a command of the owner.

use std::io::{Read as _, Seek as _, Write as _};
use std::process::{Command, ExitStatus, Stdio};

use rebearing_verify::PublicKey;
use thiserror::Error;

use super::signing_key::SigningKey;
use crate::files::hex_bytes;

/// Longest answer of a command that is read: a signature in digits, and some white space.
const LONGEST: u64 = 4096;

/// Who signs.
#[derive(Debug)]
pub enum Signer<'a> {
    /// A key on this computer.
    Key(&'a SigningKey),
    /// A command for the system's shell, such as one that asks a security module.
    Command {
        /// The command. Its standard input is the message, its standard output the signature.
        command: &'a str,
        /// The public key of whoever signs there.
        public: PublicKey,
    },
}

/// Why a command gave no signature.
#[derive(Debug, Error)]
pub enum SignerError {
    /// The command cannot be run, or its input not be made.
    #[error("the `signer` command cannot be run: {0}")]
    Run(std::io::Error),
    /// The command failed.
    #[error("the `signer` command failed ({0}); nothing was written")]
    Failed(ExitStatus),
    /// The command's output is not a signature.
    #[error(
        "the `signer` command answered with {0} bytes, but a signature has 64, or 128 hexadecimal \
         digits; nothing was written"
    )]
    NotASignature(usize),
}

impl Signer<'_> {
    /// The public key of whoever signs.
    pub fn public(&self) -> PublicKey {
        match self {
            Self::Key(key) => key.public(),
            Self::Command { public, .. } => *public,
        }
    }

    /// The signature of `message`. That of a command may be wrong.
    pub fn sign(&self, message: &[u8]) -> Result<[u8; 64], SignerError> {
        match self {
            Self::Key(key) => Ok(key.sign(message)),
            Self::Command { command, .. } => ask(command, message),
        }
    }
}

/// Runs a command with `message` as its standard input.
///
/// The input is a file, not a pipe: `openssl pkeyutl` wants to know its length.
fn ask(command: &str, message: &[u8]) -> Result<[u8; 64], SignerError> {
    let mut input = tempfile::tempfile().map_err(SignerError::Run)?;
    input.write_all(message).and_then(|()| input.rewind()).map_err(SignerError::Run)?;
    let mut child = shell(command)
        .stdin(Stdio::from(input))
        .stdout(Stdio::piped())
        .spawn()
        .map_err(SignerError::Run)?;
    let mut answer = Vec::new();
    let read = child.stdout.take().map(|out| out.take(LONGEST).read_to_end(&mut answer));
    // Standard output is closed by now, so a command that writes without end fails.
    let status = child.wait().map_err(SignerError::Run)?;
    read.transpose().map_err(SignerError::Run)?;
    if !status.success() {
        return Err(SignerError::Failed(status));
    }
    signature(&answer).ok_or(SignerError::NotASignature(answer.len()))
}

/// A signature as 64 bytes, or as 128 hexadecimal digits with white space around them.
fn signature(answer: &[u8]) -> Option<[u8; 64]> {
    if let Ok(raw) = answer.try_into() {
        return Some(raw);
    }
    hex_bytes(std::str::from_utf8(answer).ok()?.trim())?.try_into().ok()
}

#[cfg(unix)]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("sh");
    shell.args(["-c", command]);
    shell
}

#[cfg(not(unix))]
fn shell(command: &str) -> Command {
    let mut shell = Command::new("cmd");
    shell.args(["/C", command]);
    shell
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_read_as_bytes_or_digits() {
        let raw: [u8; 64] = std::array::from_fn(|n| n as u8 * 3);
        let digits = crate::files::hex(&raw);
        assert_eq!(signature(&raw), Some(raw));
        assert_eq!(signature(digits.as_bytes()), Some(raw));
        assert_eq!(signature(format!(" {}\r\n", digits.to_uppercase()).as_bytes()), Some(raw));
        for wrong in [&raw[..63], b"", b"no", &digits.as_bytes()[1..], &[0xff; 128]] {
            assert_eq!(signature(wrong), None);
        }
    }

    #[cfg(unix)]
    #[test]
    fn a_command_gets_the_message_and_its_failures_are_told() {
        let message: Vec<u8> = (0..200_000_u32).map(|n| n as u8).collect();
        // The message, as far as 64 bytes of it show.
        assert_eq!(ask("head -c 64", &message).unwrap()[..], message[..64]);
        assert_eq!(ask("tail -c 64", &message).unwrap()[..], message[message.len() - 64..]);
        let told = |command: &str| ask(command, &message).unwrap_err().to_string();
        assert!(told("exit 3").contains("exit status: 3"));
        assert!(told("cat").contains("failed"), "{}", told("cat"));
        assert!(told("true").contains("0 bytes"));
        assert!(told("no-such-program-here 2>/dev/null").contains("failed"));
    }
}

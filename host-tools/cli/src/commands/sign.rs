//! `rebearing sign`: signs a model, so that devices with the public key take it.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use rebearing::update::DeviceId;
use serde_json::json;

use super::{Outcome, shown};
use crate::args::passphrase;
use rebearing_host::files::output;
use rebearing_host::model::deployed::DeployedModel;
use rebearing_host::signing::{Signer, SigningKey, device_id, key_id_text, public_key, sign};

/// Sign a model, so that devices with the public key take it
///
/// The signed file is the model with an envelope behind it: key, counter, device and signature.
/// Every command that takes a model takes a signed one too.
///
/// A command can sign in place of a key file, for example one that asks a security module. It gets
/// the bytes to sign as its standard input, and answers with the 64 bytes of an Ed25519 signature,
/// or 128 hexadecimal digits. The signature is verified before anything is written.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing sign --key plant --counter 12 --model motor-b.rbm --out motor-b.signed.rbm\n  \
    rebearing sign --key plant --counter 12 --device 2f0031000a51363238373331 --model motor-b.rbm --out signed.rbm\n  \
    rebearing sign --signer ./ask-the-hsm --public plant.pub --counter 12 --model motor-b.rbm --out signed.rbm")]
pub(super) struct SignArgs {
    /// Private key that `rebearing key new` made.
    #[arg(long, value_name = "K", required_unless_present = "signer", conflicts_with = "signer")]
    key: Option<PathBuf>,
    /// Command that signs, run by the system's shell.
    #[arg(long, value_name = "COMMAND", requires = "public")]
    signer: Option<String>,
    /// Public key of the command that signs.
    #[arg(long, value_name = "K.pub", requires = "signer")]
    public: Option<PathBuf>,
    /// File whose first line is the passphrase of the private key [default: ask on the terminal].
    #[arg(long, value_name = "F", conflicts_with = "signer")]
    passphrase_file: Option<PathBuf>,
    /// Number of this model, from 1. A device takes only models with a larger one than it has.
    #[arg(long, value_name = "N")]
    counter: String,
    /// The only device that may run the model: 2 to 32 hexadecimal digits, such as an STM32's
    /// unique id. Zeros are added up to 32 [default: any device].
    #[arg(long, value_name = "ID")]
    device: Option<String>,
    /// Model file that `rebearing adapt` wrote.
    #[arg(long, value_name = "MODEL.rbm")]
    model: PathBuf,
    /// Where to write the signed model.
    #[arg(long, value_name = "SIGNED.rbm")]
    out: PathBuf,
}

pub(super) fn run(args: &SignArgs) -> Result<Outcome> {
    // Counter and device are checked here, not by clap, whose messages repeat what was given.
    let counter: u32 =
        args.counter.parse().ok().context("--counter takes a whole number from 1 to 4294967295")?;
    let device = args.device.as_deref().map_or(Ok(DeviceId::ANY), device_id::parse)?;
    let model = DeployedModel::read(&args.model)?;
    output::check_writable(&args.out)?;
    let key = args.key.as_deref().map(|path| {
        SigningKey::read(path, || match &args.passphrase_file {
            Some(file) => passphrase::from_file(file),
            None => passphrase::asked(&format!("passphrase of {}", path.display())),
        })
    });
    let key = key.transpose()?;
    let signer = match (&key, &args.signer, &args.public) {
        (Some(key), ..) => Signer::Key(key),
        (None, Some(command), Some(public)) => {
            Signer::Command { command, public: public_key::read(public)? }
        }
        _ => unreachable!("clap demands a key, or a command with its public key"),
    };
    // Without a sign of progress: the terminal may be the signer's, to ask for a PIN.
    let signed = sign(&model, &signer, counter, device)?;
    output::write(&args.out, &signed)?;

    let id = key_id_text(signer.public().id());
    let whom = if device == DeviceId::ANY { "any device" } else { "one device" };
    let text = format!(
        "{}, signed with key {id}, counter {counter}, for {whom} -> {}\n",
        args.model.display(),
        args.out.display()
    );
    let json = json!({
        "model": shown(&args.model),
        "out": shown(&args.out),
        "bytes": signed.len(),
        "key_id": id,
        "counter": counter,
        "device": if device == DeviceId::ANY { "any" } else { "one" },
    });
    Ok(Outcome::new(text, json))
}

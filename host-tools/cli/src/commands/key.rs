//! `rebearing key`: makes the keys that sign models and seal snapshots.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, Subcommand};
use serde_json::json;

use super::{Outcome, shown};
use crate::args::passphrase;
use rebearing_host::signing::{SigningKey, key_id_text, public_key, snapshot_key};

/// Make a key that signs models, or show the id of one
///
/// The private key K stays with its owner. The public key K.pub goes into the firmware, which then
/// takes only models that were signed with K.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing key new --out plant --passphrase\n  \
    rebearing key show plant.pub\n  \
    rebearing key new --snapshot --out sensor-7.key")]
pub(super) struct KeyArgs {
    #[command(subcommand)]
    command: KeyCommand,
}

#[derive(Debug, Subcommand)]
enum KeyCommand {
    New(NewArgs),
    Show(ShowArgs),
}

/// Make a new key, in a file that only its owner can read
///
/// A key is never replaced: if the file is there, choose another name.
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    rebearing key new --out plant --passphrase\n  \
    rebearing key new --out plant --passphrase-file secret.txt\n  \
    rebearing key new --snapshot --out sensor-7.key")]
struct NewArgs {
    /// File of the private key; the public key gets the same name with .pub behind it.
    #[arg(long, value_name = "K")]
    out: PathBuf,
    /// Ask on the terminal for a passphrase that closes the private key.
    #[arg(long, conflicts_with = "passphrase_file")]
    passphrase: bool,
    /// File whose first line is the passphrase that closes the private key.
    #[arg(long, value_name = "F")]
    passphrase_file: Option<PathBuf>,
    /// Make a key that seals the snapshots of one device instead. Both the device and the host that
    /// adapts need it.
    #[arg(long, conflicts_with_all = ["passphrase", "passphrase_file"])]
    snapshot: bool,
}

/// Show the id of a public key: its first eight digits, by which a signed model names it.
#[derive(Debug, Args)]
#[command(after_help = "Example:\n  rebearing key show plant.pub")]
struct ShowArgs {
    /// File of a public key.
    #[arg(value_name = "K.pub")]
    public: PathBuf,
}

pub(super) fn run(args: &KeyArgs) -> Result<Outcome> {
    match &args.command {
        KeyCommand::New(args) if args.snapshot => new_snapshot_key(args),
        KeyCommand::New(args) => new(args),
        KeyCommand::Show(args) => show(args),
    }
}

fn new(args: &NewArgs) -> Result<Outcome> {
    // Before anyone is asked.
    SigningKey::check_absent(&args.out)?;
    let passphrase = match &args.passphrase_file {
        Some(path) => Some(passphrase::from_file(path)?),
        None if args.passphrase => Some(passphrase::asked_twice()?),
        None => None,
    };
    let key = SigningKey::new()?;
    let public = key.write(&args.out, passphrase.as_ref().map(|text| text.as_str()))?;
    let id = key_id_text(key.public().id());
    let closed = if passphrase.is_some() {
        "closed by the passphrase; without it the key is lost"
    } else {
        "not closed by a passphrase: whoever reads the file can sign"
    };
    let text = format!(
        "key {id}\n  {}: the private key, {closed}\n  {}: the public key, for the firmware\n",
        args.out.display(),
        public.display()
    );
    let json = json!({
        "key_id": id,
        "private": shown(&args.out),
        "public": shown(&public),
        "passphrase": passphrase.is_some(),
    });
    Ok(Outcome::new(text, json))
}

fn new_snapshot_key(args: &NewArgs) -> Result<Outcome> {
    snapshot_key::write_new_key(&args.out)?;
    let text = format!(
        "{}: a key for the snapshots of one device; whoever has it can forge them\n",
        args.out.display()
    );
    Ok(Outcome::new(text, json!({ "snapshot_key": shown(&args.out) })))
}

fn show(args: &ShowArgs) -> Result<Outcome> {
    let id = key_id_text(public_key::read(&args.public)?.id());
    let json = json!({ "key_id": id, "public": shown(&args.public) });
    Ok(Outcome::new(format!("key {id}\n"), json))
}

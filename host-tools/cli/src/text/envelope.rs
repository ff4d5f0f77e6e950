//! The envelope of a signed model in words and in JSON.

use anyhow::{Context, Result};
use rebearing::update::DeviceId;
use rebearing_host::model::on_disk::ModelFile;
use rebearing_host::signing::{PublicKey, key_id_text, verify};
use serde_json::{Value, json};

/// The envelope of a model file, for people and for scripts: nothing and `null` without one.
///
/// With a key, a model without a signature that holds is an error.
pub(crate) fn envelope(file: &ModelFile, key: Option<&PublicKey>) -> Result<(String, Value)> {
    if let Some(key) = key {
        verify(file, key).context("the signature was checked")?;
    }
    let Some((envelope, _)) = file.envelope() else { return Ok((String::new(), Value::Null)) };
    let any = envelope.device == DeviceId::ANY;
    let (id, counter) = (key_id_text(envelope.key_id), envelope.counter);
    let whom = if any { "any device" } else { "one device" };
    let checked = match key {
        Some(_) => "the signature holds",
        None => "the signature was not checked: give --key K.pub",
    };
    let json = json!({
        "key_id": id,
        "counter": counter,
        "device": if any { "any" } else { "one" },
        "verified": key.map(|_| true),
    });
    Ok((format!("with key {id}, counter {counter}, for {whom}; {checked}"), json))
}

//! Slots with signed and unsigned models, for the firmware `bench-receiver`.

use anyhow::{Context, ensure};
use ed25519_compact::{KeyPair, Seed};
use rebearing::update::envelope::{DOMAIN, SIGNATURE_LEN, UNSIGNED};
use rebearing::update::{DeviceId, Envelope};
use rebearing_host::files::hex_bytes;
use rebearing_host::model::encoded::IntegerModelBytes;
use rebearing_verify::PublicKey;

use crate::window;

/// Bytes of a slot.
const SLOT: usize = 8 * 1024;
/// Components that make an i16 model of 5 KB.
const COMPONENTS: usize = 30;
/// The private key of test 1 in RFC 8032. Everybody knows it, and so does `bench-receiver`.
const SEED: &str = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

/// Returns four slots: two models of the key with the counters 1 and 2, and the same two unsigned.
pub(crate) fn bytes() -> anyhow::Result<Vec<u8>> {
    let seed = hex_bytes(SEED).and_then(|seed| seed.try_into().ok()).context("no seed")?;
    let pair = KeyPair::try_from_seed(Seed::new(seed)).ok().context("no key")?;
    let key = PublicKey::from_bytes(*pair.pk)?;
    let model = window::draw(COMPONENTS)?.integer_model()?;
    let sign = |message: &[u8]| *pair.sk.sign(message, None);
    let mut bytes = Vec::new();
    for (key_id, counter) in [(key.id(), 1), (key.id(), 2), (UNSIGNED, 1), (UNSIGNED, 2)] {
        let mut slot = file(&model, key_id, counter, sign);
        ensure!(slot.len() <= SLOT, "a signed model of {} bytes", slot.len());
        slot.resize(SLOT, 0xff);
        bytes.extend(slot);
    }
    Ok(bytes)
}

/// Returns a model with its envelope.
fn file(
    model: &IntegerModelBytes,
    key_id: u32,
    counter: u32,
    sign: impl Fn(&[u8]) -> [u8; SIGNATURE_LEN],
) -> Vec<u8> {
    let envelope = Envelope::of_model(&model.model(), key_id, counter, DeviceId::ANY);
    let message = [&DOMAIN[..], &envelope.head(), model.bytes()].concat();
    let signature = if key_id == UNSIGNED { [0; SIGNATURE_LEN] } else { sign(&message) };
    [model.bytes(), &envelope.to_bytes(&signature)].concat()
}

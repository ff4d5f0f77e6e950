//! Signed models as a device checks them: no single bit may change, and no damage is accepted.

use ed25519_compact::{KeyPair, Seed};
use rebearing::Model;
use rebearing::update::envelope::{DOMAIN, ENVELOPE_LEN};
use rebearing::update::{DeviceId, Envelope, SignatureCheck, Verifier};
use rebearing_verify::{Ed25519Keys, PublicKey};

static GOLDEN: &[u8] = rebearing::include_model!("../../tests/golden/model-v1.rbm");

/// A key pair of these tests alone.
fn pair() -> KeyPair {
    KeyPair::from_seed(Seed::new([7; 32]))
}

fn keys() -> Ed25519Keys {
    Ed25519Keys::one(PublicKey::from_bytes(*pair().pk).unwrap())
}

/// A signed model file, and where its envelope starts.
fn signed() -> (Vec<u8>, usize) {
    let model = Model::parse(GOLDEN).unwrap();
    let envelope = Envelope::of_model(&model, keys().newer.id(), 41, DeviceId([9; 16]));
    let message = [&DOMAIN[..], &envelope.head(), GOLDEN].concat();
    let signature = pair().sk.sign(message, None);
    ([GOLDEN, &envelope.to_bytes(&signature)].concat(), GOLDEN.len())
}

/// Checks a signed model file as a device does: what cannot be parsed is refused before the curve.
fn accepted(keys: &Ed25519Keys, file: &[u8]) -> bool {
    let Some((model, Some(envelope))) = Envelope::split(file) else { return false };
    accepted_as(keys, model, envelope)
}

fn accepted_as(keys: &Ed25519Keys, model: &[u8], bytes: &[u8; ENVELOPE_LEN]) -> bool {
    let Some((envelope, signature)) = Envelope::from_bytes(bytes) else { return false };
    if envelope.model_len as usize != model.len() {
        return false;
    }
    let Some(mut check) = keys.start(envelope.key_id, signature) else { return false };
    check.absorb(&DOMAIN);
    check.absorb(&envelope.head());
    model.chunks(256).for_each(|piece| check.absorb(piece));
    check.holds()
}

/// A small generator of numbers that repeat (xorshift64).
struct Numbers(u64);

impl Numbers {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % end as u64) as usize
    }
}

#[test]
fn a_signed_model_is_accepted_with_its_key_alone() {
    let (file, _) = signed();
    assert!(accepted(&keys(), &file));
    let other = KeyPair::from_seed(Seed::new([8; 32]));
    let other = PublicKey::from_bytes(*other.pk).unwrap();
    assert!(!accepted(&Ed25519Keys::one(other), &file));
    // The right id with the wrong key behind it.
    let mut bytes = *other.bytes();
    bytes[..4].copy_from_slice(&keys().newer.bytes()[..4]);
    assert!(!accepted(&Ed25519Keys::one(PublicKey::from_bytes(bytes).unwrap()), &file));
    // The older of two keys holds as well: it is the store that retires it.
    assert!(accepted(&Ed25519Keys::two(keys().newer, other), &file));
}

/// Without the domain, a signature over the same bytes made for another purpose would fit.
#[test]
fn a_signature_without_the_domain_is_refused() {
    let model = Model::parse(GOLDEN).unwrap();
    let envelope = Envelope::of_model(&model, keys().newer.id(), 41, DeviceId::ANY);
    let signature = pair().sk.sign([&envelope.head()[..], GOLDEN].concat(), None);
    assert!(!accepted(&keys(), &[GOLDEN, &envelope.to_bytes(&signature)].concat()));
}

#[test]
fn every_single_bit_flip_is_refused() {
    let (file, _) = signed();
    let keys = keys();
    for bit in 0..8 * file.len() {
        let mut damaged = file.clone();
        damaged[bit / 8] ^= 1 << (bit % 8);
        assert!(!accepted(&keys, &damaged), "bit {bit}");
    }
}

/// As above, but the model's length is known otherwise, so that every flip reaches the signature.
#[test]
fn every_bit_flip_of_the_model_breaks_the_signature() {
    let (file, at) = signed();
    let keys = keys();
    let envelope: &[u8; ENVELOPE_LEN] = file[at..].first_chunk().unwrap();
    let mut model = file[..at].to_vec();
    assert!(accepted_as(&keys, &model, envelope));
    for bit in 0..8 * model.len() {
        model[bit / 8] ^= 1 << (bit % 8);
        assert!(!accepted_as(&keys, &model, envelope), "bit {bit}");
        model[bit / 8] ^= 1 << (bit % 8);
    }
}

/// A hundred thousand damaged envelopes: bytes set at random, runs copied and cleared, cut short.
#[test]
fn no_damaged_envelope_is_accepted() {
    let (file, at) = signed();
    let keys = keys();
    let mut numbers = Numbers(0x9e37_79b9_7f4a_7c15);
    let mut reached = 0;
    for round in 0..100_000 {
        let mut damaged = file.clone();
        // Half of the rounds leave the head alone, so that they get as far as the signature.
        let first = if round % 2 == 0 { at } else { at + 64 };
        let length = damaged.len() - first;
        for _ in 0..=numbers.below(4) {
            let place = first + numbers.below(length);
            let run = numbers.below(damaged.len() - place + 1);
            match numbers.below(4) {
                0 => damaged[place] = numbers.below(256) as u8,
                1 => damaged[place] ^= 1 << numbers.below(8),
                2 => damaged[place..place + run].fill([0, 0xff][numbers.below(2)]),
                _ => damaged.copy_within(first..first + run, place),
            }
        }
        if numbers.below(16) == 0 {
            damaged.truncate(first + numbers.below(length + 1));
        }
        reached += usize::from(
            Envelope::split(&damaged)
                .and_then(|(_, envelope)| Envelope::from_bytes(envelope?))
                .is_some_and(|(envelope, _)| keys.knows(envelope.key_id)),
        );
        assert!(!accepted(&keys, &damaged) || damaged == file, "round {round}");
    }
    assert!(reached > 30_000, "{reached} envelopes reached the signature");
}

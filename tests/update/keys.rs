//! A toy signature that is fast, so that a test can check it at every byte of an update. The
//! package `rebearing-verify` tests real ones.

use crate::simulated_flash::{LEDGER, REGION, SimulatedFlash};
use rebearing::monitor::Sampling;
use rebearing::update::envelope::{DOMAIN, SIGNATURE_LEN};
use rebearing::update::{
    DeviceId, Envelope, FlashOnly, Layout, ModelStore, NoValidModel, Receiver, Refusal,
    SignatureCheck, SignedFor, Slot, Standing, Started, Verifier,
};
use rebearing::{Encoding, Model, include_model};
use zerocopy::IntoBytes;

pub(crate) static GOLDEN: &[u8] = include_model!("../golden/model-v1.rbm");
pub(crate) static GATE: &[u8] = include_model!("../golden/model-v1-gate.rbm");
pub(crate) static ORDERS: &[u8] = include_model!("../golden/model-v1-orders.rbm");

pub(crate) const OLDER: u32 = 11;
pub(crate) const NEWER: u32 = 22;
pub(crate) const DEVICE: DeviceId = DeviceId(*b"pump seven, west");

/// A sensor of 20 kHz, as the golden models have it.
const SAMPLING: Sampling = Sampling { rate_hz: 20_000.0, ..Sampling::ANY };

/// The device's two keys; the number of a key is its id and its secret.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ToyKeys;

#[derive(Debug, Clone)]
pub(crate) struct ToyCheck {
    state: u64,
    expected: [u8; SIGNATURE_LEN],
}

impl ToyCheck {
    fn new(key_id: u32, expected: [u8; SIGNATURE_LEN]) -> Self {
        Self { state: 0xcbf2_9ce4_8422_2325 ^ u64::from(key_id), expected }
    }

    fn signature(self) -> [u8; SIGNATURE_LEN] {
        let mut signature = [0; SIGNATURE_LEN];
        for (i, place) in signature.chunks_exact_mut(8).enumerate() {
            let word = self.state.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(7 * i as u32);
            place.copy_from_slice(&word.to_le_bytes());
        }
        signature
    }
}

impl SignatureCheck for ToyCheck {
    fn absorb(&mut self, bytes: &[u8]) {
        for byte in bytes {
            self.state = (self.state ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }

    fn holds(self) -> bool {
        let expected = self.expected;
        self.signature() == expected
    }
}

impl Verifier for ToyKeys {
    type Check = ToyCheck;

    fn start(&self, key_id: u32, signature: &[u8; SIGNATURE_LEN]) -> Option<ToyCheck> {
        self.knows(key_id).then(|| ToyCheck::new(key_id, *signature))
    }

    fn knows(&self, key_id: u32) -> bool {
        [OLDER, NEWER].contains(&key_id)
    }

    fn retires(&self, key_id: u32) -> Option<u32> {
        (key_id == NEWER).then_some(OLDER)
    }
}

/// The signed file of a model.
pub(crate) fn signed(model: &[u8], key_id: u32, counter: u32, device: DeviceId) -> Vec<u8> {
    let parsed = Model::parse(model).expect("a model");
    seal(model, &Envelope::of_model(&parsed, key_id, counter, device))
}

/// The signed file of a model with any envelope.
pub(crate) fn seal(model: &[u8], envelope: &Envelope) -> Vec<u8> {
    let mut check = ToyCheck::new(envelope.key_id, [0; SIGNATURE_LEN]);
    check.absorb(&DOMAIN);
    check.absorb(&envelope.head());
    check.absorb(model);
    [model, &envelope.to_bytes(&check.signature())].concat()
}

pub(crate) type Store<'f, const WRITE: usize> =
    ModelStore<&'f mut SimulatedFlash<WRITE>, ToyKeys, FlashOnly>;

pub(crate) fn layout() -> Layout {
    let range = |range: std::ops::Range<usize>| range.start as u32..range.end as u32;
    Layout { slots: range(REGION), ledger: range(LEDGER) }
}

pub(crate) fn signed_for() -> SignedFor {
    SignedFor { device: DEVICE, encoding: Encoding::F32, sampling: SAMPLING }
}

/// The store of a device that has just started.
pub(crate) fn open<const WRITE: usize>(flash: &mut SimulatedFlash<WRITE>) -> Store<'_, WRITE> {
    ModelStore::new(flash, &layout(), ToyKeys, FlashOnly, signed_for()).expect("a layout that fits")
}

/// The model that a device runs after a start.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Run {
    pub(crate) slot: Slot,
    pub(crate) model: Vec<u8>,
    pub(crate) standing: Standing,
}

/// Starts the store as a firmware does, from flash as the processor sees it.
pub(crate) fn start<const WRITE: usize>(
    store: &mut Store<'_, WRITE>,
    region: &[u8],
) -> Result<Run, NoValidModel> {
    started(store, region).map(|Started { slot, model, standing, .. }| Run {
        slot,
        model,
        standing,
    })
}

pub(crate) fn started<const WRITE: usize>(
    store: &mut Store<'_, WRITE>,
    region: &[u8],
) -> Result<Started<Vec<u8>>, NoValidModel> {
    store.start(region, |model: Model<'_>| Ok(model.bytes().to_vec()))
}

/// Restarts the device, and returns what it runs and its store.
pub(crate) fn restart<const WRITE: usize>(
    flash: &mut SimulatedFlash<WRITE>,
) -> (Result<Run, NoValidModel>, Store<'_, WRITE>) {
    let words = flash.region_words();
    let mut store = open(flash);
    let run = start(&mut store, words.as_bytes());
    (run, store)
}

/// Sends a signed file in pieces of `piece` bytes.
pub(crate) fn send(receiver: &mut impl Receiver, file: &[u8], piece: usize) -> Result<(), Refusal> {
    let envelope = file.last_chunk().expect("an envelope");
    let mut at = receiver.begin(envelope)? as usize;
    while at < file.len() {
        let bytes = &file[at..(at + piece).min(file.len())];
        at = receiver.write(at as u32, bytes)? as usize;
    }
    receiver.finish()
}

/// A device that runs a confirmed model with this counter, signed by the older key.
pub(crate) fn commissioned<const WRITE: usize>(
    model: &[u8],
    counter: u32,
) -> SimulatedFlash<WRITE> {
    let mut flash = SimulatedFlash::probed(&signed(model, OLDER, counter, DeviceId::ANY));
    let (run, mut store) = restart(&mut flash);
    assert_eq!(run.expect("the model of the probe").standing, Standing::OnTrial);
    store.confirm().expect("a confirmation");
    flash
}

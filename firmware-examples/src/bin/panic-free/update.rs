//! Slots with unknown contents, the models in them, and a firmware's description of itself.

use core::hint::black_box;

use embedded_storage::nor_flash::{self, NorFlash, NorFlashErrorKind, ReadNorFlash};
use rebearing::SensorFault;
use rebearing::model::{AnyModel, Body};
use rebearing::monitor::Sampling;
use rebearing::operation::DriftWatch;
use rebearing::update::envelope::{ENVELOPE_LEN, SIGNATURE_LEN};
use rebearing::update::{
    self, Descriptor, DeviceId, Envelope, FloorCounter, Layout, ModelStore, Outcome, Receiver,
    Refusal, SignatureCheck, SignedFor, Slot, Slots, TrialRules, Unsigned, Verifier,
};
use rebearing::{Encoding, Finding, IntegerFinding, IntegerModel, IntegerMonitor, Model, Monitor};

use crate::unknown::{bytes, number, write};

pub(crate) fn all() {
    slots();
    store();
    descriptor();
}

/// A flash with unknown contents.
struct Flash;

impl nor_flash::ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Err(NorFlashErrorKind::Other))
    }

    fn capacity(&self) -> usize {
        number()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        black_box((from, to));
        black_box(Err(NorFlashErrorKind::Other))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Err(NorFlashErrorKind::Other))
    }
}

fn slots() {
    match update::newest(bytes(), Monitor::<f32, 256, 1, 16, 4, 2>::new) {
        Ok(newest) => {
            if let Some(reason) = newest.passed_over {
                write(reason);
            }
            drop(black_box((newest.slot.other(), newest.model)));
        }
        Err(error) => write(error),
    }
    match update::newest(bytes(), IntegerMonitor::<256, 1, 16, 4, 2>::new) {
        Ok(found) => drop(black_box(found)),
        Err(error) => write(error),
    }
    let slots = Slots::new(Flash, number() as u32..number() as u32);
    if let Err(error) = &slots {
        write(error);
    }
    if let Ok(mut slots) = black_box(slots) {
        black_box(slots.capacity());
        let in_use: Option<Slot> = black_box(None);
        if let Ok(model) = Model::parse(bytes())
            && let Err(error) = slots.store(in_use, &model)
        {
            write(error);
        }
        black_box(slots.into_flash());
    }
}

/// Keys, a check and a counter about which nothing is known.
struct Unknown;

impl Verifier for Unknown {
    type Check = Self;

    fn start(&self, key_id: u32, signature: &[u8; SIGNATURE_LEN]) -> Option<Self> {
        black_box((key_id, signature));
        black_box(Some(Self))
    }

    fn knows(&self, key_id: u32) -> bool {
        black_box(key_id) == number() as u32
    }

    fn retires(&self, _: u32) -> Option<u32> {
        black_box(Some(number() as u32))
    }
}

impl SignatureCheck for Unknown {
    fn absorb(&mut self, bytes: &[u8]) {
        black_box(bytes);
    }

    fn holds(self) -> bool {
        black_box(true)
    }
}

impl FloorCounter for Unknown {
    fn floor(&mut self) -> Option<u32> {
        black_box(Some(number() as u32))
    }

    fn raise(&mut self, floor: u32) -> bool {
        black_box(floor) == number() as u32
    }
}

fn store() {
    let range = || number() as u32..number() as u32;
    let layout = Layout { slots: range(), ledger: range() };
    let signed_for = SignedFor {
        device: black_box(DeviceId::ANY),
        encoding: black_box(Encoding::F32),
        sampling: black_box(Sampling::ANY),
    };
    match ModelStore::new(Flash, &layout, Unknown, Unknown, signed_for) {
        Ok(mut store) => {
            use_store(&mut store);
            black_box(store.into_flash());
        }
        Err(error) => write(error),
    }
    if let Ok(mut store) = ModelStore::new(Flash, &layout, Unsigned, Unknown, signed_for) {
        use_store(&mut store);
    }
}

fn use_store<V: Verifier>(store: &mut ModelStore<Flash, V, Unknown>) {
    store.set_trial_rules(black_box(TrialRules::default()));
    match store.start(bytes(), Ok::<Model<'_>, _>) {
        Ok(started) => {
            if let Some(reason) = started.other {
                write(reason);
            }
            black_box((started.slot, started.standing.name(), started.ended.map(Outcome::name)));
            if let Some(reference) = started.model.drift() {
                let watch = DriftWatch::new(reference);
                let finding: Finding<1, 2> = black_box(FAULTY);
                black_box(store.observe(&finding, Some(&watch)));
            }
        }
        Err(none) => write(none),
    }
    if let Err(none) = store.start(bytes(), Ok::<IntegerModel<'_>, _>) {
        write(none);
    }
    let finding: IntegerFinding<1, 2> = black_box(INTEGER_FAULTY);
    black_box(store.observe(&finding, None));
    let envelope = black_box([0; ENVELOPE_LEN]);
    if let Some((read, signature)) = Envelope::from_bytes(&envelope) {
        black_box(read.to_bytes(signature));
    }
    black_box(Envelope::split(bytes()));
    let told = |result: Result<u32, Refusal>| {
        if let Err(refusal) = black_box(result) {
            write(refusal);
            black_box(Refusal::from_code(refusal.code()));
        }
    };
    told(store.begin(&envelope));
    told(store.write(number() as u32, bytes()));
    told(store.finish().map(|()| 0));
    store.abandon();
    told(store.confirm().map(|()| 0));
    told(store.reject().map(|()| 0));
    told(store.keep_alarm(number() as u32).map(|()| 0));
    black_box((store.kept_alarm(), store.capacity(), store.status()));
}

const FAULTY: Finding<1, 2> = Finding { index: 0, result: Err(SensorFault::Flat) };
const INTEGER_FAULTY: IntegerFinding<1, 2> =
    IntegerFinding { index: 0, result: Err(SensorFault::Flat) };

fn descriptor() {
    let read = Descriptor::from_bytes(bytes());
    if let Some(descriptor) = black_box(read) {
        black_box((descriptor.chip(), descriptor.to_bytes()));
        if let Ok(model) = Model::parse(bytes()) {
            black_box(descriptor.capacities.check(&model)).unwrap_or_default();
            sampling(&descriptor, &model);
        }
        if let Ok(model) = IntegerModel::parse(bytes()) {
            black_box(descriptor.capacities.check(&model)).unwrap_or_default();
            sampling(&descriptor, &model);
        }
        black_box(descriptor.capacities.device_ram());
    }
}

fn sampling<'m, B: Body<'m>>(descriptor: &Descriptor, model: &AnyModel<'m, B>) {
    let sampling = black_box(descriptor.sampling.unwrap_or(Sampling::ANY));
    if let Err(error) = sampling.check(model) {
        write(error);
    }
}

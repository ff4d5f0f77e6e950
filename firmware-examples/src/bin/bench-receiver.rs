//! Instructions and stack to verify a new model and to start with two of them, signed and unsigned.
//!
//! The MODEL region holds four slots: two models with the counters 1 and 2, signed with the key of
//! test 1 in RFC 8032, and the same two unsigned.

#![no_std]
#![no_main]

use core::hint::black_box;
use core::panic::PanicInfo;

use cortex_m_rt::entry;
use firmware_examples::bench::slots::{LAYOUT, SLOTS, SlotFlash};
use firmware_examples::bench::{self, Step, instructions, stack};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use rebearing::monitor::Sampling;
use rebearing::update::envelope::{DOMAIN, ENVELOPE_LEN};
use rebearing::update::{
    self, DeviceId, Envelope, FlashOnly, ModelStore, Receiver, SignatureCheck, SignedFor, Standing,
    Unsigned, Verifier,
};
use rebearing::{Encoding, IntegerModel};
use rebearing_verify::{Ed25519Keys, PublicKey};

const KEYS: Ed25519Keys = Ed25519Keys::one(PublicKey::from_hex(
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
));
const SIGNED_FOR: SignedFor =
    SignedFor { device: DeviceId::ANY, encoding: Encoding::I16, sampling: Sampling::ANY };

type Store<'a, V> = ModelStore<SlotFlash<'a>, V, FlashOnly>;

#[entry]
fn main() -> ! {
    bench::main(run)
}

fn run(console: &Console) -> Result<(), &'static str> {
    let region = model_region();
    let (signed, rest) = region.split_first_chunk().ok_or("no signed slots")?;
    let unsigned = rest.first_chunk().ok_or("no unsigned slots")?;
    let signed = Bench { console, name: "ed25519", keys: KEYS, slots: signed };
    let unsigned = Bench { console, name: "unsigned", keys: Unsigned, slots: unsigned };
    signed.verify()?;
    signed.steps()?;
    unsigned.steps()?;
    Bench { name: "none", ..unsigned }.newest()
}

/// Models in two slots, and who verifies them.
struct Bench<'a, V> {
    console: &'a Console,
    name: &'static str,
    keys: V,
    slots: &'a [u8; SLOTS],
}

impl<'a, V: Verifier + Copy> Bench<'a, V> {
    /// Measures a start without a store, to compare with.
    fn newest(&self) -> Result<(), &'static str> {
        let find =
            |(): &mut ()| update::newest(black_box(self.slots), Ok::<IntegerModel<'_>, _>).is_ok();
        self.measure("start newest", || Ok(()), find)
    }

    /// Measures the signature alone. One that should not hold must not.
    #[inline(never)]
    fn verify(&self) -> Result<(), &'static str> {
        let (file, bytes) = self.file()?;
        let (envelope, signature) = Envelope::from_bytes(bytes).ok_or("no envelope")?;
        let holds = |envelope: Envelope| {
            let check = black_box(self.keys).start(envelope.key_id, black_box(signature));
            check.is_some_and(|mut check| {
                check.absorb(&DOMAIN);
                check.absorb(&envelope.head());
                check.absorb(black_box(file));
                check.holds()
            })
        };
        if holds(Envelope { counter: envelope.counter + 1, ..envelope }) {
            return Err("a false signature holds");
        }
        self.measure("verify", || Ok(()), |()| holds(envelope))
    }

    /// Measures everything that a store does with a whole model.
    ///
    /// The smallest board has 16 KiB of RAM in total. So each part is in a function of its own, and
    /// leaves no store behind on the stack.
    fn steps(&self) -> Result<(), &'static str> {
        self.finish()?;
        self.start_on_trial()?;
        self.start_confirmed()
    }

    #[inline(never)]
    fn finish(&self) -> Result<(), &'static str> {
        let received = self.received()?;
        let received = || Ok(black_box(&received).clone());
        self.measure("finish", received, |store| store.finish().is_ok())
    }

    /// A store that has received everything of the first model.
    #[inline(never)]
    fn received(&self) -> Result<Store<'a, V>, &'static str> {
        let (file, envelope) = self.file()?;
        let mut store = self.open(SlotFlash::new(self.slots))?;
        store.begin(envelope).map_err(|_| "the envelope is refused")?;
        let mut offset = 0;
        for piece in file.chunks(256).chain([&envelope[..]]) {
            offset = store.write(offset, piece).map_err(|_| "a piece is refused")?;
        }
        Ok(store)
    }

    #[inline(never)]
    fn start_on_trial(&self) -> Result<(), &'static str> {
        let new = || self.open(SlotFlash::new(self.slots));
        let runs = |store: &mut Store<'a, V>| self.start(store, Standing::OnTrial);
        self.measure("start on trial", new, runs)
    }

    #[inline(never)]
    fn start_confirmed(&self) -> Result<(), &'static str> {
        let flash = self.confirmed()?;
        let confirmed = || self.open(black_box(&flash).clone());
        let runs = |store: &mut Store<'a, V>| self.start(store, Standing::Confirmed);
        self.measure("start confirmed", confirmed, runs)
    }

    /// The flash after the newer model was confirmed.
    #[inline(never)]
    fn confirmed(&self) -> Result<SlotFlash<'a>, &'static str> {
        let mut store = self.open(SlotFlash::new(self.slots))?;
        self.start(&mut store, Standing::OnTrial);
        store.confirm().map_err(|_| "the model cannot be confirmed")?;
        Ok(store.into_flash())
    }

    /// The first model file, and its envelope.
    fn file(&self) -> Result<(&'a [u8], &'a [u8; ENVELOPE_LEN]), &'static str> {
        let (file, envelope) = Envelope::split(self.slots).ok_or("no model")?;
        Ok((file, envelope.ok_or("no envelope")?))
    }

    fn open(&self, flash: SlotFlash<'a>) -> Result<Store<'a, V>, &'static str> {
        ModelStore::new(flash, &LAYOUT, self.keys, FlashOnly, SIGNED_FOR)
            .map_err(|_| "the layout is refused")
    }

    /// Returns true if the newer model runs with this standing.
    fn start(&self, store: &mut Store<'a, V>, standing: Standing) -> bool {
        let started = store.start(black_box(self.slots), Ok::<IntegerModel<'_>, _>);
        started.is_ok_and(|started| started.standing == standing) && store.status().counter == 2
    }

    /// Measures `work` on what `make` returns, and prints it. Fails if `work` returns false.
    ///
    /// Its instructions include those of `make`, its stack does not.
    fn measure<T>(
        &self,
        name: &'static str,
        make: impl Fn() -> Result<T, &'static str>,
        work: impl Fn(&mut T) -> bool,
    ) -> Result<(), &'static str> {
        let stack = stack_of(make()?, &work).ok_or("the stack is deeper than what was painted")?;
        let instructions = count(&make, &work).ok_or(name)?;
        let bytes = self.file()?.0.len();
        Step { name, verifier: self.name, bytes, instructions, stack }.print(self.console);
        Ok(())
    }
}

#[inline(never)]
fn stack_of<T>(mut made: T, work: impl Fn(&mut T) -> bool) -> Option<usize> {
    stack::depth(|| {
        black_box(work(&mut made));
    })
}

/// Returns the instructions of `make` and `work`; `None` if `work` returned false.
#[inline(never)]
fn count<T>(
    make: impl Fn() -> Result<T, &'static str>,
    work: impl Fn(&mut T) -> bool,
) -> Option<u32> {
    let mut right = true;
    let counted = instructions(|| right &= make().is_ok_and(|mut made| work(&mut made)));
    right.then_some(counted)
}

/// The arithmetic of the curve may panic, as far as the compiler knows.
#[panic_handler]
fn panic(_: &PanicInfo<'_>) -> ! {
    exit(Err(()))
}

firmware_examples::semihosting_faults!();

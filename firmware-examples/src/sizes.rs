//! The firmware of the `size-…` binaries, which differ only in how they get a new model. Nobody runs
//! them: `cargo xtask bench device` compares their flash and RAM.
//!
//! Samples, the bus and the flash are where the compiler cannot look. They take next to nothing, so
//! a difference is the cost of the code in between.

use core::hint::{self, black_box};
use core::mem::MaybeUninit;

use embedded_storage::nor_flash::{ErrorType, NorFlash, NorFlashErrorKind, ReadNorFlash};
use rebearing::bus::{Identity, Registers, Server};
use rebearing::monitor::{AnyFinding, Sampling};
use rebearing::operation::DriftWatch;
use rebearing::operation::alarm::AlarmState;
use rebearing::update::{
    self, DeviceId, FlashOnly, Layout, ModelStore, NoReceiver, Receiver, SignedFor, Verifier,
};
use rebearing::{Alarm, AnyMonitor, Encoding, IntegerModel, IntegerMonitor, ModelError, Vacant};

use crate::model_region::model_region;

/// Small enough for every board.
type SizeMonitor = IntegerMonitor<'static, 256, 1, 16, 8, CLASSES>;
type SizeAlarm = Alarm<CLASSES, 16>;
type SizeFinding = AnyFinding<rebearing::model::Integers, 1, CLASSES>;
const CLASSES: usize = 4;

/// How the board samples.
const SAMPLING: Sampling =
    Sampling { rate_hz: 26_667.0, longest_window_ms: 4000, full_scale_g: 16.0 };
const UNIT: u8 = 1;
const LAYOUT: Layout = Layout { slots: 0..64 * 1024, ledger: 64 * 1024..72 * 1024 };

/// Where the model comes from, and what else becomes of the findings.
pub trait Source {
    /// The model to run.
    fn model(&mut self, region: &'static [u8]) -> Option<IntegerModel<'static>>;
    /// Takes a finding, and the alarm and the drift watch after it.
    fn take(
        &mut self,
        finding: &SizeFinding,
        state: AlarmState,
        alarm: &SizeAlarm,
        watch: Option<&DriftWatch<'_>>,
    );
    /// Answers what has arrived.
    fn serve(&mut self);
}

/// Memory of a firmware, for a `static`. All zeros until it is started.
pub struct Room<S> {
    monitor: Vacant<SizeMonitor>,
    alarm: MaybeUninit<SizeAlarm>,
    watch: MaybeUninit<Option<DriftWatch<'static>>>,
    source: MaybeUninit<S>,
}

impl<S: Source> Room<S> {
    /// Room that is not used yet.
    #[expect(clippy::new_without_default, reason = "it has to be `const`")]
    pub const fn new() -> Self {
        Self {
            monitor: SizeMonitor::vacant(),
            alarm: MaybeUninit::uninit(),
            watch: MaybeUninit::uninit(),
            source: MaybeUninit::uninit(),
        }
    }

    /// Runs the firmware.
    pub fn run(&mut self, source: S) -> ! {
        let source = self.source.write(source);
        if let Some(model) = source.model(model_region())
            && let Ok(alarm) = SizeAlarm::of_model(&model)
            && let Ok(monitor) = self.monitor.start(model)
        {
            let alarm = self.alarm.write(alarm);
            let watch = self.watch.write(model.drift().map(DriftWatch::new));
            loop {
                if let Some(finding) = monitor.push([black_box(0)]) {
                    let state = alarm.update(&finding);
                    let block = watch.as_mut().and_then(|watch| watch.update(&finding));
                    black_box(block);
                    source.take(&finding, state, alarm, watch.as_ref());
                    black_box((finding, state));
                }
                source.serve();
            }
        }
        loop {
            source.serve();
        }
    }
}

#[expect(clippy::large_types_passed_by_value, reason = "the signature that a store wants")]
fn accept(model: IntegerModel<'static>) -> Result<IntegerModel<'static>, ModelError> {
    SizeMonitor::CAPACITIES.check(&model)?;
    SAMPLING.check(&model)?;
    Ok(model)
}

/// The newest of two slots, as a probe has written them.
pub struct Newest;

impl Source for Newest {
    fn model(&mut self, region: &'static [u8]) -> Option<IntegerModel<'static>> {
        update::newest(region, accept).ok().map(|newest| newest.model)
    }

    fn take(&mut self, _: &SizeFinding, _: AlarmState, _: &SizeAlarm, _: Option<&DriftWatch<'_>>) {}

    fn serve(&mut self) {}
}

/// A server on the bus, and the registers that it shows.
struct Bus {
    server: Server,
    registers: Registers<'static>,
}

impl Bus {
    fn new() -> Self {
        let identity = Identity { vendor: "rebearing", ..Identity::default() };
        Self { server: Server::new(UNIT), registers: Registers::new(identity) }
    }

    fn take(
        &mut self,
        finding: &SizeFinding,
        state: AlarmState,
        alarm: &SizeAlarm,
        watch: Option<&DriftWatch<'_>>,
    ) {
        self.registers.update(finding, state, *alarm.counters());
        self.registers.drift = watch.map(DriftWatch::raised);
    }

    fn serve(&mut self, receiver: &mut impl Receiver) {
        self.server.push(black_box(0));
        if black_box(false) {
            self.server.damaged();
        }
        if black_box(false) {
            black_box(self.server.silence(&self.registers, receiver));
        }
        black_box(self.server.take_request());
    }
}

/// As [`Newest`], on the bus. No model comes from there.
pub struct OnBus {
    bus: Bus,
    receiver: NoReceiver,
}

impl OnBus {
    /// A board on the bus.
    #[expect(clippy::new_without_default, reason = "as the other sources")]
    pub fn new() -> Self {
        Self { bus: Bus::new(), receiver: NoReceiver::default() }
    }
}

impl Source for OnBus {
    fn model(&mut self, region: &'static [u8]) -> Option<IntegerModel<'static>> {
        let model = Newest.model(region)?;
        self.bus.registers.set_model(&model);
        Some(model)
    }

    fn take(
        &mut self,
        finding: &SizeFinding,
        state: AlarmState,
        alarm: &SizeAlarm,
        watch: Option<&DriftWatch<'_>>,
    ) {
        self.bus.take(finding, state, alarm, watch);
    }

    fn serve(&mut self) {
        self.bus.serve(&mut self.receiver);
    }
}

/// A store of models with this verifier, which takes new ones over the bus.
pub struct Stored<V> {
    bus: Bus,
    store: ModelStore<UnknownFlash, V, FlashOnly>,
}

impl<V: Verifier> Stored<V> {
    /// The store. `None` if the layout is refused.
    pub fn new(verifier: V) -> Option<Self> {
        let device = black_box(DeviceId::ANY);
        let signed_for = SignedFor { device, encoding: Encoding::I16, sampling: SAMPLING };
        let store = ModelStore::new(UnknownFlash, &LAYOUT, verifier, FlashOnly, signed_for).ok()?;
        Some(Self { bus: Bus::new(), store })
    }
}

impl<V: Verifier> Source for Stored<V> {
    fn model(&mut self, region: &'static [u8]) -> Option<IntegerModel<'static>> {
        let model = self.store.start(region, accept).ok()?.model;
        self.bus.registers.set_model(&model);
        Some(model)
    }

    fn take(
        &mut self,
        finding: &SizeFinding,
        state: AlarmState,
        alarm: &SizeAlarm,
        watch: Option<&DriftWatch<'_>>,
    ) {
        self.bus.take(finding, state, alarm, watch);
        black_box(self.store.keep_alarm(alarm.kept().to_word()).is_ok());
        black_box(self.store.observe(finding, watch));
    }

    fn serve(&mut self) {
        self.bus.serve(&mut self.store);
    }
}

/// A flash with unknown contents.
pub struct UnknownFlash;

impl ErrorType for UnknownFlash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for UnknownFlash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Ok(()))
    }

    fn capacity(&self) -> usize {
        black_box(LAYOUT.ledger.end as usize)
    }
}

impl NorFlash for UnknownFlash {
    const WRITE_SIZE: usize = 4;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        black_box((from, to));
        black_box(Ok(()))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Ok(()))
    }
}

/// Does nothing for ever.
pub fn stop() -> ! {
    loop {
        hint::spin_loop();
    }
}

/// The panic handler of all `size-…` binaries: it stops the processor in a loop.
#[macro_export]
macro_rules! panics_stop {
    () => {
        #[panic_handler]
        fn panic(_: &core::panic::PanicInfo<'_>) -> ! {
            $crate::sizes::stop()
        }
    };
}

//! Proof by linking that the device crate cannot panic: `panic-never` refers to a symbol that does
//! not exist, so this links only if the compiler removed every branch that leads to a panic.
//!
//! All of the public API is called with inputs that the compiler knows nothing about, lengths
//! included. Not covered: `Debug`, which is for the host (`core` formats floats with assertions),
//! `defmt`, and `Descriptor::new`, whose assertions are for the compiler. Nobody runs
//! this; `cargo xtask test panic` links it for every target.

#![no_std]
#![no_main]

use core::convert::Infallible;
use core::fmt::{self, Write as _};
use core::hint::black_box;
use cortex_m_rt::entry;
use embedded_hal::delay::DelayNs;
use embedded_hal::spi::{ErrorType, Operation, SpiDevice};
use embedded_storage::nor_flash::{self, NorFlash, NorFlashErrorKind, ReadNorFlash};
use panic_never as _;
use rebearing::acquisition::{
    Axis, DoubleBuffered, FullScale, Halves, Iis3dwb, Rails, SampleSource, acquire,
};
use rebearing::decision::{
    IdleRms, Observation, Parameters, Rms, SlidingMean, decision_device_ram, probability,
};
use rebearing::descriptor::{DESCRIPTOR_LEN, Descriptor};
use rebearing::drift::{DriftCause, DriftWatch, q8};
use rebearing::mixture::Mixture;
use rebearing::model::{Aligned, format};
use rebearing::monitor::device_ram;
use rebearing::orders::{Orders, add_order_power};
use rebearing::report_line::{self, ModelLine, ReportLine};
use rebearing::schedule::{Schedule, Turn};
use rebearing::severity::add_velocity;
use rebearing::slots::{self, Slot, Slots};
use rebearing::snapshot::{self, Snapshot};
use rebearing::spectrum::{FFT_LENGTHS, Spectrum};
use rebearing::statistics::Moments;
use rebearing::watchdog::Feeding;
use rebearing::window::{Hann, Sample, Window};
use rebearing::{
    Decision, Label, Model, ModelError, Monitor, SensorFault, blocks, diagnosis, envelope,
    features, label, math, mixture,
};

static BYTES: Aligned<[u8; 4096]> = Aligned([0; 4096]);
const ORDERS: Orders = Orders { spectrum: true, envelope: true, bands: 32, first: 0.5, width: 0.5 };
static FLOATS: [f32; 1024] = [0.0; 1024];

/// A text sink that cannot fail, for the errors' `Display`.
struct Sink;

impl fmt::Write for Sink {
    fn write_str(&mut self, text: &str) -> fmt::Result {
        black_box(text);
        Ok(())
    }
}

#[entry]
fn main() -> ! {
    loop {
        for error in [model(&Model::parse(bytes())), model(&Model::from_region(bytes()))] {
            // The sink takes everything.
            let _ = error.map_err(|error| write!(Sink, "{error}"));
        }
        stages();
        slots();
        descriptor();
        schedule();
        decision();
        window::<f32, 256, 1>(black_box(0.0));
        window::<i16, 4096, 3>(black_box(0));
    }
}

/// A bus that has anything to say.
struct Bus;

impl ErrorType for Bus {
    type Error = Infallible;
}

impl SpiDevice for Bus {
    fn transaction(&mut self, operations: &mut [Operation<'_, u8>]) -> Result<(), Infallible> {
        for operation in operations {
            if let Operation::Read(bytes) = operation {
                bytes.fill(black_box(0));
            }
        }
        Ok(())
    }
}

/// No time at all.
struct Now;

impl DelayNs for Now {
    fn delay_ns(&mut self, _: u32) {}
}

/// Sources of samples, and the way from them into a monitor.
fn acquisition(model: &Model<'_>) -> Result<(), ModelError> {
    let mut monitor = black_box(Monitor::<i16, 256, 1, 16, 4, 2>::new(*model)?);
    let mut sensor = black_box(Iis3dwb::new(Bus, Now, black_box(FullScale::G16), [Axis::Z]));
    if let Err(error) = sensor.start() {
        // The sink takes everything.
        let _ = write!(Sink, "{error}");
    }
    let mut samples = [[0; 1]; 64];
    let samples = samples.get_mut(..number()).unwrap_or_default();
    let rails = black_box(Rails::FULL);
    acquire(&mut sensor, &rails, samples, &mut monitor, |report| inspect(&report));
    let halves = black_box(Halves::new());
    let mut source = black_box(DoubleBuffered::new(&halves, |_, _: &mut [[i16; 1]]| number()));
    halves.complete();
    black_box(source.read(samples).is_ok());
    let mut feeding = black_box(Feeding::new());
    let count = acquire(&mut source, &rails, samples, &mut monitor, |report| {
        inspect(&report);
        feeding.handed_on(&report);
    });
    feeding.arrived(count);
    black_box(feeding.due());
    Ok(())
}

/// Every accessor of a model, and monitors of one to three axes from it.
fn model(model: &Result<Model<'_>, ModelError>) -> Result<(), ModelError> {
    let model = (*model)?;
    let front_end = model.front_end();
    black_box((front_end.bands(), front_end.axis_features(), front_end.dims()));
    black_box((front_end.window_len(), front_end.orders));
    black_box((model.bytes(), model.dims(), model.shift(), model.scale(), model.labels()));
    black_box((model.classes(), model.class_name(number()), model.healthy()));
    black_box((model.log_likelihood_min(), model.gate(), model.lead(), model.provenance()));
    if let Some(severity) = black_box(model.severity()) {
        let velocity = severity.velocity(black_box(0.0), front_end);
        black_box((severity.bins(front_end), severity.zone(velocity).name()));
    }
    for component in model.components() {
        black_box(component);
    }
    // Each from a model of its own, as far as the compiler knows: one that fits the first
    // monitor has one axis, and the others would be left out.
    let another = || black_box(model);
    let results = [
        monitor::<f32, 256, 1, 16, 4, 2>(&another(), black_box(0.0)),
        monitor::<f32, 2048, 2, 64, 16, 4>(&another(), black_box(0.0)),
        monitor::<f32, 4096, 3, 96, 32, 8>(&another(), black_box(0.0)),
        monitor::<i16, 1024, 1, 32, 8, 3>(&another(), black_box(0)),
        monitor::<i16, 512, 3, 96, 24, 16>(&another(), black_box(0)),
    ];
    results.into_iter().collect::<Result<(), _>>()?;
    watched(&another())?;
    acquisition(&another())
}

fn monitor<
    S: Sample,
    const FFT: usize,
    const AXES: usize,
    const DIMS: usize,
    const COMPONENTS: usize,
    const CLASSES: usize,
>(
    model: &Model<'_>,
    sample: S,
) -> Result<(), ModelError> {
    // In any state, not only the one after `new`, where no push could complete a window yet.
    let mut monitor = black_box(Monitor::<S, FFT, AXES, DIMS, COMPONENTS, CLASSES>::new(*model)?);
    if let Err(error) = monitor.set_shaft_speed(black_box(0.0)) {
        // The sink takes everything.
        let _ = write!(Sink, "{error}");
    }
    let mut decision = black_box(Decision::<CLASSES, 16>::of_model(model)?);
    if let Some(report) = monitor.push([sample; AXES]) {
        let verdict = black_box(decision.report(&report));
        inspect(&report);
        let (verdict, drift) = (Some(&verdict), Some(black_box(false)));
        let features = Some(floats());
        let line = ReportLine { model, report: &report, verdict, drift, features };
        // The sink takes everything.
        let _ = line.write_to(&mut Sink);
        let _ = write!(Sink, "{line}{}", ModelLine(model));
        black_box(report_line::checksum(bytes()));
    }
    let frames = [[sample; AXES]; 64];
    let frames = frames.get(..number()).unwrap_or(&[]);
    monitor.push_slice(frames, |report| inspect(&report));
    let (report, left) = monitor.push_until_report(frames);
    inspect(&report);
    black_box(left);
    black_box((monitor.model(), monitor.features(), monitor.responsibilities()));
    black_box(Monitor::<S, FFT, AXES, DIMS, COMPONENTS, CLASSES>::RAM);
    black_box(Monitor::<S, FFT, AXES, DIMS, COMPONENTS, CLASSES>::DEVICE_RAM);
    monitor.clear();
    inspect(&black_box(monitor.clone()).push([sample; AXES]));
    Ok(())
}

/// A decision by parameters of which nothing is known, over windows as little known.
fn decision() {
    let rms = Rms::of_samples(black_box(0.0)).unwrap_or(Rms::of_counts(number() as u32));
    let idle = Some(IdleRms { below: rms, until: black_box(rms) });
    let raise = probability(black_box(0.0));
    let parameters = black_box(Parameters { raise, idle, ..Parameters::default() });
    match Decision::<16, 32>::new(parameters, number(), black_box(Some(0))) {
        Ok(made) => {
            let mut decision = black_box(made);
            let posterior = black_box([0_u16; 16]);
            let posterior = posterior.get(..number()).unwrap_or_default();
            let label = black_box(Label::Unknown);
            black_box(decision.step(Ok(Observation { label, posterior, rms: black_box(rms) })));
            let mut decision = black_box(decision);
            let verdict = decision.step(black_box(Err(SensorFault::Flat)));
            black_box((verdict.state.name(), decision.verdict(), decision.means()));
            decision.acknowledge();
            decision.restart();
            decision.set_counters(black_box(*decision.counters()));
            black_box((decision.parameters(), Decision::<16, 32>::RAM, rms.bits()));
        }
        // The sink takes everything.
        Err(error) => drop(write!(Sink, "{error}")),
    }
    let mut mean = black_box(SlidingMean::<3, 7>::new(number() as u32));
    let posterior = black_box([0_u16; 16]);
    mean.push(posterior.get(..number()).unwrap_or_default(), black_box(false));
    black_box((mean.is_full(), mean.filled(), mean.length(), mean.sums(), mean.unknown_sum()));
    mean.clear();
    black_box((mean, decision_device_ram(number(), number())));
}

fn inspect<T: Clone + PartialEq>(report: &T) {
    black_box(black_box(report).clone() == *report);
}

fn descriptor() {
    let read = Descriptor::from_bytes(&black_box([0; DESCRIPTOR_LEN]));
    if let Some(descriptor) = black_box(read) {
        black_box((descriptor.chip(), descriptor.to_bytes()));
        if let Ok(model) = Model::parse(bytes()) {
            black_box(descriptor.capacities.check(&model)).unwrap_or_default();
        }
    }
}

/// A duty cycle at any time.
fn schedule() {
    let mut schedule = black_box(Schedule::new(number() as u32, number() as u32, number() as u32));
    if let Turn::Sleep(ticks) = schedule.poll(number() as u32) {
        black_box(ticks);
    }
    schedule.decided();
    schedule.set_period(number() as u32, number() as u32);
    schedule.set_windows(number() as u32);
    inspect(&black_box(schedule));
    black_box(schedule.missed());
}

/// The watch over a monitor's reports, its snapshot and its duty cycle.
fn watched(model: &Model<'_>) -> Result<(), ModelError> {
    let mut monitor = black_box(Monitor::<f32, 256, 1, 16, 4, 2>::new(*model)?);
    let mut snapshot = black_box(Snapshot::<16, 8>::new(model)?);
    let mut schedule = black_box(Schedule::new(0, number() as u32, number() as u32));
    let awake = schedule.turn(number() as u32, &mut monitor, |ticks| {
        black_box(ticks);
    });
    if let Some(report) = black_box(monitor.push([black_box(0.0)])).filter(|_| awake) {
        snapshot.record(&monitor, report.index, number() as u16);
        if let Some(reference) = model.drift() {
            black_box(reference.class(number()));
            let mut watch = black_box(DriftWatch::new(reference));
            if let Some(block) = watch.report(&report) {
                black_box(block.cause.map(DriftCause::name));
            }
            let label = black_box(Label::Unknown);
            black_box(watch.window(label, q8(black_box(0.0))));
            black_box((watch.raised(), watch.drifted(), watch.blocks(), watch.windows()));
            black_box((watch.last(), *watch.reference(), watch.clone()));
            watch.reset();
        }
    }
    let snapshot = black_box(snapshot);
    let mut bytes = snapshot.bytes();
    let mut chunk = [0; 64];
    black_box((bytes.len(), bytes.next()));
    black_box(bytes.fill(chunk.get_mut(..number()).unwrap_or_default()));
    black_box((snapshot.len(), snapshot.is_empty(), Snapshot::<16, 8>::RAM, chunk));
    black_box((snapshot::front_end_id(model.front_end()), snapshot::crc32(&chunk)));
    let mut snapshot = snapshot.clone();
    snapshot.clear();
    black_box(snapshot);
    Ok(())
}

/// A flash of which nothing is known.
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

/// Slots of which nothing is known, and the models in them.
fn slots() {
    match slots::newest(bytes(), Monitor::<f32, 256, 1, 16, 4, 2>::new) {
        Ok((slot, monitor)) => drop(black_box((slot.other(), monitor))),
        // The sink takes everything.
        Err(error) => drop(write!(Sink, "{error}")),
    }
    let slots = Slots::new(Flash, number() as u32..number() as u32);
    if let Err(error) = &slots {
        let _ = write!(Sink, "{error}");
    }
    if let Ok(mut slots) = black_box(slots) {
        black_box(slots.capacity());
        let in_use: Option<Slot> = black_box(None);
        if let Err(error) = slots.store(in_use, bytes()) {
            let _ = write!(Sink, "{error}");
        }
        black_box(slots.into_flash());
    }
}

/// A window with lengths that a model would never have.
fn window<S: Sample, const FFT: usize, const AXES: usize>(sample: S) {
    let mut window = black_box(Window::<S, FFT, AXES>::new(number(), number()));
    black_box((window.push([sample; AXES]), S::ZERO.to_f32(), sample.to_f32()));
    let frames = [[sample; AXES]; 64];
    black_box(window.fill(frames.get(..number()).unwrap_or(&[])));
    for x in window.newest(number(), number()) {
        black_box(x);
    }
    let mut out = [0.0; FFT];
    if let Err(fault) = window.taper(number(), &mut out) {
        // The sink takes everything.
        let _ = write!(Sink, "{fault} {}", fault.name());
    }
    if let Ok(piece) = black_box(&window).taper_and_measure(number(), number(), &mut out) {
        let mut moments = black_box(Moments::EMPTY);
        moments.add(&piece);
        black_box(moments.statistics(black_box(0.0)));
    }
    black_box(Hann::<FFT>::TABLE.get(number()));
    let spectrum = Spectrum::transform(&mut out, number());
    black_box((spectrum.len(), spectrum.is_empty(), spectrum.band_power(number(), number())));
    let mut velocity = black_box(0.0);
    add_velocity(&mut velocity, (number(), number()), spectrum);
    black_box((velocity, spectrum.first_power()));
    let orders = black_box(ORDERS);
    black_box((orders.features(), orders.top()));
    let mut sums = black_box(FLOATS);
    add_order_power(sums.get_mut(..number()).unwrap_or_default(), &orders, 0.0, spectrum);
    for power in spectrum.power() {
        black_box(power);
    }
    let by = envelope::decimation(number(), black_box(0.0));
    black_box(envelope::write_envelope(window.newest(number(), number()), by, &mut out));
    if let Ok(model) = Model::parse(bytes()) {
        let sums = sums.get_mut(..number()).unwrap_or_default();
        let shaft_hz = black_box(Some(0.0));
        let front_end = model.front_end();
        // Refused or not is as good for what follows.
        let _ = blocks::add_segment(&window, number(), front_end, shaft_hz, &mut out, sums);
        let _ = blocks::add_tapered(
            &window,
            number(),
            front_end,
            shaft_hz,
            &mut out,
            sums,
            |spectrum| {
                black_box(spectrum.len());
            },
        );
        let mut features = black_box(FLOATS);
        let _ = black_box(blocks::log_blocks(
            front_end,
            sums,
            features.get_mut(..number()).unwrap_or_default(),
        ));
    }
    window.clear();
    black_box(window);
}

/// The stages that a monitor calls, with lengths that do not fit together.
fn stages() {
    let mut sums = black_box(FLOATS);
    let edges: [u32; 64] = black_box([0; 64]);
    let mut buffer = black_box(FLOATS);
    let spectrum = Spectrum::transform(&mut buffer, number());
    let sums = sums.get_mut(..number()).unwrap_or_default();
    features::add_band_power(sums, edges.get(..number()).unwrap_or_default(), spectrum);
    let mut features = black_box(FLOATS);
    let features = features.get_mut(..number()).unwrap_or_default();
    // Refused sums are as good as any for what follows.
    let _ = black_box(features::log_bands(sums, features));
    features::standardise(features, floats(), floats());

    black_box(features::level_offset(number(), number()));
    let mut scores = black_box(FLOATS);
    let scores = scores.get_mut(..number()).unwrap_or_default();
    let mut posterior = black_box(FLOATS);
    let posterior = posterior.get_mut(..number()).unwrap_or_default();
    let mut direction = black_box(FLOATS);
    let direction = direction.get_mut(..number()).unwrap_or_default();
    diagnosis::take_direction(direction);
    let order: [u32; 64] = black_box([0; 64]);
    mixture::reorder(features, order.get(..number()).unwrap_or_default(), direction);
    let raw = Mixture::new(floats(), floats(), number());
    for part in [raw.split_at(number()).0, raw.split_at(number()).1] {
        part.log_densities(features, scores);
        part.leading_log_densities(features, number(), scores);
        black_box((part.len(), part.is_empty(), mixture::margin(number())));
    }
    if let Ok(model) = Model::parse(bytes()) {
        model.mixture().log_densities(features, scores);
        black_box(diagnosis::diagnose(&model, features, direction, scores, posterior));
    }
    black_box(mixture::responsibilities(scores));
    label::posterior(scores, floats(), posterior);
    black_box(label::map_class(posterior));

    let x = black_box(1.0);
    black_box((math::ln(x), math::exp(x), math::sqrt(x), format::crc32(bytes()), FFT_LENGTHS));
    black_box(device_ram(4, number(), 3, 96, 32));
}

fn number() -> usize {
    black_box(0)
}

/// The contents are as unknown as the length: the compiler may not look behind the reference.
fn bytes() -> &'static [u8] {
    black_box(&BYTES).0.get(..number()).unwrap_or_default()
}

fn floats() -> &'static [f32] {
    black_box(&FLOATS).get(..number()).unwrap_or_default()
}

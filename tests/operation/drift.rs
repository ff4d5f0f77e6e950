//! The drift watch: its rate of false alarms if windows depend on one another, how soon it sees a
//! shift, and the section of the model file that holds its reference.

use crate::common;
use rebearing::model::{Floats, Numbers, Section};
use rebearing::operation::{DriftCause, DriftWatch};
use rebearing::{AnyMonitor, IntegerModel, Label, Model, ModelError, Monitor};
use rebearing_host::model::drift::{DriftContents, Stretch, contents};
use rebearing_host::model::encoded::{IntegerModelBytes, ModelBytes};
use rebearing_host::model::file::seal;
use rebearing_host::model::sections::drift_section;

/// Pseudo-random numbers (`SplitMix64`).
struct Random(u64);

impl Random {
    fn unit(&mut self) -> f64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((x ^ (x >> 31)) >> 11) as f64 / (1_u64 << 53) as f64
    }

    fn normal(&mut self) -> f64 {
        let radius = (-2.0 * (1.0 - self.unit()).ln()).sqrt();
        radius * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// How successive log-likelihoods depend on one another.
#[derive(Debug, Clone, Copy)]
enum Machine {
    /// Windows are independent.
    Independent,
    /// Windows are independent, with the long lower tail that log-likelihoods have.
    Skewed,
    /// Each window has 0.8 of the deviation of the window before.
    Wandering,
    /// Bursts of sixteen equal windows: the longest dependence that the watch allows for.
    Bursts,
    /// Like `Bursts`, with a long lower tail and one window in ten unknown.
    UnknownBursts,
}

struct Windows {
    machine: Machine,
    random: Random,
    count: u64,
    last: f64,
    unknown: bool,
}

impl Windows {
    fn new(machine: Machine, seed: u64) -> Self {
        let random = Random(seed.wrapping_mul(0x1234_5678_9abc_def1));
        Self { machine, random, count: 0, last: 0.0, unknown: false }
    }

    /// Returns the deviation from the mean in standard deviations, and whether the window is
    /// unknown.
    fn next(&mut self) -> (f64, bool) {
        let random = &mut self.random;
        // Mean zero and variance one: −χ² with four degrees of freedom.
        let mut skewed = || {
            let sum: f64 = (0..4).map(|_| random.normal().powi(2)).sum();
            (4.0 - sum) / 8.0_f64.sqrt()
        };
        let begins = self.count.is_multiple_of(16);
        self.count += 1;
        self.last = match self.machine {
            Machine::Independent => random.normal(),
            Machine::Skewed => skewed(),
            Machine::Wandering => 0.8 * self.last + 0.6 * random.normal(),
            Machine::Bursts if begins => random.normal(),
            Machine::UnknownBursts if begins => skewed(),
            _ => self.last,
        };
        if begins {
            let share = if matches!(self.machine, Machine::UnknownBursts) { 0.1 } else { 0.0 };
            self.unknown = random.unit() < share;
        }
        (self.last, self.unknown)
    }
}

/// Mean and standard deviation of each class's log-likelihood. The golden model has three classes.
const CLASSES: [(f64, f64); 3] = [(-20.0, 4.0), (35.0, 1.5), (3.0, 9.0)];

fn window(windows: &mut Windows, class: usize, shift: f64) -> (Label, f64) {
    let (deviation, unknown) = windows.next();
    let (mean, spread) = CLASSES[class];
    let label = if unknown { Label::Unknown } else { Label::Class(class) };
    (label, mean + spread * (deviation + shift))
}

/// Returns a model as a host would write it for a machine, from a stretch of 480 windows of each
/// class.
fn reference(machine: Machine, seed: u64, blocks_per_false_alarm: u32) -> ModelBytes {
    let stretches: Vec<Stretch> = (0..CLASSES.len())
        .map(|class| {
            let mut windows = Windows::new(machine, seed * 10 + class as u64);
            Stretch { windows: (0..480).map(|_| window(&mut windows, class, 0.0)).collect() }
        })
        .collect();
    let drift = contents(&stretches, CLASSES.len(), blocks_per_false_alarm).unwrap();
    common::golden_contents().with_sections(&[drift_section(&drift)]).unwrap()
}

/// Returns the number of blocks that drift, and of all blocks. The windows are new ones of the
/// reference's machine; the device stays in one class for a whole run.
fn measure(machine: Machine, runs: u64, blocks: u32, stated: u32, shift: f64) -> (u64, u64) {
    let (mut drifted, mut all) = (0, 0);
    for seed in 0..runs {
        let model = reference(machine, seed, stated);
        let model = model.model();
        let mut watch = DriftWatch::new(model.drift().unwrap());
        let mut windows = Windows::new(machine, 1_000_003 + seed);
        let class = (seed % 3) as usize;
        while watch.blocks() < blocks {
            let (label, nats) = window(&mut windows, class, shift);
            watch.window(label, Floats::nats_q8(nats as f32));
        }
        drifted += u64::from(watch.drifted());
        all += u64::from(watch.blocks());
    }
    (drifted, all)
}

const MACHINES: [Machine; 5] = [
    Machine::Independent,
    Machine::Skewed,
    Machine::Wandering,
    Machine::Bursts,
    Machine::UnknownBursts,
];

#[test]
fn false_alarms_stay_below_the_stated_rate() {
    // A rate high enough to measure: one block in twenty. The bound comes from the same formula.
    for machine in MACHINES {
        let (drifted, blocks) = measure(machine, 60, 60, 20, 0.0);
        let rate = drifted as f64 / blocks as f64;
        println!("{machine:?}: {drifted} of {blocks} blocks, stated 1 in 20");
        assert!(rate <= 1.0 / 20.0, "{machine:?}: {drifted} of {blocks}");
    }
    // The rate that models are written with. In so few blocks none may drift.
    for machine in MACHINES {
        let (drifted, blocks) = measure(machine, 60, 60, 1_000_000, 0.0);
        println!("{machine:?}: {drifted} of {blocks} blocks, stated 1 in 1000000");
        assert_eq!(drifted, 0, "{machine:?}: of {blocks}");
    }
}

#[test]
fn limits_that_took_windows_for_independent_would_be_broken() {
    // The true mean and spread, and the 5 % limit of a mean of 512 independent normal numbers.
    let drift = DriftContents {
        block: 512,
        correlation: 1,
        deviation_min: (-1.645 * 256.0 / 512.0_f64.sqrt()) as i32,
        unknown_max: 512,
        blocks_per_false_alarm: 20,
        held_out: 1,
        held_out_unknown: 0,
        classes: CLASSES
            .map(|(mean, spread)| ((256.0 * mean) as i32, (256.0 * spread) as u32))
            .to_vec(),
    };
    let bytes = common::golden_contents().with_sections(&[drift_section(&drift)]).unwrap();
    let rate = |machine| {
        let model = bytes.model();
        let mut watch = DriftWatch::new(model.drift().unwrap());
        let mut windows = Windows::new(machine, 5);
        while watch.blocks() < 2000 {
            let (label, nats) = window(&mut windows, 0, 0.0);
            watch.window(label, Floats::nats_q8(nats as f32));
        }
        f64::from(watch.drifted()) / f64::from(watch.blocks())
    };
    let rates = [Machine::Independent, Machine::Wandering, Machine::Bursts].map(rate);
    println!("limits for independent windows, 1 in 20: {rates:?}");
    assert!(rates[0] < 0.07 && rates[1] > 0.2 && rates[2] > 0.2, "{rates:?}");
}

#[test]
fn a_shift_is_seen_in_the_first_block_that_it_fills() {
    // A shift of this size is seen in every block, from the first on. If windows depend on one
    // another the shift must be larger: a reference of the same number of windows is worth less.
    for (machine, shift) in MACHINES.into_iter().zip([-3.0, -3.0, -5.0, -5.0, -8.0]) {
        let (drifted, blocks) = measure(machine, 30, 5, 1_000_000, shift);
        println!("{machine:?}, lower by {shift}: {drifted} of {blocks} blocks");
        assert_eq!(drifted, blocks, "{machine:?}");
    }
    // A rise of the log-likelihood is not a drift.
    let (drifted, _) = measure(Machine::Skewed, 10, 5, 1_000_000, 3.0);
    assert_eq!(drifted, 0);
}

#[test]
fn unknown_windows_raise_the_flag_by_themselves() {
    let bytes = reference(Machine::Independent, 1, 1_000_000);
    let model = bytes.model();
    let mut watch = DriftWatch::new(model.drift().unwrap());
    let mut random = Random(7);
    while watch.blocks() < 1 {
        // Two windows in five are unknown.
        let label = if random.unit() < 0.4 { Label::Unknown } else { Label::Class(0) };
        watch.window(label, Some((256.0 * CLASSES[0].0) as i32));
    }
    assert_eq!(watch.last().and_then(|block| block.cause), Some(DriftCause::Unknown));
}

#[test]
fn reports_of_a_monitor_count_and_sensor_faults_do_not() {
    let bytes = reference(Machine::Independent, 1, 1_000_000);
    let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(bytes.model()).unwrap();
    let reference = bytes.model().drift().unwrap();
    let mut watch = DriftWatch::new(reference);
    let (mut good, mut bad) = (0, 0);
    for n in 0..20_000_u32 {
        let stuck = n % 5_000 > 3_000;
        let sample = if stuck { 1.0 } else { (n as f32 * 0.7).sin() + (n as f32 * 1.9).sin() };
        if let Some(finding) = monitor.push([sample]) {
            let before = watch.windows();
            watch.update(&finding);
            assert_eq!(watch.windows() - before, u32::from(finding.result.is_ok()));
            if finding.result.is_ok() { good += 1 } else { bad += 1 }
        }
    }
    assert!(good > 20 && bad > 10, "{good} {bad}");
    assert_eq!(watch.windows(), good);
}

fn drift_of(bytes: &[u8]) -> Result<(), ModelError> {
    ModelBytes::from_bytes(bytes).map(|_| ())
}

/// Returns the offset of the section's payload.
fn payload(bytes: &[u8]) -> usize {
    bytes.windows(4).position(|four| four == Section::Drift.tag()).unwrap() + 8
}

#[test]
fn the_section_reads_as_it_was_written_and_none_is_none() {
    let drift = DriftContents {
        block: 512,
        correlation: 16,
        deviation_min: -444,
        unknown_max: 99,
        blocks_per_false_alarm: 1_000_000,
        held_out: 300,
        held_out_unknown: 2,
        classes: vec![(-5120, 1024), (0, 0), (77, 1)],
    };
    let plain = common::golden_contents();
    assert!(plain.model().drift().is_none());
    let bytes = plain.with_sections(&[drift_section(&drift)]).unwrap();
    let model = bytes.model();
    let read = model.drift().unwrap();
    assert_eq!((read.block, read.correlation, read.deviation_min), (512, 16, -444));
    assert_eq!((read.unknown_max, read.blocks_per_false_alarm), (99, 1_000_000));
    assert_eq!((read.held_out, read.held_out_unknown), (300, 2));
    let class = |class| read.class(class).map(|of| (of.mean, of.spread));
    assert_eq!(
        (0..4).map(class).collect::<Vec<_>>(),
        [Some((-5120, 1024)), None, Some((77, 1)), None]
    );
    // An integer model reads the same values. A second section is refused.
    let integer = common::golden_i16_contents().with_sections(&[drift_section(&drift)]).unwrap();
    assert_eq!(integer.model().drift().unwrap().class(0), read.class(0));
    assert!(common::golden_i16_contents().model().drift().is_none());
    let twice = bytes.with_sections(&[drift_section(&drift)]).unwrap_err().to_string();
    assert!(twice.contains("drft") && twice.contains("twice"), "{twice}");
    assert!(integer.with_sections(&[drift_section(&drift)]).is_err());
    // The section takes no RAM: a monitor of the same type still fits.
    assert_eq!(Monitor::<f32, 256, 1, 4, 3, 3>::new(model).map(|_| ()), Ok(()));
}

#[test]
fn damaged_sections_are_refused() {
    let whole = reference(Machine::Independent, 1, 1_000_000);
    let whole = whole.bytes();
    assert_eq!(drift_of(whole), Ok(()));
    let at = payload(whole);
    for bit in 8 * (at - 8)..8 * whole.len() {
        let mut damaged = whole.to_vec();
        damaged[bit / 8] ^= 1 << (bit % 8);
        // The checksum alone refuses every change except a tag in lower case.
        assert!(drift_of(&damaged).is_err(), "bit {bit}");
    }
    for length in at - 8..whole.len() {
        assert!(drift_of(&whole[..length]).is_err(), "{length}");
    }
    let integers = common::golden_i16_contents();
    for (word, value, field) in [
        (0, 0, "drift block"),
        (0, 65_537, "drift block"),
        (1, 0, "drift correlation"),
        (1, 513, "drift correlation"),
        (2, 0, "drift deviation"),
        (2, (-1024_i32).cast_unsigned(), "drift deviation"),
        (3, 513, "drift unknown windows"),
        (4, 0, "drift false alarms"),
        (5, 0, "drift held-out windows"),
        (6, u32::MAX, "drift held-out windows"),
        (8, (1 << 20) + 1, "drift reference"),
        (10, 0, "drift reference"),
    ] {
        let mut changed = whole.to_vec();
        changed[at + 4 * word..][..4].copy_from_slice(&value.to_le_bytes());
        // The section is the same in an integer model.
        let mut integer = integers.bytes().to_vec();
        integer.extend(&changed[at - 8..]);
        seal(&mut changed);
        seal(&mut integer);
        let index = usize::from(word == 10);
        let expected = ModelError::OutOfRange { field, index };
        assert_eq!(drift_of(&changed), Err(expected), "word {word}");
        assert_eq!(IntegerModelBytes::from_bytes(&integer).map(|_| ()), Err(expected));
    }
    let mut short = whole[..whole.len() - 4].to_vec();
    let length = (short.len() - at) as u32;
    short[at - 4..at].copy_from_slice(&length.to_le_bytes());
    seal(&mut short);
    let error = drift_of(&short);
    assert!(
        matches!(error, Err(ModelError::SectionLength { tag, .. }) if tag == Section::Drift.tag()),
        "{error:?}"
    );
}

#[test]
fn models_without_the_section_are_read_as_before() {
    for golden in [common::GOLDEN, common::GOLDEN_GATE, common::GOLDEN_ORDERS] {
        assert!(Model::parse(golden).unwrap().drift().is_none());
    }
    assert!(IntegerModel::parse(common::GOLDEN_I16).unwrap().drift().is_none());
}

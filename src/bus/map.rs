//! The map of registers: one table for server, host and docs/modbus.md.
//!
//! A row is a register with its value, so a register cannot be documented and missing, or the other
//! way round. The texts are for the host; a firmware does not link them.

use super::number::{hundredths, ten_thousandths};
use super::registers::{Registers, WindowRegisters};
use crate::classify::Label;
use crate::operation::alarm::State;
use crate::signal::Zone;
use crate::update::{Refusal, Standing, UpdateStatus};

/// Version of the map. A register keeps address and meaning as long as this does not change; new
/// ones may be added.
pub const MAP_VERSION: u16 = 1;
/// Reads where a register of one word is not available.
pub const NO_WORD: u16 = 0xffff;
/// Reads where a register of two words is not available.
pub const NO_LONG: u32 = 0xffff_ffff;
/// Reads where a float is not available: not a number.
pub const NO_FLOAT: u32 = 0x7fc0_0000;
/// The label of a fault that the model cannot name.
pub const UNKNOWN_FAULT: u16 = 0xfffe;
/// The label of a window that is like nothing the model knows.
pub const UNKNOWN: u16 = 0xfffd;
/// First register of the class names.
pub const NAMES_ADDRESS: u16 = 100;
/// Words of a class name, two bytes each, zeros at the end.
pub const NAME_WORDS: u16 = 8;
/// Classes whose names have registers.
pub const NAMED_CLASSES: usize = 16;

/// The shape of a register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Kind {
    /// One word.
    Word,
    /// A `u32` in two words, the high one first.
    Long,
    /// An IEEE-754 single in two words, the high one first.
    Float,
}

impl Kind {
    /// Number of words.
    pub const fn words(self) -> u16 {
        match self {
            Self::Word => 1,
            Self::Long | Self::Float => 2,
        }
    }

    /// Place of `address` in a register that begins at `first`.
    const fn place(self, first: u16, address: u16) -> Option<u16> {
        match address.checked_sub(first) {
            Some(at) if at < self.words() => Some(at),
            _ => None,
        }
    }

    /// Its name in the docs.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Word => "u16",
            Self::Long => "u32",
            Self::Float => "f32",
        }
    }
}

/// A row of the map.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Register {
    /// Name, as in JSON.
    pub name: &'static str,
    /// Address, counted from zero.
    pub address: u16,
    /// Its shape.
    pub kind: Kind,
    /// Unit; empty if it has none.
    pub unit: &'static str,
    /// Meaning of its values.
    pub meaning: &'static str,
}

impl Register {
    /// The row with this name.
    pub fn find(name: &str) -> Option<&'static Self> {
        MAP.iter().find(|register| register.name == name)
    }
}

/// One state of the device, from which a request is answered.
pub(super) struct View<'a> {
    pub(super) registers: &'a Registers<'a>,
    pub(super) update: UpdateStatus,
    pub(super) refusal: Option<Refusal>,
}

impl View<'_> {
    fn window(&self) -> Option<&WindowRegisters> {
        self.registers.window.as_ref()
    }

    fn velocity(&self, axis: usize) -> Option<u16> {
        self.window()?.velocity.get(axis).copied().flatten().and_then(hundredths)
    }

    fn rms(&self, axis: usize) -> Option<u32> {
        self.window()?.rms.get(axis).copied().flatten().map(f32::to_bits)
    }

    fn count(&self, count: impl Fn(&crate::operation::alarm::Counters) -> u32) -> Option<u32> {
        self.registers.counters.as_ref().map(count)
    }
}

macro_rules! map {
    ($view:ident: $($address:literal $name:ident $kind:ident $unit:literal $value:expr, $meaning:literal;)*) => {
        /// All registers but the class names, by address.
        pub const MAP: &[Register] = &[
            $(Register {
                name: stringify!($name),
                address: $address,
                kind: Kind::$kind,
                unit: $unit,
                meaning: $meaning,
            },)*
        ];

        /// The word at `address`; `None` if there is no such register.
        fn number($view: &View<'_>, address: u16) -> Option<u16> {
            $(if let Some(at) = Kind::$kind.place($address, address) {
                return Some(half(Kind::$kind, $value, at));
            })*
            None
        }
    };
}

map! { v:
    0 map_version Word "" Some(MAP_VERSION), "version of this map";
    1 state Word "" v.registers.alarm.map(|alarm| state(alarm.state)),
        "1 idle, 2 settling, 3 filling, 4 running, 5 sensor_fault";
    2 label Word "" v.window().and_then(|window| window.label.ok()).map(label),
        "class of the last window; 65533 unknown, 65534 unknown fault; not available if it has a sensor fault";
    3 classes Word "" v.registers.classes, "number of classes of the model";
    4 confidence Word "0.0001" v.window().and_then(|window| window.confidence).map(ten_thousandths),
        "probability of the label";
    5 alarm Word "" v.registers.alarm.map(|alarm| match alarm.alarm {
            None => 0_u16,
            Some(raised) if raised.active => 1,
            Some(_) => 2,
        }), "0 none, 1 active, 2 latched: has cleared and waits for an acknowledgement";
    6 alarm_acknowledged Word "" v.registers.alarm.and_then(|alarm| alarm.alarm)
        .map(|raised| u16::from(raised.acknowledged)),
        "1 if somebody acknowledged the alarm; not available without an alarm";
    7 alarm_label Word "" v.registers.alarm.and_then(|alarm| alarm.alarm).map(|raised| label(raised.label)),
        "as label; not available without an alarm";
    8 alarm_level Word "0.0001" v.registers.alarm.and_then(|alarm| alarm.level).map(ten_thousandths),
        "mean probability that the machine is not healthy; only while running";
    9 zone Word "" v.window().filter(|window| window.label.is_ok()).map(|window| zone(window.zone)),
        "ISO 20816: 1 A, 2 B, 3 C, 4 D; 0 if the model does not measure velocity";
    10 velocity_1 Word "0.01 mm/s" v.velocity(0), "velocity rms of axis 1, at most 655.34 mm/s";
    11 velocity_2 Word "0.01 mm/s" v.velocity(1), "velocity rms of axis 2";
    12 velocity_3 Word "0.01 mm/s" v.velocity(2), "velocity rms of axis 3";
    13 sensor_fault Word "" v.window().map(|window| window.label.err().map_or(0, |fault| fault as u16)),
        "of the last window: 0 none, 1 not_finite, 2 flat, 3 out_of_range, 4 no_shaft_speed, 5 lost_samples, 6 overrun, 7 bus, 8 clipped";
    14 drift Word "" v.registers.drift.map(u16::from), "1 if the machine no longer looks like its recordings";
    15 age Word "s" v.registers.age_s.map(|age| age.min(65_534) as u16), "time since the last window, at most 65534 s";
    16 sequence Long "" v.window().map(|window| window.sequence), "number of windows before the last one; wraps";
    18 rms_1 Float "sample's" v.rms(0), "rms of axis 1 in the unit of the model's samples; counts for i16 models";
    20 rms_2 Float "sample's" v.rms(1), "rms of axis 2";
    22 rms_3 Float "sample's" v.rms(2), "rms of axis 3";
    24 windows Long "" v.count(|counts| counts.windows), "windows since the start";
    26 unknown_windows Long "" v.count(|counts| counts.unknown), "judged windows that were unknown";
    28 sensor_faults Long "" v.count(|counts| counts.sensor_faults), "windows with a sensor fault";
    30 alarms Long "" v.count(|counts| counts.alarms), "times that an alarm came on";
    32 starts Long "" v.count(|counts| counts.starts), "times that the machine started";
    34 restarts Long "" v.registers.restarts, "restarts of the device";
    36 flags Word "" v.registers.flags, "bits of the firmware's own";
    37 standing Word "" Some(standing(v.update.standing)), "of the model: 0 no_model, 1 on_trial, 2 confirmed";
    38 trial_restarts Word "" Some(u16::from(v.update.restarts)), "restarts of the model on trial";
    39 outcome Word "" Some(u16::from(v.update.outcome.code())),
        "of the last trial: 0 none, 1 confirmed, 2 confirmed_remotely, 3 rejected, 4 drift, 5 sensor_faults, 6 restarts, 7 damaged, 8 does_not_fit";
    40 counter Long "" Some(v.update.counter), "counter of the model that runs; 0 without one";
    42 received Long "bytes" Some(v.update.received), "bytes of a new model that are there";
    44 total Long "bytes" Some(v.update.total), "bytes of the new model's signed file; 0 if none is being received";
    46 waiting Word "" Some(u16::from(v.update.waiting)), "1 if a new model is verified and waits for the next start";
    47 last_refusal Word "" Some(v.refusal.map_or(0, |refusal| u16::from(refusal.code()))),
        "why the last command or piece was refused; 0 if it was taken";
}

/// A value of a register, before it is known how many words it has.
trait Value {
    fn bits(self, kind: Kind) -> u32;
}

impl Value for Option<u16> {
    fn bits(self, _: Kind) -> u32 {
        u32::from(self.unwrap_or(NO_WORD))
    }
}

impl Value for Option<u32> {
    fn bits(self, kind: Kind) -> u32 {
        match (self, kind) {
            (None, Kind::Float) => NO_FLOAT,
            (None, _) => NO_LONG,
            (Some(bits), Kind::Float) => bits,
            // The largest number of a counter must not read as *not available*.
            (Some(count), _) => count.min(NO_LONG - 1),
        }
    }
}

/// Word `at` of a value.
fn half(kind: Kind, value: impl Value, at: u16) -> u16 {
    let bits = value.bits(kind);
    let last = at + 1 == kind.words();
    if last { bits as u16 } else { (bits >> 16) as u16 }
}

/// The word at `address`; `None` if there is no such register.
pub(super) fn word(view: &View<'_>, address: u16) -> Option<u16> {
    let Some(at) = address.checked_sub(NAMES_ADDRESS) else { return number(view, address) };
    let name = view.registers.class_names.get(usize::from(at / NAME_WORDS))?;
    let byte = 2 * usize::from(at % NAME_WORDS);
    let text = cut(name, 2 * usize::from(NAME_WORDS)).as_bytes();
    let at = |byte: usize| text.get(byte).copied().unwrap_or(0);
    Some(u16::from_be_bytes([at(byte), at(byte + 1)]))
}

/// The beginning of `text` in at most `len` bytes, without half a character.
pub(super) fn cut(text: &str, len: usize) -> &str {
    let mut end = len.min(text.len());
    while end > 0 && !text.is_char_boundary(end) {
        end -= 1;
    }
    text.get(..end).unwrap_or("")
}

fn state(state: State) -> u16 {
    match state {
        State::Idle => 1,
        State::Settling => 2,
        State::Filling => 3,
        State::Running => 4,
        State::SensorFault(_) => 5,
    }
}

fn label(label: Label) -> u16 {
    match label {
        Label::Class(class) => class.min(usize::from(UNKNOWN - 1)) as u16,
        Label::Unknown => UNKNOWN,
        Label::UnknownFault => UNKNOWN_FAULT,
    }
}

fn zone(zone: Option<Zone>) -> u16 {
    match zone {
        None => 0,
        Some(Zone::A) => 1,
        Some(Zone::B) => 2,
        Some(Zone::C) => 3,
        Some(Zone::D) => 4,
    }
}

fn standing(standing: Standing) -> u16 {
    match standing {
        Standing::NoModel => 0,
        Standing::OnTrial => 1,
        Standing::Confirmed => 2,
    }
}

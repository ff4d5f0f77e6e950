//! Everything that a device says of itself, read over the bus.

use rebearing::SensorFault;
use rebearing::bus::map::{Kind, NAME_WORDS, NAMED_CLASSES, NAMES_ADDRESS, NO_FLOAT, NO_LONG};
use rebearing::bus::map::{NO_WORD, UNKNOWN, UNKNOWN_FAULT};
use rebearing::bus::{MAP, MAP_VERSION, Register};
use rebearing::update::{Outcome, Refusal, Standing};
use serde_json::{Map, Value, json};

use super::client::{Client, ModbusError};
use super::line::Line;
use crate::device::line::printable;

/// Names of a device, made printable.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Identification {
    /// Vendor, product code, revision, URL, product, variant and application.
    texts: [String; Self::NAMES.len()],
}

impl Identification {
    /// The names of the texts, in JSON and in text.
    pub const NAMES: [&str; 7] =
        ["vendor", "product_code", "revision", "url", "product", "variant", "application"];

    /// Names and texts, without those that are empty.
    pub fn iter(&self) -> impl Iterator<Item = (&'static str, &str)> {
        let all = Self::NAMES.into_iter().zip(self.texts.iter().map(String::as_str));
        all.filter(|(_, text)| !text.is_empty())
    }

    pub(super) fn set(&mut self, id: u8, text: &str) {
        if let Some(place) = self.texts.get_mut(usize::from(id)) {
            place.clear();
            place.push_str(text);
        }
    }
}

/// The objects of an answer to function 43.
pub(super) struct Objects {
    /// Number and printable text of each object.
    pub(super) texts: Vec<(u8, String)>,
    /// The first object of the next answer.
    pub(super) next: Option<u8>,
}

/// The objects in an answer; `None` if it is malformed.
pub(super) fn objects(answer: &[u8]) -> Option<Objects> {
    let (&[_, _, _, _, more, next, count], mut rest) = answer.split_first_chunk()?;
    let mut texts = Vec::new();
    for _ in 0..count {
        let (&[id, len], after) = rest.split_first_chunk()?;
        let (text, after) = after.split_at_checked(usize::from(len))?;
        texts.push((id, text_of(text)));
        rest = after;
    }
    let next = (more == 0xff).then_some(next);
    rest.is_empty().then_some(Objects { texts, next })
}

/// Untrusted bytes as text: up to the first zero, and printable.
fn text_of(bytes: &[u8]) -> String {
    let end = bytes.iter().position(|byte| *byte == 0).unwrap_or(bytes.len());
    printable(&String::from_utf8_lossy(&bytes[..end]))
}

/// The state of a device.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct DeviceStatus {
    /// Who it is.
    pub identification: Identification,
    /// Names of its classes, as far as it tells them.
    pub class_names: Vec<String>,
    /// Registers from address 0 on.
    words: Vec<u16>,
}

impl DeviceStatus {
    /// Reads everything from a device.
    pub fn read<L: Line>(client: &mut Client<L>) -> Result<Self, ModbusError> {
        let mut status = Self::registers(client)?;
        status.identification = client.identify()?;
        for class in 0..status.number("classes").map_or(0, |n| n as usize).min(NAMED_CLASSES) {
            let words = client.read(NAMES_ADDRESS + NAME_WORDS * class as u16, NAME_WORDS)?;
            let bytes: Vec<u8> = words.iter().flat_map(|word| word.to_be_bytes()).collect();
            status.class_names.push(text_of(&bytes));
        }
        Ok(status)
    }

    /// Reads the registers alone, all from one state.
    pub fn registers<L: Line>(client: &mut Client<L>) -> Result<Self, ModbusError> {
        let found = client.read(0, 1)?.first().copied().unwrap_or(0);
        if found != MAP_VERSION {
            return Err(ModbusError::OtherMap { found, known: MAP_VERSION });
        }
        let end = MAP.iter().map(|register| register.address + register.kind.words()).max();
        Ok(Self { words: client.read(0, end.unwrap_or(0))?, ..Self::default() })
    }

    /// Keeps names, and takes the registers of `newer`.
    pub fn update(&mut self, newer: Self) {
        self.words = newer.words;
    }

    fn bits(&self, register: &Register) -> Option<u32> {
        let start = usize::from(register.address);
        let words = self.words.get(start..start + usize::from(register.kind.words()))?;
        let bits = words.iter().fold(0, |value, word| value << 16 | u32::from(*word));
        let not_available = match register.kind {
            Kind::Word => bits == u32::from(NO_WORD),
            Kind::Long => bits == NO_LONG,
            Kind::Float => bits == NO_FLOAT || !f32::from_bits(bits).is_finite(),
        };
        (!not_available).then_some(bits)
    }

    /// The number in a register; `None` if it is not available, or a float.
    pub fn number(&self, name: &str) -> Option<u32> {
        let register = Register::find(name).filter(|register| register.kind != Kind::Float)?;
        self.bits(register)
    }

    /// The number in a register of floats; `None` if it is not available.
    pub fn float(&self, name: &str) -> Option<f32> {
        let register = Register::find(name).filter(|register| register.kind == Kind::Float)?;
        self.bits(register).map(f32::from_bits)
    }

    /// The word for the code in a register that has words.
    pub fn word(&self, name: &str) -> Option<String> {
        let code = self.number(name)?;
        let known = match name {
            "state" => ["", "idle", "settling", "filling", "running", "sensor_fault"]
                .get(code as usize)
                .copied(),
            "alarm" => ["none", "active", "latched"].get(code as usize).copied(),
            "zone" => ["", "A", "B", "C", "D"].get(code as usize).copied(),
            "sensor_fault" if code == 0 => Some("none"),
            "sensor_fault" => SensorFault::ALL
                .into_iter()
                .find(|fault| *fault as u32 == code)
                .map(SensorFault::name),
            _ => None,
        };
        // A later firmware may have codes that this does not know.
        Some(known.filter(|word| !word.is_empty()).map_or_else(|| code.to_string(), str::to_owned))
    }

    /// The name of the label in a register.
    pub fn label(&self, name: &str) -> Option<String> {
        let label = self.number(name)?;
        Some(if label == u32::from(UNKNOWN) {
            "unknown".into()
        } else if label == u32::from(UNKNOWN_FAULT) {
            "unknown_fault".into()
        } else {
            let known = self.class_names.get(label as usize).filter(|name| !name.is_empty());
            known.cloned().unwrap_or_else(|| format!("class {label}"))
        })
    }

    /// The standing of the model that runs.
    pub fn standing(&self) -> Option<Standing> {
        match self.number("standing")? {
            0 => Some(Standing::NoModel),
            1 => Some(Standing::OnTrial),
            2 => Some(Standing::Confirmed),
            _ => None,
        }
    }

    /// How the last trial ended.
    pub fn outcome(&self) -> Option<Outcome> {
        self.number("outcome").and_then(|code| Outcome::from_code(u8::try_from(code).ok()?))
    }

    /// The last refusal, if there was one.
    pub fn refusal(&self) -> Option<Refusal> {
        self.number("last_refusal").and_then(|code| Refusal::from_code(u8::try_from(code).ok()?))
    }

    fn share(&self, name: &str) -> Option<f64> {
        self.number(name).map(|value| f64::from(value) / 1e4)
    }

    fn flag(&self, name: &str) -> Option<bool> {
        self.number(name).map(|value| value != 0)
    }

    /// Velocity rms of each axis in mm/s, as far as it is available.
    pub fn velocities(&self) -> Vec<f64> {
        let names = ["velocity_1", "velocity_2", "velocity_3"];
        names.iter().map_while(|name| self.number(name)).map(|v| f64::from(v) / 100.0).collect()
    }

    /// Rms of each axis, as far as it is available.
    pub fn rms(&self) -> Vec<f32> {
        ["rms_1", "rms_2", "rms_3"].iter().map_while(|name| self.float(name)).collect()
    }

    /// Everything as JSON. What is not available is null.
    pub fn json(&self) -> Value {
        let names: Map<String, Value> =
            self.identification.iter().map(|(name, text)| (name.into(), text.into())).collect();
        let counts =
            ["windows", "unknown_windows", "sensor_faults", "alarms", "starts", "restarts"];
        let counts: Map<String, Value> =
            counts.iter().map(|name| ((*name).into(), json!(self.number(name)))).collect();
        json!({
            "identification": names,
            "class_names": self.class_names,
            "map_version": self.number("map_version"),
            "state": self.word("state"),
            "label": self.label("label"),
            "confidence": self.share("confidence"),
            "alarm": self.word("alarm"),
            "alarm_acknowledged": self.flag("alarm_acknowledged"),
            "alarm_label": self.label("alarm_label"),
            "alarm_level": self.share("alarm_level"),
            "zone": self.word("zone").filter(|_| self.number("zone") != Some(0)),
            "velocity_mm_s": self.velocities(),
            "rms": self.rms(),
            "sensor_fault": self.word("sensor_fault"),
            "drift": self.flag("drift"),
            "age_s": self.number("age"),
            "sequence": self.number("sequence"),
            "counts": counts,
            "flags": self.number("flags"),
            "update": {
                "standing": self.standing().map(Standing::name),
                "counter": self.number("counter"),
                "trial_restarts": self.number("trial_restarts"),
                "outcome": self.outcome().map(Outcome::name),
                "received": self.number("received"),
                "total": self.number("total"),
                "waiting": self.flag("waiting"),
                "last_refusal": self.number("last_refusal"),
            },
        })
    }
}

//! A device as the plant sees it, filled in by the application.

use super::identity::Identity;
use super::map::NAMED_CLASSES;
use super::number::f32_bits_of_q8;
use crate::acquisition::SensorFault;
use crate::classify::Label;
use crate::model::{AnyModel, Encoding, Numbers};
use crate::monitor::AnyFinding;
use crate::operation::AlarmState;
use crate::operation::alarm::Counters;
use crate::signal::Zone;

/// Axes that have registers.
pub(super) const AXES: usize = 3;

/// Everything that the bus tells of the device, but the update. `None` reads as *not available*.
///
/// A request reads one state of it: fill it in between two calls of
/// [`Server::silence`](super::Server::silence).
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Registers<'m> {
    /// Who the device is.
    pub identity: Identity<'m>,
    /// Number of classes of the model; `None` without a model.
    pub classes: Option<u16>,
    /// Names of the first classes; a name is cut to 16 bytes.
    pub class_names: [&'m str; NAMED_CLASSES],
    /// The last window.
    pub window: Option<WindowRegisters>,
    /// Seconds since the last window.
    pub age_s: Option<u32>,
    /// The alarm after the last window.
    pub alarm: Option<AlarmState>,
    /// Counts of events since the start.
    pub counters: Option<Counters>,
    /// True if the drift watch asks for a new adaptation; `None` without one.
    pub drift: Option<bool>,
    /// Restarts of the device, if it counts them.
    pub restarts: Option<u32>,
    /// Bits of the firmware's own; its documentation has their meaning.
    pub flags: Option<u16>,
}

/// The last window, as the registers have it.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct WindowRegisters {
    /// Number of windows before this one.
    pub sequence: u32,
    /// The label, or why the window was not analysed.
    pub label: Result<Label, SensorFault>,
    /// Probability of the label in Q15; `None` if it is no class.
    pub confidence: Option<u16>,
    /// Zone of the velocity; `None` if the model does not measure it.
    pub zone: Option<Zone>,
    /// Velocity rms of each axis in mm/s.
    pub velocity: [Option<f32>; AXES],
    /// Rms of each axis in the unit of the model's samples.
    pub rms: [Option<f32>; AXES],
}

impl WindowRegisters {
    /// The registers of a finding.
    pub fn of_finding<N: Numbers, const OWN: usize, const CLASSES: usize>(
        finding: &AnyFinding<N, OWN, CLASSES>,
    ) -> Self {
        let mut window = Self {
            sequence: finding.index,
            label: Err(SensorFault::NotFinite),
            confidence: None,
            zone: None,
            velocity: [None; AXES],
            rms: [None; AXES],
        };
        let found = match &finding.result {
            Ok(found) => found,
            Err(fault) => {
                window.label = Err(*fault);
                return window;
            }
        };
        window.label = Ok(found.label);
        if let Label::Class(class) = found.label {
            window.confidence = found.posterior.get(class).and_then(|p| N::q15(*p));
        }
        for (place, axis) in window.rms.iter_mut().zip(&found.statistics) {
            *place = N::rms(axis).map(|rms| match N::ENCODING {
                Encoding::F32 => f32::from_bits(rms.bits()),
                Encoding::I16 => f32::from_bits(f32_bits_of_q8(rms.bits())),
            });
        }
        if let Some(severity) = &found.severity {
            window.zone = Some(severity.zone);
            for (place, velocity) in window.velocity.iter_mut().zip(severity.velocity) {
                *place = Some(velocity);
            }
        }
        window
    }
}

impl<'m> Registers<'m> {
    /// Nothing is known yet but who the device is.
    pub const fn new(identity: Identity<'m>) -> Self {
        Self {
            identity,
            classes: None,
            class_names: [""; NAMED_CLASSES],
            window: None,
            age_s: None,
            alarm: None,
            counters: None,
            drift: None,
            restarts: None,
            flags: None,
        }
    }

    /// Takes the classes of `model` and its target's name, which becomes the name of the application.
    pub fn set_model<B>(&mut self, model: &AnyModel<'m, B>) {
        self.classes = Some(model.classes().min(0xfffe) as u16);
        self.identity.application = model.provenance().target;
        for (class, place) in self.class_names.iter_mut().enumerate() {
            *place = model.class_name(class).unwrap_or("");
        }
    }

    /// Takes a finding, and the alarm after it.
    pub fn update<N: Numbers, const OWN: usize, const CLASSES: usize>(
        &mut self,
        finding: &AnyFinding<N, OWN, CLASSES>,
        alarm: AlarmState,
        counters: Counters,
    ) {
        self.window = Some(WindowRegisters::of_finding(finding));
        self.age_s = Some(0);
        self.alarm = Some(alarm);
        self.counters = Some(counters);
    }
}

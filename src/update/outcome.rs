//! How a trial ended, kept in flash and told on the bus.

/// How the last trial ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum Outcome {
    /// No trial has ended yet.
    #[default]
    None = 0,
    /// The model was confirmed by what it showed.
    Confirmed = 1,
    /// The model was confirmed from outside.
    ConfirmedRemotely = 2,
    /// The model was rejected from outside.
    Rejected = 3,
    /// The machine looked unlike the windows that the model was made from.
    Drift = 4,
    /// Too many windows had a sensor fault.
    SensorFaults = 5,
    /// The device restarted too often before the model was confirmed.
    Restarts = 6,
    /// The model was damaged, or its signature no longer held.
    Damaged = 7,
    /// The firmware cannot run the model.
    DoesNotFit = 8,
}

impl Outcome {
    const ALL: [Self; 9] = [
        Self::None,
        Self::Confirmed,
        Self::ConfirmedRemotely,
        Self::Rejected,
        Self::Drift,
        Self::SensorFaults,
        Self::Restarts,
        Self::Damaged,
        Self::DoesNotFit,
    ];

    /// Returns true if the model was confirmed.
    pub fn is_confirmed(self) -> bool {
        matches!(self, Self::Confirmed | Self::ConfirmedRemotely)
    }

    /// The number in flash and on the bus.
    pub fn code(self) -> u8 {
        self as u8
    }

    /// The outcome with this number.
    pub fn from_code(code: u8) -> Option<Self> {
        Self::ALL.into_iter().find(|outcome| outcome.code() == code)
    }

    /// The outcome in one word, as command line, JSON and the bus's map have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::None => "none",
            Self::Confirmed => "confirmed",
            Self::ConfirmedRemotely => "confirmed_remotely",
            Self::Rejected => "rejected",
            Self::Drift => "drift",
            Self::SensorFaults => "sensor_faults",
            Self::Restarts => "restarts",
            Self::Damaged => "damaged",
            Self::DoesNotFit => "does_not_fit",
        }
    }
}

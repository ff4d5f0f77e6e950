//! Why samples cannot be analysed.

use core::fmt;

/// Why a window was not analysed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u8)]
pub enum SensorFault {
    /// A sample is NaN or infinite.
    // Numbers start at one, so no fault is a zero byte: a monitor at rest is all zeros.
    NotFinite = 1,
    /// The samples do not vary at all: a stuck, saturated or disconnected sensor.
    Flat,
    /// The samples are so large or so small that their power is not a normal `f32`.
    OutOfRange,
    /// The model has features of shaft orders, and no shaft speed is known.
    NoShaftSpeed,
    /// Samples are missing between two that are there.
    LostSamples,
    /// Samples were overwritten before they were read: the processor was busy for too long.
    Overrun,
    /// The sensor's bus failed or returned nothing sensible.
    Bus,
    /// A sample is at the end of the sensor's range.
    Clipped,
}

impl SensorFault {
    /// All faults, in the order of their numbers.
    pub const ALL: [Self; 8] = [
        Self::NotFinite,
        Self::Flat,
        Self::OutOfRange,
        Self::NoShaftSpeed,
        Self::LostSamples,
        Self::Overrun,
        Self::Bus,
        Self::Clipped,
    ];

    /// The fault in one word, as command line, JSON and firmware print it.
    pub fn name(self) -> &'static str {
        match self {
            Self::NotFinite => "not_finite",
            Self::Flat => "flat",
            Self::OutOfRange => "out_of_range",
            Self::NoShaftSpeed => "no_shaft_speed",
            Self::LostSamples => "lost_samples",
            Self::Overrun => "overrun",
            Self::Bus => "bus",
            Self::Clipped => "clipped",
        }
    }
}

impl fmt::Display for SensorFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::NotFinite => "a sample is NaN or infinite",
            Self::Flat => "the samples do not vary: stuck, saturated or disconnected sensor",
            Self::OutOfRange => "the samples are too large or too small for f32 power",
            Self::NoShaftSpeed => {
                "the model has features of shaft orders and needs the shaft's speed"
            }
            Self::LostSamples => "samples are missing",
            Self::Overrun => "samples were overwritten before they were read: read more often",
            Self::Bus => "the sensor's bus failed: check wiring, supply and chip select",
            Self::Clipped => "a sample is at the end of the sensor's range: use a larger one",
        })
    }
}

impl core::error::Error for SensorFault {}

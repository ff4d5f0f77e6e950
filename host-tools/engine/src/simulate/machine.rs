//! Machines of one family: a nominal motor, and how far each built and mounted motor differs from
//! it.

use super::random::Random;
use crate::data::bearing::Bearing;

/// The properties of one machine and its sensor.
#[derive(Debug, Clone, PartialEq)]
pub struct Machine {
    /// Name of the machine; also its domain in the manifest.
    pub name: String,
    /// Shaft speed.
    pub rpm: f64,
    /// The bearing next to the sensor.
    pub bearing: Bearing,
    /// Share of the load zone in the bearing's circumference, and strength of impacts, 0 to 1.
    pub load: f64,
    /// Size of the fault; 1 is the family's nominal size.
    pub severity: f64,
    /// Blades of the fan on the shaft.
    pub blades: u32,
    /// Structural modes.
    pub modes: Vec<Mode>,
    /// The sensor and how it is mounted.
    pub sensor: Sensor,
    /// Noise in g.
    pub noise: Noise,
}

/// A structural mode, and how strongly each kind of force reaches it.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Mode {
    /// Frequency.
    pub frequency_hz: f64,
    /// Share of the critical damping.
    pub damping: f64,
    /// Gain from force to acceleration.
    pub gain: f64,
    /// Participation of each path.
    pub paths: Paths,
    /// Direction of the motion. Each sensor axis sees one component of it.
    pub direction: [f64; 3],
}

/// One number for each path that forces take into the structure.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Paths {
    /// From the outer race, straight into the housing.
    pub outer_race: f64,
    /// From the inner race, through the balls.
    pub inner_race: f64,
    /// From a ball, into both races.
    pub ball: f64,
    /// Knocks of the coupling and of loose parts, into the housing.
    pub housing: f64,
    /// Rolling contact, which is always present.
    pub rolling: f64,
}

/// An accelerometer on its mounting.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sensor {
    /// Output per g.
    pub gain: f64,
    /// Resonance of the contact (stud, glue, magnet).
    pub contact_hz: f64,
    /// Share of the critical damping of the contact.
    pub contact_damping: f64,
}

/// Noise, each in g rms.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Noise {
    /// Rolling noise that drives the modes.
    pub rolling: f64,
    /// Noise from flow and neighbouring machines; it falls with frequency.
    pub coloured: f64,
    /// Noise of the sensor; it is flat.
    pub white: f64,
}

/// The family's modes. Columns: frequency, damping, gain, outer race, inner race, ball, housing,
/// rolling.
const NOMINAL_MODES: [[f64; 8]; 6] = [
    // Housing on its feet.
    [820.0, 0.040, 1.0, 0.08, 0.05, 0.04, 1.00, 0.30],
    // End shield.
    [1900.0, 0.030, 1.0, 0.30, 0.12, 0.10, 0.45, 0.35],
    // Outer ring in its seat.
    [3300.0, 0.025, 1.0, 1.00, 0.30, 0.25, 0.12, 0.40],
    // Rotor and inner ring.
    [4900.0, 0.022, 1.0, 0.25, 1.00, 0.30, 0.06, 0.30],
    // The rings themselves.
    [6500.0, 0.020, 1.0, 0.45, 0.45, 0.60, 0.03, 0.25],
    // Contact of the balls.
    [8100.0, 0.020, 1.0, 0.12, 0.20, 1.00, 0.02, 0.20],
];

impl Machine {
    /// Machine `number` of a simulation; `motor-a` is number 0.
    ///
    /// Number 0 is near the family's nominal. The others run 15–25 % faster or slower. Their modes
    /// lie 6–10 % higher or lower together, and up to 2 % more or less each. Bearing load, fault
    /// size, sensor gain, mounting and noise differ as they do from place to place.
    pub fn of_family(number: usize, seed: u64) -> Self {
        let mut random = Random::new(seed, number as u64);
        let random = &mut random;
        // The reference machine too is only a specimen, so it also differs a little from the
        // nominal.
        let relocated = number > 0;
        let (speed, stiffness) = if relocated {
            (random.either_way(0.15, 0.25), random.either_way(0.06, 0.10))
        } else {
            (random.either_way(0.0, 0.03), random.either_way(0.0, 0.01))
        };
        let spread = if relocated { 1.0 } else { 0.25 };
        let modes = NOMINAL_MODES
            .iter()
            .map(
                |&[frequency_hz, damping, gain, outer_race, inner_race, ball, housing, rolling]| {
                    let own = spread * random.uniform(-0.02, 0.02);
                    Mode {
                        frequency_hz: frequency_hz * (1.0 + stiffness + own),
                        damping: damping * random.decibels(spread * 2.0),
                        gain: gain * random.decibels(spread * 2.0),
                        paths: Paths {
                            outer_race: outer_race * random.decibels(spread * 1.0),
                            inner_race: inner_race * random.decibels(spread * 1.0),
                            ball: ball * random.decibels(spread * 1.0),
                            housing: housing * random.decibels(spread * 1.0),
                            rolling: rolling * random.decibels(spread * 2.0),
                        },
                        direction: direction(random),
                    }
                },
            )
            .collect();
        Self {
            name: format!("motor-{}", char::from(b'a' + (number % 26) as u8)),
            rpm: 1480.0 * (1.0 + speed),
            bearing: Bearing::DEEP_GROOVE_6205,
            load: random.uniform(0.35, 0.65),
            severity: random.decibels(spread * 3.0),
            blades: 7,
            modes,
            sensor: Sensor {
                gain: random.decibels(spread * 6.0),
                contact_hz: 7600.0 * (1.0 + spread * random.uniform(-0.15, 0.15)),
                contact_damping: 0.35 * random.decibels(spread * 4.0),
            },
            noise: Noise {
                rolling: 0.012 * random.decibels(spread * 2.0),
                coloured: 0.008 * random.decibels(spread * 3.0),
                white: 0.006 * random.decibels(spread * 3.0),
            },
        }
    }
}

/// A direction with a large component on every axis, so that every axis sees every mode.
fn direction(random: &mut Random) -> [f64; 3] {
    let components = [(); 3].map(|()| random.uniform(0.4, 1.0));
    // Scaled so that the first axis has 1: a single-axis sensor sees the full mode.
    components.map(|c| c / components[0])
}

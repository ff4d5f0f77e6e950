//! From forces to sensor output: modes, shaft orders, mounting, noise.

use std::f64::consts::TAU;

use super::class::Class;
use super::force::{Forces, Rotation};
use super::machine::Machine;
use super::random::Random;
use super::resonator::Resonator;

/// Seconds simulated before the recording begins, so that the modes can build up.
const WARM_UP_SECONDS: f64 = 0.1;
/// Highest mode in the recording, as a fraction of the sampling rate. Modes above it are left out.
const HIGHEST_MODE: f64 = 0.45;
/// Corner frequency of the coloured noise.
const COLOUR_HZ: f64 = 500.0;

/// Interleaved frames of a machine in a condition, in g times the sensor's gain.
pub(super) fn vibration(
    machine: &Machine,
    class: Class,
    rate_hz: f64,
    frames: usize,
    axes: usize,
    random: &mut Random,
) -> Vec<f32> {
    let warm_up = (WARM_UP_SECONDS * rate_hz) as usize;
    let rotation = Rotation::new(machine.rpm, rate_hz, warm_up + frames, random);
    let forces = Forces::new(machine, class, &rotation, random);
    let mut acceleration = modes(machine, class, rate_hz, axes, &forces);
    ShaftOrders::new(machine, class, random).add(&rotation, class, axes, random, &mut acceleration);
    sense(machine, rate_hz, axes, random, &mut acceleration);
    acceleration[warm_up * axes..].iter().map(|&x| x as f32).collect()
}

/// The structure's response to the forces: the sum over its modes.
fn modes(machine: &Machine, class: Class, rate_hz: f64, axes: usize, forces: &Forces) -> Vec<f64> {
    let mut acceleration = vec![0.0; forces.rolling.len() * axes];
    for mode in &machine.modes {
        if mode.frequency_hz > HIGHEST_MODE * rate_hz {
            continue;
        }
        let mut resonator = Resonator::mode(mode.frequency_hz, mode.damping, rate_hz);
        let defect = mode.paths.of_defect(class);
        let paths = mode.paths;
        for (frame, sample) in acceleration.chunks_exact_mut(axes).enumerate() {
            let force = defect * forces.defect[frame]
                + paths.housing * forces.housing[frame]
                + paths.rolling * forces.rolling[frame];
            let swing = mode.gain * resonator.step(force);
            for (x, direction) in sample.iter_mut().zip(mode.direction) {
                *x += direction * swing;
            }
        }
    }
    acceleration
}

/// Sines locked to the shaft, in steps of half an order.
struct ShaftOrders {
    /// Sine and cosine parts, in g, of orders ½, 1, 1½ …
    parts: Vec<[f64; 2]>,
    /// How much the overall strength varies from turn to turn.
    unsteady: f64,
}

impl ShaftOrders {
    fn new(machine: &Machine, class: Class, random: &mut Random) -> Self {
        let mut amplitudes = vec![0.0; 40];
        let mut set = |order: f64, g: f64| {
            if let Some(amplitude) = amplitudes.get_mut((2.0 * order) as usize - 1) {
                *amplitude += g;
            }
        };
        for (order, g) in [(1.0, 0.025), (2.0, 0.010), (3.0, 0.005), (4.0, 0.003)] {
            set(order, g);
        }
        let blades = f64::from(machine.blades);
        set(blades, 0.012);
        set(2.0 * blades, 0.005);
        let severity = machine.severity;
        match class {
            Class::Imbalance => {
                set(1.0, 0.50 * severity);
                set(2.0, 0.02 * severity);
            }
            Class::Misalignment => {
                for (order, g) in [(1.0, 0.05), (2.0, 0.16), (3.0, 0.08), (4.0, 0.03)] {
                    set(order, g * severity);
                }
            }
            Class::Looseness => {
                for order in 1..=18 {
                    let order = f64::from(order);
                    set(order, 0.13 * severity / order.sqrt());
                    set(order - 0.5, 0.05 * severity / order.sqrt());
                }
            }
            _ => {}
        }
        // Accelerations grow with the square of the speed.
        let speed = machine.rpm / 1480.0;
        let parts = amplitudes
            .iter()
            .map(|g| {
                let (sin, cos) = libm::sincos(TAU * random.unit());
                [g * speed * speed * sin, g * speed * speed * cos]
            })
            .collect();
        let unsteady = if class == Class::Looseness { 0.3 } else { 0.03 };
        Self { parts, unsteady }
    }

    fn add(
        &self,
        rotation: &Rotation,
        class: Class,
        axes: usize,
        random: &mut Random,
        acceleration: &mut [f64],
    ) {
        // Radial, tangential, axial. A rotor moves across its axis, but misaligned shafts also push
        // each other along it.
        let axial = if class == Class::Misalignment { 1.2 } else { 0.3 };
        let directions = [1.0, 0.8, axial];
        let (mut turn, mut strength) = (None, 1.0);
        for (&turns, sample) in rotation.turns.iter().zip(acceleration.chunks_exact_mut(axes)) {
            if turn != Some(turns as u64) {
                turn = Some(turns as u64);
                strength = 1.0 + self.unsteady * random.normal();
            }
            let swing = strength * self.at(turns);
            for (x, direction) in sample.iter_mut().zip(directions) {
                *x += direction * swing;
            }
        }
    }

    /// The sum of all orders after the given number of turns.
    fn at(&self, turns: f64) -> f64 {
        let (sin_half, cos_half) = libm::sincos(TAU / 2.0 * turns);
        // Each half order comes from rotating the one before: two function calls a frame, not
        // eighty.
        let (mut sin, mut cos) = (sin_half, cos_half);
        let mut sum = 0.0;
        for [sin_part, cos_part] in &self.parts {
            sum += sin_part * sin + cos_part * cos;
            (sin, cos) = (sin * cos_half + cos * sin_half, cos * cos_half - sin * sin_half);
        }
        sum
    }
}

/// Turns acceleration into the sensor's output, in place.
fn sense(
    machine: &Machine,
    rate_hz: f64,
    axes: usize,
    random: &mut Random,
    acceleration: &mut [f64],
) {
    let sensor = machine.sensor;
    let noise = machine.noise;
    let colour = libm::exp(-TAU * COLOUR_HZ / rate_hz);
    // Keeps the rms of the coloured noise the same for every corner frequency.
    let kick = (1.0 - colour * colour).sqrt();
    for axis in 0..axes {
        let contact = Resonator::mounting(sensor.contact_hz, sensor.contact_damping, rate_hz);
        // If the contact resonates above this limit, it passes everything unchanged.
        let mut contact = (sensor.contact_hz < HIGHEST_MODE * rate_hz).then_some(contact);
        let mut flow = 0.0;
        for sample in acceleration.chunks_exact_mut(axes) {
            flow = colour * flow + kick * random.normal();
            let moved = sample[axis] + noise.coloured * flow;
            let felt = contact.as_mut().map_or(moved, |contact| contact.step(moved));
            sample[axis] = sensor.gain * (felt + noise.white * random.normal());
        }
    }
}

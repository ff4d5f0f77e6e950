//! Forces inside a machine: the shaft's rotation and the impacts.

use std::f64::consts::TAU;

use super::class::Class;
use super::machine::{Machine, Paths};
use super::random::Random;

/// Frames between two steps of the slow drifts. This is far shorter than the drifts themselves.
const DRIFT_STEP: usize = 64;
/// Time constant of the slow drifts in seconds.
const DRIFT_SECONDS: f64 = 1.0;

/// Rotation of the shaft and drift of the load on it, frame by frame.
pub(super) struct Rotation {
    /// Turns of the shaft, counted from a moment before the recording.
    pub(super) turns: Vec<f64>,
    /// Load relative to the machine's own load.
    pub(super) load: Vec<f64>,
}

impl Rotation {
    /// A shaft whose speed drifts by 0.2 % and whose load drifts by 5 %.
    pub(super) fn new(rpm: f64, rate_hz: f64, frames: usize, random: &mut Random) -> Self {
        let decay = libm::exp(-(DRIFT_STEP as f64) / (DRIFT_SECONDS * rate_hz));
        let kick = (1.0 - decay * decay).sqrt();
        let (mut speed, mut load) = (random.normal(), random.normal());
        let mut turn = random.unit();
        let mut rotation =
            Self { turns: Vec::with_capacity(frames), load: Vec::with_capacity(frames) };
        for frame in 0..frames {
            if frame % DRIFT_STEP == 0 {
                speed = decay * speed + kick * random.normal();
                load = decay * load + kick * random.normal();
            }
            rotation.turns.push(turn);
            rotation.load.push((1.0 + 0.05 * load).max(0.0));
            turn += rpm / 60.0 / rate_hz * (1.0 + 0.002 * speed);
        }
        rotation
    }
}

/// Forces on the structure, one field for each path they take, frame by frame.
pub(super) struct Forces {
    /// Impacts of a bearing defect. The class decides the path.
    pub(super) defect: Vec<f64>,
    /// Knocks on the housing.
    pub(super) housing: Vec<f64>,
    /// Rolling contact.
    pub(super) rolling: Vec<f64>,
}

impl Forces {
    pub(super) fn new(
        machine: &Machine,
        class: Class,
        rotation: &Rotation,
        random: &mut Random,
    ) -> Self {
        let frames = rotation.turns.len();
        let mut forces = Self {
            defect: vec![0.0; frames],
            housing: vec![0.0; frames],
            rolling: Vec::with_capacity(frames),
        };
        let orders = machine.bearing.orders();
        let severity = machine.severity;
        let slip = random.uniform(0.005, 0.02);
        match class {
            Class::Healthy | Class::Imbalance => {}
            Class::OuterRace => {
                let train = Train { order: orders.outer_race, jitter: slip };
                train.strike(rotation, random, &mut forces.defect, |turn, random| {
                    // The defect stays in the load zone. Residual imbalance presses on it once a
                    // turn.
                    let rotor = 1.0 + 0.15 * libm::cos(TAU * turn);
                    0.5 * severity * rotor * (1.0 + 0.1 * random.normal())
                });
            }
            Class::InnerRace => {
                let train = Train { order: orders.inner_race, jitter: slip };
                train.strike(rotation, random, &mut forces.defect, |turn, random| {
                    let zone = load_zone(machine.load, turn);
                    0.8 * severity * (0.15 + zone) * (1.0 + 0.1 * random.normal())
                });
            }
            Class::Ball => {
                let train = Train { order: 2.0 * orders.ball_spin, jitter: slip };
                let mut outer = false;
                train.strike(rotation, random, &mut forces.defect, |turn, random| {
                    // The ball strikes one race, then the other. The inner race passes less on.
                    outer = !outer;
                    let race = if outer { 1.0 } else { 0.7 };
                    let zone = load_zone(machine.load, orders.cage * turn);
                    0.7 * severity * race * (0.2 + zone) * (1.0 + 0.15 * random.normal())
                });
            }
            Class::Misalignment => {
                // The two jaws of the coupling each knock once a turn.
                let train = Train { order: 2.0, jitter: 0.02 };
                train.strike(rotation, random, &mut forces.housing, |_, random| {
                    0.35 * severity * (1.0 + 0.15 * random.normal())
                });
            }
            Class::Looseness => {
                // Loose parts knock now and then, harder or softer: rattle.
                let train = Train { order: 3.0, jitter: 0.2 };
                train.strike(rotation, random, &mut forces.housing, |_, random| {
                    let lifted = random.unit() < 0.6;
                    if lifted { 1.1 * severity * random.uniform(0.3, 1.0) } else { 0.0 }
                });
            }
        }
        // A swinging rotor loads the rolling contact once a turn. Misalignment presses on it.
        let (swing, press) = match class {
            Class::Imbalance => (0.35, 1.0),
            Class::Misalignment => (0.1, 1.25),
            _ => (0.05, 1.0),
        };
        for (&turn, &load) in rotation.turns.iter().zip(&rotation.load) {
            let swell = press * load * (1.0 + swing * libm::cos(TAU * turn));
            forces.rolling.push(machine.noise.rolling * swell * random.normal());
        }
        forces
    }
}

impl Paths {
    /// How strongly the impacts of the class's bearing defect drive the mode.
    pub(super) fn of_defect(&self, class: Class) -> f64 {
        match class {
            Class::OuterRace => self.outer_race,
            Class::InnerRace => self.inner_race,
            Class::Ball => self.ball,
            _ => 0.0,
        }
    }
}

/// A train of impacts that come roughly `order` times a turn.
struct Train {
    /// Impacts per turn of the shaft.
    order: f64,
    /// Standard deviation of the interval as a fraction of it. It models slip of the balls.
    jitter: f64,
}

impl Train {
    /// Adds the impacts to a force. `strength` gives the strength of an impact from its time in
    /// turns.
    fn strike(
        &self,
        rotation: &Rotation,
        random: &mut Random,
        force: &mut [f64],
        mut strength: impl FnMut(f64, &mut Random) -> f64,
    ) {
        let interval =
            |random: &mut Random| (1.0 + self.jitter * random.normal()).max(0.1) / self.order;
        let Some(&start) = rotation.turns.first() else {
            return;
        };
        let mut next = start + random.unit() / self.order;
        for frame in 1..rotation.turns.len() {
            let (before, now) = (rotation.turns[frame - 1], rotation.turns[frame]);
            while next <= now {
                let size = strength(next, random) * rotation.load[frame];
                // The impact falls between two frames. Both get a share, so that the train keeps
                // its true frequency.
                let share = (next - before) / (now - before);
                force[frame - 1] += (1.0 - share) * size;
                force[frame] += share * size;
                next += interval(random);
            }
        }
    }
}

/// Stribeck's load on a point of a race, `turns` turns away from the middle of the load zone.
fn load_zone(load: f64, turns: f64) -> f64 {
    let depth = 1.0 - (1.0 - libm::cos(TAU * turns)) / (2.0 * load);
    if depth > 0.0 { depth * depth.sqrt() } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_load_zone_is_full_in_the_middle_and_empty_on_the_far_side() {
        assert!((load_zone(0.5, 3.0) - 1.0).abs() < 1e-9);
        assert!(load_zone(0.5, 0.5).abs() < 1e-9);
        assert!(load_zone(0.3, 0.3).abs() < 1e-9);
        assert!(load_zone(0.5, 0.1) > load_zone(0.5, 0.2));
    }

    #[test]
    fn a_train_strikes_as_often_as_its_order_says() {
        let mut random = Random::new(3, 0);
        let rotation = Rotation::new(1500.0, 10_000.0, 100_000, &mut random);
        let mut force = vec![0.0; rotation.turns.len()];
        let train = Train { order: 3.5848, jitter: 0.02 };
        let mut strikes = 0;
        train.strike(&rotation, &mut random, &mut force, |_, _| {
            strikes += 1;
            1.0
        });
        let turns = rotation.turns.last().unwrap() - rotation.turns[0];
        assert!((turns - 250.0).abs() < 2.5, "{turns}");
        assert!((f64::from(strikes) - 3.5848 * turns).abs() < 4.0, "{strikes}");
        let total: f64 = force.iter().sum();
        assert!((total - f64::from(strikes)).abs() < 0.2 * f64::from(strikes));
    }
}

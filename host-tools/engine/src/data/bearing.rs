//! Rolling bearings: how often a defect on each part is struck, computed from the geometry.

/// The geometry of a rolling bearing with a fixed outer ring.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Bearing {
    /// Number of balls or rollers.
    pub balls: u32,
    /// Diameter of a ball, in the same unit as the pitch diameter.
    pub ball_diameter: f64,
    /// Diameter of the circle through the balls' centres.
    pub pitch_diameter: f64,
    /// Contact angle in radians; 0 for a deep-groove bearing under radial load.
    pub contact_angle: f64,
}

/// The characteristic frequencies of a bearing, in multiples of the shaft frequency (orders) or in
/// Hz.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Characteristic {
    /// Ball pass, outer race (BPFO): how often a point of the outer race is rolled over.
    pub outer_race: f64,
    /// Ball pass, inner race (BPFI): how often a point of the inner race is rolled over.
    pub inner_race: f64,
    /// Ball spin (BSF). A defect on a ball strikes both races, at twice this frequency.
    pub ball_spin: f64,
    /// Fundamental train (FTF): how often the cage turns.
    pub cage: f64,
}

impl Bearing {
    /// A 6205 deep-groove ball bearing, the drive-end bearing of many small motors.
    pub const DEEP_GROOVE_6205: Self =
        Self { balls: 9, ball_diameter: 7.94, pitch_diameter: 39.04, contact_angle: 0.0 };

    /// The characteristic frequencies in orders, that is, per turn of the shaft.
    pub fn orders(&self) -> Characteristic {
        let ratio = self.ball_diameter / self.pitch_diameter * libm::cos(self.contact_angle);
        let half = f64::from(self.balls) / 2.0;
        Characteristic {
            outer_race: half * (1.0 - ratio),
            inner_race: half * (1.0 + ratio),
            ball_spin: self.pitch_diameter / (2.0 * self.ball_diameter) * (1.0 - ratio * ratio),
            cage: (1.0 - ratio) / 2.0,
        }
    }

    /// The characteristic frequencies in Hz at the given shaft speed.
    pub fn frequencies_hz(&self, rpm: f64) -> Characteristic {
        let orders = self.orders();
        let shaft_hz = rpm / 60.0;
        Characteristic {
            outer_race: orders.outer_race * shaft_hz,
            inner_race: orders.inner_race * shaft_hz,
            ball_spin: orders.ball_spin * shaft_hz,
            cage: orders.cage * shaft_hz,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The Case Western Reserve University bearing data centre publishes 5.4152, 3.5848, 0.39828
    /// and 4.7135 for its 6205-2RS drive-end bearing. The last is for a ball defect: twice the
    /// spin.
    #[test]
    fn the_6205_has_its_published_orders() {
        let orders = Bearing::DEEP_GROOVE_6205.orders();
        assert!((orders.inner_race - 5.4152).abs() < 5e-4);
        assert!((orders.outer_race - 3.5848).abs() < 5e-4);
        assert!((orders.cage - 0.39828).abs() < 5e-4);
        assert!((2.0 * orders.ball_spin - 4.7135).abs() < 5e-3);
    }

    /// For its 6203-2RS fan-end bearing it publishes 4.9469, 3.0530, 0.3817 and 3.9874: 8 balls of
    /// 0.2656 inch on a pitch of 1.122 inch.
    #[test]
    fn the_6203_has_its_published_orders() {
        let bearing =
            Bearing { balls: 8, ball_diameter: 0.2656, pitch_diameter: 1.122, contact_angle: 0.0 };
        let orders = bearing.orders();
        assert!((orders.inner_race - 4.9469).abs() < 5e-4);
        assert!((orders.outer_race - 3.0530).abs() < 5e-4);
        assert!((orders.cage - 0.3817).abs() < 5e-4);
        assert!((2.0 * orders.ball_spin - 3.9874).abs() < 5e-3);
    }

    #[test]
    fn the_races_share_the_balls_between_them() {
        let bearing = Bearing { contact_angle: 0.4, ..Bearing::DEEP_GROOVE_6205 };
        let orders = bearing.orders();
        assert!((orders.outer_race + orders.inner_race - 9.0).abs() < 1e-12);
        assert!((orders.outer_race - 9.0 * orders.cage).abs() < 1e-12);
        let hz = bearing.frequencies_hz(1800.0);
        assert!((hz.outer_race - 30.0 * orders.outer_race).abs() < 1e-12);
    }
}

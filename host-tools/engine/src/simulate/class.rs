//! The conditions that can be simulated, and their labels.

use std::fmt;
use std::str::FromStr;

use serde::Serialize;

/// A condition of a machine.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub enum Class {
    /// Nothing is wrong.
    Healthy,
    /// A spalled inner race: impacts that grow each time the defect turns through the load zone.
    InnerRace,
    /// A spalled outer race: impacts in the load zone, all about equally strong.
    OuterRace,
    /// A spalled ball: impacts on both races that grow and fade once per turn of the cage.
    Ball,
    /// The rotor's centre of mass is off its axis: a strong first order.
    Imbalance,
    /// The coupled shafts are not in line: second and third orders, and knocks of the coupling.
    Misalignment,
    /// A loose foot or bearing seat: many orders and half orders, and rattle.
    Looseness,
}

impl Class {
    /// All classes, in the order used in manifests.
    pub const ALL: [Self; 7] = [
        Self::Healthy,
        Self::InnerRace,
        Self::OuterRace,
        Self::Ball,
        Self::Imbalance,
        Self::Misalignment,
        Self::Looseness,
    ];

    /// The label in manifests and file names.
    pub const fn label(self) -> &'static str {
        match self {
            Self::Healthy => "Healthy",
            Self::InnerRace => "InnerRace",
            Self::OuterRace => "OuterRace",
            Self::Ball => "Ball",
            Self::Imbalance => "Imbalance",
            Self::Misalignment => "Misalignment",
            Self::Looseness => "Looseness",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.label())
    }
}

/// The error for a label that names no class.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "no class {0:?}; choose of Healthy, InnerRace, OuterRace, Ball, Imbalance, Misalignment, Looseness"
)]
pub struct UnknownClass(pub String);

impl FromStr for Class {
    type Err = UnknownClass;

    fn from_str(label: &str) -> Result<Self, UnknownClass> {
        Self::ALL
            .into_iter()
            .find(|class| class.label().eq_ignore_ascii_case(label))
            .ok_or_else(|| UnknownClass(label.into()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_parse_back_and_others_are_refused_with_the_list() {
        for class in Class::ALL {
            assert_eq!(class.label().parse(), Ok(class));
        }
        assert_eq!("innerrace".parse(), Ok(Class::InnerRace));
        let message = "Gear".parse::<Class>().unwrap_err().to_string();
        for class in Class::ALL {
            assert!(message.contains(class.label()), "{message}");
        }
    }
}

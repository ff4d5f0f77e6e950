//! The kind of a model, as far as its file shows.

use rebearing::model::Integers;

use crate::adapt::nothing::is_unreachable;
use crate::device::Shown;
use crate::model::deployed::DeployedModel;

/// The kind of a model.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// The target's own mixture, with labels carried over.
    Adapted,
    /// A gate of the target's healthy windows, with or without fault types behind it.
    Gate {
        /// Whether there are fault types.
        types: bool,
    },
    /// Every window is unknown.
    Nothing,
    /// The source's classes. Older model files may have them; no verdict leads to them today.
    Source,
}

impl Kind {
    pub(super) fn of(model: &DeployedModel) -> Self {
        let (gate, components, moved, min) = match model {
            DeployedModel::F32(bytes) => {
                let model = bytes.model();
                (
                    model.gate().map(|gate| gate.components),
                    model.components().len(),
                    model.shift().iter().any(|shift| *shift != 0.0),
                    model.log_likelihood_min(),
                )
            }
            DeployedModel::I16(bytes) => {
                let model = bytes.model();
                (
                    model.gate().map(|gate| gate.part.len()),
                    model.component_count(),
                    model.scaling().shift.iter().any(|shift| *shift != 0),
                    Integers::shown_nats(model.log_likelihood_min()),
                )
            }
        };
        match gate {
            Some(gate) => Self::Gate { types: components > gate },
            None if is_unreachable(f64::from(min)) => Self::Nothing,
            // The source's classes are in nats, which are not shifted. The target's own mixture is
            // shifted.
            None if moved => Self::Adapted,
            None => Self::Source,
        }
    }
}

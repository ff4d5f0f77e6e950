//! The only writer of the model file, and the buffer that the reader wants it in.

use std::path::Path;

use rebearing::model::format;
use rebearing::{Model, ModelError};
use thiserror::Error;
use zerocopy::IntoBytes;

use crate::features::front_end::FrontEndSettings;
use crate::mixture::{Covariance, LabelledMixture, Mixture};
pub use crate::model::bytes::seal;
use crate::model::bytes::{aligned, appended, put_floats, put_texts, put_words, section, start};
use crate::model::early_drop::float::Leading;
use crate::model::sections::Section;

/// Everything that goes into a model file, in full precision.
#[derive(Debug, Clone)]
pub struct ModelContents<'a> {
    /// How samples become features.
    pub front_end: &'a FrontEndSettings,
    /// Subtracted from each feature.
    pub shift: &'a [f32],
    /// Multiplied with each feature after the shift.
    pub scale: &'a [f32],
    /// Diagonal mixture over the standardised features, with its label table: of all classes,
    /// or behind a gate of the fault types. `None` behind a gate abstains on the type.
    pub mixture: Option<&'a LabelledMixture>,
    /// What says healthy or not, before the mixture is asked.
    pub gate: Option<GateContents<'a>>,
    /// Class names, in the order of the label table's columns.
    pub class_names: &'a [String],
    /// The class that stands for a healthy machine.
    pub healthy: Option<usize>,
    /// Windows with a lower log-likelihood under `mixture` are unknown, or behind a gate
    /// faults of unknown type; `None` calls none so.
    pub log_likelihood_min: Option<f64>,
    /// Name of the source domain.
    pub source: &'a str,
    /// Name of the target domain.
    pub target: &'a str,
    /// SHA-256 over everything the model was fitted from.
    pub hash: [u8; format::HASH_LEN],
}

/// The gate of a model.
#[derive(Debug, Clone)]
pub struct GateContents<'a> {
    /// Diagonal mixture of the healthy machine, over the standardised features.
    pub mixture: &'a Mixture,
    /// Windows with at least this log-likelihood are healthy.
    pub log_likelihood_min: f64,
    /// Whether the model's mixture is over the direction √d·z/‖z‖ of the standardised
    /// features z instead of z.
    pub direction: bool,
}

/// Why a model could not be written or read.
#[derive(Debug, Error)]
pub enum ModelFileError {
    /// Only diagonal mixtures run on the device.
    #[error(
        "only a mixture with diagonal covariance runs on the device; fit with diagonal covariance"
    )]
    NotDiagonal,
    /// A gate says healthy, so there must be a class for that.
    #[error(
        "a model with a gate needs to know which class is the healthy one; name it with `healthy` LABEL"
    )]
    NoHealthy,
    /// The contents would be refused by the device.
    #[error("the device would refuse this model: {0}")]
    Refused(#[from] ModelError),
    /// The file could not be read.
    #[error("cannot read the model {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// What the system said.
        reason: std::io::Error,
    },
    /// The file is not a valid model.
    #[error("{path}: {reason}")]
    Invalid {
        /// The file.
        path: String,
        /// Why the device's reader refuses it.
        reason: ModelError,
    },
}

/// The bytes of a valid model file, aligned as the device's reader wants them.
#[derive(Debug, Clone)]
pub struct ModelBytes {
    words: Vec<u32>,
}

impl ModelBytes {
    /// Reads and checks a model file.
    pub fn read(path: &Path) -> Result<Self, ModelFileError> {
        let name = || path.display().to_string();
        let bytes = std::fs::read(path)
            .map_err(|reason| ModelFileError::Unreadable { path: name(), reason })?;
        Self::from_bytes(&bytes).map_err(|reason| ModelFileError::Invalid { path: name(), reason })
    }

    /// Copies `bytes` to an aligned buffer and checks them.
    pub fn from_bytes(bytes: &[u8]) -> Result<Self, ModelError> {
        let words = aligned(bytes);
        // The reader sees the exact length, so an odd one is refused as cut short.
        Model::parse(words.as_bytes().get(..bytes.len()).unwrap_or(&[]))?;
        Ok(Self { words })
    }

    /// The same model with `sections` behind its own.
    pub fn with_sections(&self, sections: &[Section]) -> Result<Self, ModelError> {
        Self::from_bytes(&appended(self.bytes(), sections))
    }

    /// The bytes.
    pub fn bytes(&self) -> &[u8] {
        self.words.as_bytes()
    }

    /// The checked view of the bytes.
    ///
    /// # Panics
    /// Never: the bytes were checked when they came in and cannot change.
    pub fn model(&self) -> Model<'_> {
        Model::parse(self.bytes()).expect("checked when the buffer was made")
    }
}

/// Writes a model file's bytes; the device's own reader has accepted what is returned.
///
/// ```
/// use ndarray::array;
/// use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
/// use rebearing_host::mixture::{Covariance, LabelledMixture, Mixture};
/// use rebearing_host::model::file::{ModelContents, encode};
///
/// let mixture = LabelledMixture {
///     mixture: Mixture {
///         weights: array![0.5, 0.5],
///         means: array![[1.0, -1.0], [-1.0, 1.0]],
///         covariance: Covariance::Diagonal(array![[0.1, 0.1], [0.1, 0.1]]),
///     },
///     labels: array![[1.0, 0.0], [0.0, 1.0]],
/// };
/// let model = encode(&ModelContents {
///     front_end: &FrontEndSettings::equal_bands(EqualBands {
///         rate_hz: 8_000.0,
///         axes: 1,
///         fft_len: 256,
///         hop: 128,
///         segments: 2,
///         bands: 2,
///     })?,
///     shift: &[0.0, 0.0],
///     scale: &[1.0, 1.0],
///     mixture: Some(&mixture),
///     gate: None,
///     class_names: &["Healthy".into(), "Ball".into()],
///     healthy: Some(0),
///     log_likelihood_min: None,
///     source: "motor-a",
///     target: "motor-a",
///     hash: [0; 32],
/// })?;
/// assert_eq!(model.model().class_name(1), Some("Ball"));
/// println!("{} bytes of flash", model.bytes().len());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn encode(contents: &ModelContents<'_>) -> Result<ModelBytes, ModelFileError> {
    let gate = contents.gate.as_ref();
    if gate.is_some() && contents.healthy.is_none() {
        return Err(ModelFileError::NoHealthy);
    }
    // The gate's components come first.
    let parts = gate.map(|gate| gate.mixture).into_iter();
    let mut components = Vec::new();
    for part in parts.chain(contents.mixture.map(|labelled| &labelled.mixture)) {
        components.extend(whitened(part)?);
    }
    let front_end = contents.front_end;
    let mut file = start();
    section(&mut file, format::COUNTS, |out| {
        let healthy = contents.healthy.map_or(format::NO_CLASS, |class| class as u32);
        let counts =
            [front_end.axes, front_end.bands(), components.len(), contents.class_names.len()];
        put_words(out, counts.map(|count| count as u32));
        put_words(out, [healthy]);
    });
    section(&mut file, format::FRONT_END, |out| {
        put_floats(out, [front_end.rate_hz]);
        let shape = [front_end.fft_len, front_end.hop, front_end.segments];
        put_words(out, shape.map(|count| count as u32));
        put_words(out, front_end.band_edges.iter().copied());
    });
    if let Some(orders) = &front_end.orders {
        section(&mut file, format::ORDERS, |out| {
            let blocks = [
                (orders.spectrum, format::ORDERS_SPECTRUM),
                (orders.envelope, format::ORDERS_ENVELOPE),
            ];
            let flags = blocks.iter().filter(|(has, _)| *has).map(|(_, flag)| flag).sum();
            put_words(out, [flags, orders.bands as u32]);
            put_floats(out, [orders.first, orders.width].map(f64::from));
        });
    }
    let leading = contents.mixture.and_then(|labelled| Leading::choose(&labelled.mixture));
    // The smallest models are evaluated in full.
    let leading = leading.filter(Leading::pays);
    if let Some(leading) = &leading {
        for component in &mut components {
            component.scale = leading.order.iter().map(|i| component.scale[*i]).collect();
            component.offset = leading.order.iter().map(|i| component.offset[*i]).collect();
        }
    }
    section(&mut file, format::SCALING, |out| {
        put_floats(out, contents.shift.iter().map(|x| f64::from(*x)));
        put_floats(out, contents.scale.iter().map(|x| f64::from(*x)));
    });
    section(&mut file, format::MIXTURE, |out| {
        put_floats(out, components.iter().map(|component| component.constant));
        for component in &components {
            put_floats(out, component.scale.iter().copied());
            put_floats(out, component.offset.iter().copied());
        }
    });
    section(&mut file, format::LABELS, |out| {
        for _ in 0..gate.map_or(0, |gate| gate.mixture.weights.len()) {
            let is_healthy = |class| f64::from(u8::from(contents.healthy == Some(class)));
            put_floats(out, (0..contents.class_names.len()).map(is_healthy));
        }
        put_floats(out, contents.mixture.iter().flat_map(|labelled| &labelled.labels).copied());
    });
    section(&mut file, format::NAMES, |out| put_texts(out, contents.class_names));
    section(&mut file, format::THRESHOLDS, |out| {
        put_floats(out, [contents.log_likelihood_min.unwrap_or(f64::from(f32::MIN))]);
    });
    if let Some(gate) = gate {
        section(&mut file, format::GATE, |out| {
            put_words(out, [gate.mixture.weights.len() as u32]);
            put_floats(out, [gate.log_likelihood_min]);
            put_words(out, [if gate.direction { format::GATE_DIRECTION } else { 0 }]);
        });
    }
    if let Some(leading) = &leading {
        section(&mut file, format::LEAD, |out| {
            put_words(out, [leading.lead as u32]);
            put_words(out, leading.order.iter().map(|feature| *feature as u32));
        });
    }
    section(&mut file, format::PROVENANCE, |out| {
        out.extend(contents.hash);
        let tool = concat!("rebearing ", env!("CARGO_PKG_VERSION"));
        put_texts(out, &[tool, contents.source, contents.target]);
    });
    seal(&mut file);
    Ok(ModelBytes::from_bytes(&file)?)
}

/// A component as the device evaluates it.
struct Whitened {
    constant: f64,
    scale: Vec<f64>,
    offset: Vec<f64>,
}

fn whitened(mixture: &Mixture) -> Result<Vec<Whitened>, ModelFileError> {
    let Covariance::Diagonal(variances) = &mixture.covariance else {
        return Err(ModelFileError::NotDiagonal);
    };
    let half_ln_tau = 0.5 * std::f64::consts::TAU.ln();
    let components = mixture.weights.iter().zip(mixture.means.rows()).zip(variances.rows());
    Ok(components
        .map(|((weight, mean), variances)| {
            let ln_volume = variances.iter().map(|v| half_ln_tau + 0.5 * v.ln()).sum::<f64>();
            Whitened {
                // A component without weight has no density; the smallest constant that the
                // device accepts stands for ln 0.
                constant: (weight.ln() - ln_volume).max(f64::from(-format::MAX_OFFSET)),
                scale: variances.iter().map(|v| v.sqrt().recip()).collect(),
                offset: mean.iter().zip(variances).map(|(m, v)| -m / v.sqrt()).collect(),
            }
        })
        .collect())
}

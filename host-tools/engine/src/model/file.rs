//! The writer of f32 model files.

use rebearing::ModelError;
use rebearing::model::{Section, format};
use thiserror::Error;

use crate::features::front_end::{FrontEndSettings, OrderSettings};
use crate::mixture::{Covariance, LabelledMixture, Mixture};
pub use crate::model::bytes::seal;
use crate::model::bytes::{file, put_floats, put_words};
use crate::model::early_drop::float::EarlyDrop;
use crate::model::encoded::ModelBytes;
use crate::model::on_disk::EnvelopeError;
use crate::model::shared::{Shared, gate_flags};

/// Everything that goes into a model file, in full precision.
#[derive(Debug, Clone)]
pub struct ModelContents<'a> {
    /// How samples become features.
    pub front_end: &'a FrontEndSettings,
    /// Subtracted from each feature.
    pub shift: &'a [f32],
    /// Multiplied with each feature after the shift.
    pub scale: &'a [f32],
    /// Diagonal mixture over the standardised features, with its label table. Without a gate it has
    /// all classes, with a gate only the fault types. `None` with a gate abstains on the type.
    pub mixture: Option<&'a LabelledMixture>,
    /// The gate, which separates healthy from faulty before the mixture is evaluated.
    pub gate: Option<GateContents<'a>>,
    /// Class names, in the order of the label table's columns.
    pub class_names: &'a [String],
    /// The class of a healthy machine.
    pub healthy: Option<usize>,
    /// Windows with a lower log-likelihood under `mixture` are unknown. With a gate they are faults
    /// of unknown type. `None` sets no threshold.
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
    /// A gate calls windows healthy, so the model needs a healthy class.
    #[error(
        "a model with a gate needs to know which class is the healthy one; name it with `healthy` LABEL"
    )]
    NoHealthy,
    /// The device would refuse the contents.
    #[error("the device would refuse this model: {0}")]
    Refused(#[from] ModelError),
    /// The file could not be read.
    #[error("cannot read the model {path}: {reason}")]
    Unreadable {
        /// The file.
        path: String,
        /// The reason that the system gave.
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
    /// The model is valid, but not the envelope behind it.
    #[error("{path}: {reason}")]
    Envelope {
        /// The file.
        path: String,
        /// The fault of the envelope.
        reason: EnvelopeError,
    },
    /// A name in the file breaks its line. It could forge a line of a message.
    #[error("{path}: the name {name:?} in it has a line break; make the model again")]
    LineBreak {
        /// The file.
        path: String,
        /// The name.
        name: String,
    },
}

/// Returns the bytes of a model file, which the device's own reader has accepted.
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
    let early_drop = contents.mixture.and_then(|labelled| EarlyDrop::choose(&labelled.mixture));
    // The smallest models have no early drop.
    let early_drop = early_drop.filter(EarlyDrop::pays);
    if let Some(EarlyDrop { order, .. }) = &early_drop {
        for component in &mut components {
            component.scale = order.iter().map(|i| component.scale[*i]).collect();
            component.offset = order.iter().map(|i| component.offset[*i]).collect();
        }
    }
    let shared = Shared {
        rate_hz: front_end.rate_hz,
        axes: front_end.axes,
        fft_len: front_end.fft_len,
        hop: front_end.hop,
        segments: front_end.segments,
        band_edges: &front_end.band_edges,
        components: components.len(),
        class_names: contents.class_names.iter().map(String::as_str).collect(),
        healthy: contents.healthy,
        tool: concat!("rebearing ", env!("CARGO_PKG_VERSION")),
        source: contents.source,
        target: contents.target,
        hash: &contents.hash,
    };
    let bytes = file(|section| {
        let mut out = Vec::new();
        match section {
            Section::Orders => put_orders(&mut out, front_end.orders.as_ref()?),
            Section::Scaling => {
                let scaling = contents.shift.iter().chain(contents.scale);
                put_floats(&mut out, scaling.map(|x| f64::from(*x)));
            }
            Section::Mixture => {
                put_floats(&mut out, components.iter().map(|component| component.constant));
                for component in &components {
                    put_floats(&mut out, component.scale.iter().chain(&component.offset).copied());
                }
            }
            Section::Labels => {
                for _ in 0..gate.map_or(0, |gate| gate.mixture.weights.len()) {
                    let is_healthy = |class| f64::from(u8::from(contents.healthy == Some(class)));
                    put_floats(&mut out, (0..contents.class_names.len()).map(is_healthy));
                }
                let labels = contents.mixture.iter().flat_map(|labelled| &labelled.labels);
                put_floats(&mut out, labels.copied());
            }
            Section::Thresholds => {
                put_floats(&mut out, [contents.log_likelihood_min.unwrap_or(f64::from(f32::MIN))]);
            }
            Section::Gate => {
                let gate = gate?;
                put_words(&mut out, [gate.mixture.weights.len() as u32]);
                put_floats(&mut out, [gate.log_likelihood_min]);
                put_words(&mut out, [gate_flags(gate.direction)]);
            }
            Section::EarlyDrop => {
                let EarlyDrop { features, order, .. } = early_drop.as_ref()?;
                put_words(&mut out, [*features as u32]);
                put_words(&mut out, order.iter().map(|feature| *feature as u32));
            }
            section => return shared.payload(section),
        }
        Some(out)
    });
    Ok(ModelBytes::from_bytes(&bytes)?)
}

fn put_orders(out: &mut Vec<u8>, orders: &OrderSettings) {
    let blocks =
        [(orders.spectrum, format::ORDERS_SPECTRUM), (orders.envelope, format::ORDERS_ENVELOPE)];
    let flags = blocks.iter().filter(|(has, _)| *has).map(|(_, flag)| flag).sum();
    put_words(out, [flags, orders.bands as u32]);
    put_floats(out, [orders.first, orders.width].map(f64::from));
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
                // A component without weight has no density. Its constant is the smallest that the
                // device accepts, in place of ln 0.
                constant: (weight.ln() - ln_volume).max(f64::from(-format::MAX_OFFSET)),
                scale: variances.iter().map(|v| v.sqrt().recip()).collect(),
                offset: mean.iter().zip(variances).map(|(m, v)| -m / v.sqrt()).collect(),
            }
        })
        .collect())
}

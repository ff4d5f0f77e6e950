//! The model file: checked once, then a view of its bytes where they lie in flash.
//!
//! [`Model::parse`] checks everything that evaluation relies on: length, version, CRC-32,
//! sizes, ranges. After it nothing can fail, and nothing is copied. The bytes are specified
//! in `docs/model-format.md`.

pub(crate) mod decision;
mod drift;
mod error;
pub mod format;
mod optional;
pub(crate) mod parse;
mod parse_integer;
pub(crate) mod severity;
mod unit;

pub use drift::{ClassReference, DriftReference};
pub use error::{Encoding, ModelError};
pub use unit::SampleUnit;

use crate::decision::Parameters;
use crate::mixture::Mixture;
use crate::orders::{Orders, ShaftSpeedError};
use crate::severity::SeverityParameters;

/// A checked model file, borrowed from where it lies.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{Model, include_model};
///
/// let bytes = include_model!(path!());
/// let model = Model::parse(bytes)?;
/// assert_eq!((model.dims(), model.classes()), (4, 3));
/// assert_eq!(model.class_name(model.healthy().unwrap()), Some("Healthy"));
///
/// // What is cut short or damaged is refused, with the reason.
/// println!("{}", Model::parse(&bytes[..bytes.len() - 4]).unwrap_err());
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Model<'a> {
    bytes: &'a [u8],
    front_end: FrontEnd<'a>,
    shift: &'a [f32],
    scale: &'a [f32],
    constants: &'a [f32],
    /// Per component: `dims` scales, then `dims` offsets.
    whitening: &'a [f32],
    labels: &'a [f32],
    names: Texts<'a>,
    provenance: Texts<'a>,
    hash: &'a [u8; format::HASH_LEN],
    healthy: u32,
    log_likelihood_min: f32,
    gate: Option<Gate>,
    lead: Option<Lead<'a>>,
    decision: Option<&'a decision::DecisionWords>,
    severity: Option<&'a severity::SeverityNumbers>,
}

/// How samples become features.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct FrontEnd<'a> {
    /// Sample rate in Hz.
    pub rate_hz: f32,
    /// Axes of a sample.
    pub axes: usize,
    /// Points of the FFT.
    pub fft_len: usize,
    /// Samples from one segment to the next.
    pub hop: usize,
    /// Segments averaged in a decision window.
    pub segments: usize,
    /// Bin edges of the bands: band b holds bins `band_edges[b]..band_edges[b + 1]`.
    pub band_edges: &'a [u32],
    /// Bands of shaft orders beside them; these need a shaft speed.
    pub orders: Option<Orders>,
}

impl FrontEnd<'_> {
    /// Bands in Hz per axis.
    pub fn bands(&self) -> usize {
        self.band_edges.len().saturating_sub(1)
    }

    /// Features per axis, of all blocks.
    pub fn axis_features(&self) -> usize {
        self.bands() + self.orders.map_or(0, |orders| orders.features())
    }

    /// Features in all.
    pub fn dims(&self) -> usize {
        self.axis_features() * self.axes
    }

    /// Whether a shaft turning `hz` times a second is one that these features can be made
    /// for; without orders every speed is.
    pub fn check_shaft_speed(&self, hz: f32) -> Result<(), ShaftSpeedError> {
        if !(hz.is_finite() && hz > 0.0) {
            return Err(ShaftSpeedError::NotPositive);
        }
        match self.orders {
            Some(orders) if orders.top() * hz > 0.5 * self.rate_hz => {
                Err(ShaftSpeedError::TooHigh { most_hz: 0.5 * self.rate_hz / orders.top() })
            }
            _ => Ok(()),
        }
    }

    /// Samples that one decision window spans.
    pub fn window_len(&self) -> usize {
        self.fft_len + self.hop * self.segments.saturating_sub(1)
    }
}

/// The part of a model that says healthy or not, before any fault type is asked for.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Gate {
    /// The model's first components, which are the mixture of the healthy machine.
    pub components: usize,
    /// A decision window with at least this log-likelihood under them is healthy.
    pub log_likelihood_min: f32,
    /// Whether the other components take the direction √d·z/‖z‖ of the standardised
    /// features z instead of z itself.
    pub direction: bool,
}

/// The order of the features in a model that drops components early.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Lead<'a> {
    /// Features that all components but the gate's are scored on before any is dropped.
    pub features: usize,
    /// For each place in the model's order the feature that stands there.
    pub order: &'a [u32],
}

/// One diagonal Gaussian of the mixture, whitened.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Component<'a> {
    /// ln weight − ½·dims·ln 2π − Σ ln σ.
    pub constant: f32,
    /// 1/σ per feature, in the order of [`Model::lead`] if the model has one.
    pub scale: &'a [f32],
    /// −μ/σ per feature.
    pub offset: &'a [f32],
}

/// What a model was made by and from.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Provenance<'a> {
    /// Tool and version that wrote the file.
    pub tool: &'a str,
    /// Name of the source domain.
    pub source: &'a str,
    /// Name of the target domain.
    pub target: &'a str,
    /// SHA-256 over everything the model was fitted from.
    pub hash: &'a [u8; format::HASH_LEN],
}

/// Several texts behind one another, with the byte where each ends.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub(crate) struct Texts<'a> {
    pub(crate) ends: &'a [u32],
    text: &'a str,
}

impl<'a> Texts<'a> {
    pub(crate) fn get(&self, index: usize) -> Option<&'a str> {
        let end = *self.ends.get(index)? as usize;
        let start = match index.checked_sub(1) {
            Some(before) => *self.ends.get(before)? as usize,
            None => 0,
        };
        self.text.get(start..end)
    }
}

impl<'a> Model<'a> {
    /// Checks a model file that fills `bytes` exactly.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ModelError> {
        parse::parse(bytes)
    }

    /// Checks the model file at the start of a flash region that may be larger than it.
    pub fn from_region(region: &'a [u8]) -> Result<Self, ModelError> {
        Self::parse(parse::file_of(region)?)
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// How samples become features.
    pub fn front_end(&self) -> &FrontEnd<'a> {
        &self.front_end
    }

    /// Features per decision window.
    pub fn dims(&self) -> usize {
        self.shift.len()
    }

    /// Subtracted from each feature.
    pub fn shift(&self) -> &'a [f32] {
        self.shift
    }

    /// Multiplied with each feature after the shift.
    pub fn scale(&self) -> &'a [f32] {
        self.scale
    }

    /// The gate, if the model has one.
    pub fn gate(&self) -> Option<Gate> {
        self.gate
    }

    /// How components are dropped early, if the model says so; the components then have their
    /// features in its order.
    pub fn lead(&self) -> Option<Lead<'a>> {
        self.lead
    }

    /// Components in file order: those of the gate, then those that tell classes apart.
    pub fn components(&self) -> impl ExactSizeIterator<Item = Component<'a>> + use<'a> {
        let dims = self.shift.len();
        self.constants.iter().zip(self.whitening.chunks_exact((2 * dims).max(1))).map(
            move |(constant, whitening)| {
                let (scale, offset) = whitening.split_at_checked(dims).unwrap_or((&[], &[]));
                Component { constant: *constant, scale, offset }
            },
        )
    }

    /// All components as one mixture, in file order.
    pub fn mixture(&self) -> Mixture<'a> {
        Mixture::new(self.constants, self.whitening, self.shift.len())
    }

    /// Label table: a row of class probabilities per component.
    pub fn labels(&self) -> &'a [f32] {
        self.labels
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.names.ends.len()
    }

    /// Name of a class, `None` past the last.
    pub fn class_name(&self, class: usize) -> Option<&'a str> {
        self.names.get(class)
    }

    /// The class that stands for a healthy machine, if the model names one.
    pub fn healthy(&self) -> Option<usize> {
        (self.healthy != format::NO_CLASS).then_some(self.healthy as usize)
    }

    /// A decision window with a log-likelihood below this, under the components that are not
    /// the gate's, is [`Label::UnknownFault`](crate::Label) behind a gate and
    /// [`Label::Unknown`](crate::Label) without one.
    pub fn log_likelihood_min(&self) -> f32 {
        self.log_likelihood_min
    }

    /// What a decision over time goes by; the defaults where the model says nothing.
    pub fn decision(&self) -> Parameters {
        decision::parameters(self.decision)
    }

    /// How severity is measured, if the model says so.
    pub fn severity(&self) -> Option<SeverityParameters> {
        self.severity.map(severity::parameters)
    }

    /// What the model was made by and from.
    pub fn provenance(&self) -> Provenance<'a> {
        let text = |index| self.provenance.get(index).unwrap_or("");
        Provenance { tool: text(0), source: text(1), target: text(2), hash: self.hash }
    }
}

impl Encoding {
    /// The encoding of a model file that fills `bytes` exactly; only its sections are looked at,
    /// [`Model::parse`] or [`IntegerModel::parse`](crate::integer::IntegerModel::parse) check
    /// what is in them.
    pub fn of(bytes: &[u8]) -> Result<Self, ModelError> {
        let integer = parse::sections(bytes)?.integer;
        Ok(if integer.is_some() { Self::I16 } else { Self::F32 })
    }
}

/// Bytes on a 4-byte boundary, as the reader wants them.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(C, align(4))]
pub struct Aligned<T: ?Sized>(pub T);

/// Includes a model file in a firmware or test, aligned as [`Model::parse`] wants it.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// static MODEL: &[u8] = rebearing::include_model!(path!());
/// let model = rebearing::Model::parse(MODEL)?;
/// assert_eq!(model.class_name(0), Some("Healthy"));
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[macro_export]
macro_rules! include_model {
    ($path:expr $(,)?) => {{
        static MODEL: &$crate::model::Aligned<[u8]> =
            &$crate::model::Aligned(*include_bytes!($path));
        &MODEL.0
    }};
}

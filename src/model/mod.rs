//! The model file: checked once, then a view of its bytes where they lie in flash.
//!
//! [`Model::parse`] checks everything that evaluation relies on: length, version, CRC-32, sizes,
//! ranges. After that nothing can fail, and nothing is copied. `docs/model-format.md` specifies
//! the bytes. [`Section`] lists the sections.
//!
//! One type serves both encodings, [`AnyModel`]. [`Model`] and [`IntegerModel`] are its two forms.

mod alarm;
mod decimal;
mod drift;
mod error;
mod float;
#[doc(hidden)]
pub mod format;
mod integer;
mod numbers;
mod raw;
mod read;
mod read_alarm;
mod read_float;
mod read_integer;
mod read_severity;
mod scrub;
mod sections;
mod unit;
mod verdict;

pub use alarm::{AlarmParameters, IdleRms, ONE, Rms, probability};
#[doc(hidden)]
pub use decimal::{Decimal, Places};
pub use drift::{ClassReference, DriftReference};
pub use error::{Encoding, ModelError};
pub use float::FloatBody;
pub use integer::IntegerBody;
pub use numbers::{Floats, Integers, Number, Numbers};
pub use raw::{DECIBELS_OFFSET, FRACTION_BITS};
pub use scrub::Scrub;
pub use sections::{Presence, Section};
pub(crate) use sections::{split_file, stored_crc};
pub use unit::SampleUnit;
pub use verdict::{AccuracyCurve, ModelVerdict, Verdict};

use crate::signal::{FrontEnd, Orders};
use read::{Counts, Texts};
use read_alarm::AlarmWords;
use sections::Sections;

/// A checked model file of either encoding, borrowed from where it lies.
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
/// // A file that is cut short or damaged is refused, with the reason.
/// println!("{}", Model::parse(&bytes[..bytes.len() - 4]).unwrap_err());
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct AnyModel<'a, B> {
    bytes: &'a [u8],
    front_end: FrontEnd<'a>,
    names: Texts<'a>,
    provenance: Texts<'a>,
    hash: &'a [u8; format::HASH_LEN],
    healthy: u32,
    alarm: Option<&'a AlarmWords>,
    body: B,
}

/// A checked model file in f32 encoding, which [`Monitor`](crate::Monitor) runs.
pub type Model<'a> = AnyModel<'a, FloatBody<'a>>;

/// A checked model file in i16 encoding, which [`IntegerMonitor`](crate::IntegerMonitor) runs.
pub type IntegerModel<'a> = AnyModel<'a, IntegerBody<'a>>;

/// The part of a model that depends on its encoding.
///
/// This crate implements it for [`FloatBody`] and [`IntegerBody`], and nobody else can.
pub trait Body<'a>: Number + sealed::Read<'a> {
    /// How findings of this model write their numbers.
    type Numbers: Numbers;

    /// Number of components, the gate's included.
    fn components(&self) -> usize;

    /// Whether the model measures severity.
    fn has_severity(&self) -> bool;

    /// Counts that one unit of the recordings makes; `None` for a model in floats.
    fn counts_per_unit(&self) -> Option<f32>;

    /// Threshold of the gate; `None` without one.
    fn gate_log_likelihood_min(&self) -> Option<LogLikelihood<'a, Self>>;

    /// Threshold of the other components.
    fn log_likelihood_min(&self) -> LogLikelihood<'a, Self>;

    /// Undoes the standardisation: for the feature `z` at a place of the model's order, its place
    /// in the front end's order and its value in nats with 10 fraction bits.
    fn raw_feature(&self, place: usize, z: Feature<'a, Self>) -> (usize, i16);

    /// Mean square of the band of a feature: decibels of the square of the sample's unit plus
    /// [`DECIBELS_OFFSET`], cut to a byte.
    fn decibels(
        &self,
        feature: usize,
        features: &[Feature<'a, Self>],
        statistics: &<Self::Numbers as Numbers>::Statistics,
    ) -> u8;
}

type Feature<'a, B> = <<B as Body<'a>>::Numbers as Numbers>::Feature;
type LogLikelihood<'a, B> = <<B as Body<'a>>::Numbers as Numbers>::LogLikelihood;

mod sealed {
    use super::{Counts, FrontEnd, ModelError, Orders, Sections};

    /// Reads the sections of one encoding.
    pub trait Read<'a>: Sized {
        /// Order features of the front end.
        fn orders(
            _sections: &Sections<'a>,
            _counts: &Counts,
        ) -> Result<Option<Orders>, ModelError> {
            Ok(None)
        }

        /// Reads and checks the body.
        fn read(
            sections: &Sections<'a>,
            counts: &Counts,
            front_end: &FrontEnd<'a>,
        ) -> Result<Self, ModelError>;
    }
}

/// The origin of a model: the tool that made it, and the data it was made from.
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

impl<'a, B: Body<'a>> AnyModel<'a, B> {
    /// Checks a model file that fills `bytes` exactly.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, ModelError> {
        let sections = Sections::of(bytes)?;
        sections.check(B::Numbers::ENCODING)?;
        let counts = Counts::read(&sections)?;
        let orders = B::orders(&sections, &counts)?;
        let front_end = FrontEnd { orders, ..read::front_end(&sections, &counts)? };
        let body = B::read(&sections, &counts, &front_end)?;
        let names = read::texts(Section::Names, sections.need(Section::Names)?, counts.classes)?;
        let (hash, provenance) = read::provenance(&sections)?;
        drift::check(sections.get(Section::Drift), counts.classes)?;
        unit::check(sections.get(Section::Unit))?;
        verdict::check(sections.get(Section::Verdict))?;
        let alarm = read_alarm::check(sections.get(Section::Alarm), B::Numbers::ENCODING)?;
        let healthy = counts.healthy;
        Ok(Self { bytes, front_end, names, provenance, hash, healthy, alarm, body })
    }

    /// Checks the model file at the start of a flash region that may be larger than it.
    pub fn from_region(region: &'a [u8]) -> Result<Self, ModelError> {
        Self::parse(sections::file_of(region)?)
    }

    /// Number of components, the gate's included.
    pub fn component_count(&self) -> usize {
        self.body.components()
    }
}

impl<'a, B> AnyModel<'a, B> {
    /// The file's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The front end: how samples become features.
    pub fn front_end(&self) -> &FrontEnd<'a> {
        &self.front_end
    }

    /// Features per window.
    pub fn dims(&self) -> usize {
        self.front_end.dims()
    }

    /// Number of classes.
    pub fn classes(&self) -> usize {
        self.names.len()
    }

    /// Name of a class, `None` past the last.
    pub fn class_name(&self, class: usize) -> Option<&'a str> {
        self.names.get(class)
    }

    /// The class that stands for a healthy machine, if the model names one.
    pub fn healthy(&self) -> Option<usize> {
        (self.healthy != format::NO_CLASS).then_some(self.healthy as usize)
    }

    /// Parameters of the alarm; the defaults if the model gives none.
    pub fn alarm(&self) -> AlarmParameters {
        read_alarm::parameters(self.alarm)
    }

    /// Reference of the drift watch, if the model has one.
    pub fn drift(&self) -> Option<DriftReference<'a>> {
        let payload = sections::find(self.bytes, Section::Drift);
        // Checked when the file was parsed.
        drift::check(payload, self.classes()).unwrap_or(None)
    }

    /// Unit of the recordings, if the model gives it. The samples of an i16 model are counts.
    pub fn unit(&self) -> Option<SampleUnit<'a>> {
        // Checked when the file was parsed.
        unit::check(sections::find(self.bytes, Section::Unit)).unwrap_or(None)
    }

    /// The verdict that the model was made under, if the file gives it.
    pub fn verdict(&self) -> Option<ModelVerdict> {
        // Checked when the file was parsed.
        verdict::check(sections::find(self.bytes, Section::Verdict)).unwrap_or(None)
    }

    /// The tool that made the model, and the data it was made from.
    pub fn provenance(&self) -> Provenance<'a> {
        let text = |index| self.provenance.get(index).unwrap_or("");
        Provenance { tool: text(0), source: text(1), target: text(2), hash: self.hash }
    }

    /// The model of a monitor that was not started.
    const fn vacant(body: B) -> Self {
        let front_end = FrontEnd {
            rate_hz: 0.0,
            axes: 0,
            fft_len: 0,
            hop: 0,
            segments: 0,
            band_edges: &[],
            orders: None,
        };
        Self {
            bytes: &[],
            front_end,
            names: Texts::EMPTY,
            provenance: Texts::EMPTY,
            hash: &[0; format::HASH_LEN],
            healthy: format::NO_CLASS,
            alarm: None,
            body,
        }
    }

    /// The part of the model that depends on its encoding.
    pub(crate) fn body(&self) -> &B {
        &self.body
    }
}

impl Encoding {
    /// The encoding of a model file that fills `bytes` exactly.
    ///
    /// Checks header, checksum and the frame of the sections. [`Model::parse`] checks their
    /// contents.
    pub fn of(bytes: &[u8]) -> Result<Self, ModelError> {
        Ok(Sections::of(bytes)?.encoding())
    }

    /// [`Encoding::of`] the model file at the start of a flash region that may be larger than it.
    pub fn of_region(region: &[u8]) -> Result<Self, ModelError> {
        Self::of(sections::file_of(region)?)
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

//! Why a model file was refused.

use core::fmt;

use super::{Decimal, Places};

/// How a model file writes its numbers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Encoding {
    /// 32-bit floats, for [`Model`](crate::Model) and [`Monitor`](crate::Monitor).
    F32,
    /// 16-bit integers, for [`IntegerModel`](crate::IntegerModel) and
    /// [`IntegerMonitor`](crate::IntegerMonitor).
    I16,
}

impl Encoding {
    /// The encoding as command line and JSON name it.
    pub fn name(self) -> &'static str {
        match self {
            Self::F32 => "f32",
            Self::I16 => "i16",
        }
    }
}

/// Why a model file was refused. The firmware keeps running; the model is not used.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum ModelError {
    /// There are fewer bytes than the header has, or than it declares.
    TooShort {
        /// Bytes needed.
        needs: usize,
        /// Bytes given.
        has: usize,
    },
    /// There are more bytes than the header declares.
    TooLong {
        /// Bytes the header declares.
        needs: usize,
        /// Bytes given.
        has: usize,
    },
    /// The bytes do not start on a 4-byte boundary.
    Misaligned,
    /// The file does not start with the model magic: no model, or an erased flash region.
    WrongMagic,
    /// The format version is one that this firmware does not read.
    UnsupportedVersion {
        /// Version of the file.
        found: u16,
    },
    /// A bit that version 1 leaves zero is set.
    ReservedBits,
    /// The checksum does not match: a damaged file or an interrupted write.
    BadCrc {
        /// Checksum in the file.
        stored: u32,
        /// Checksum of the bytes.
        computed: u32,
    },
    /// A required section is unknown to this firmware.
    UnknownSection {
        /// Its four-byte tag.
        tag: [u8; 4],
    },
    /// A section occurs twice.
    RepeatedSection {
        /// Its four-byte tag.
        tag: [u8; 4],
    },
    /// A required section is missing.
    MissingSection {
        /// Its four-byte tag.
        tag: [u8; 4],
    },
    /// The length of a section does not match the counts.
    SectionLength {
        /// Its four-byte tag.
        tag: [u8; 4],
        /// Bytes that the counts ask for.
        needs: usize,
        /// Bytes declared.
        has: usize,
    },
    /// A number is not finite or is outside its range.
    OutOfRange {
        /// Name of the number.
        field: &'static str,
        /// Its place in its table.
        index: usize,
    },
    /// A text is not UTF-8, or its pieces do not add up.
    BadText {
        /// Its four-byte tag.
        tag: [u8; 4],
    },
    /// The model has the other encoding.
    WrongEncoding {
        /// Encoding of the file.
        found: Encoding,
    },
    /// A section belongs to the other encoding.
    MixedEncodings {
        /// Its four-byte tag.
        tag: [u8; 4],
    },
    /// An i16 model has features of shaft orders, which integer monitors do not compute.
    OrdersInIntegers,
    /// The model measures severity or the idle state in a unit other than counts, and the monitor
    /// takes counts.
    NotInCounts,
    /// The model needs more than the monitor's type holds: build the firmware with larger capacities.
    DoesNotFit {
        /// Which capacity.
        what: &'static str,
        /// The number that the model needs.
        needs: usize,
        /// The number that the type holds.
        holds: usize,
    },
    /// The firmware samples at another rate than the model is for. Every line of its spectra would
    /// be elsewhere.
    OtherRate {
        /// Sample rate of the model in Hz.
        model_hz: f32,
        /// Sample rate of the firmware in Hz.
        firmware_hz: f32,
    },
    /// A window of the model takes longer than the firmware can wait for one.
    WindowTooLong {
        /// Milliseconds that a window of the model takes.
        window_ms: u32,
        /// Milliseconds that the firmware allows.
        longest_ms: u32,
    },
    /// The firmware's counts have another full scale than the model's.
    OtherFullScale {
        /// Counts of the firmware's sensor in a g.
        counts_per_g: u32,
        /// Counts in a g that the model was made for.
        model_counts_per_g: u32,
    },
}

impl fmt::Display for ModelError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let name = |tag: &[u8; 4]| {
            let [a, b, c, d] =
                tag.map(|byte| if byte.is_ascii_graphic() { byte as char } else { '?' });
            [a, b, c, d]
        };
        match self {
            Self::TooShort { needs, has } => {
                write!(f, "the model is cut short: {needs} bytes are needed, {has} are there")
            }
            Self::TooLong { needs, has } => {
                write!(f, "the model has {needs} bytes, but {has} were given")
            }
            Self::Misaligned => f.write_str(
                "the model does not start on a 4-byte boundary (include it with include_model!)",
            ),
            Self::WrongMagic => {
                f.write_str("this is not a rebearing model: it does not start with \"RBRG\"")
            }
            Self::UnsupportedVersion { found } => write!(
                f,
                "the model has format version {found}, and this build reads version {}: update the firmware or write the model with a matching tool",
                super::format::VERSION
            ),
            Self::ReservedBits => {
                f.write_str("the model sets header bits that version 1 leaves zero")
            }
            Self::BadCrc { stored, computed } => write!(
                f,
                "the model is damaged: its checksum is {stored:08x}, its bytes give {computed:08x}; write it again"
            ),
            Self::UnknownSection { tag } => {
                let [a, b, c, d] = name(tag);
                write!(
                    f,
                    "the model needs the section {a}{b}{c}{d}, which this build does not know"
                )
            }
            Self::RepeatedSection { tag } => {
                let [a, b, c, d] = name(tag);
                write!(f, "the section {a}{b}{c}{d} stands twice in the model")
            }
            Self::MissingSection { tag } => {
                let [a, b, c, d] = name(tag);
                write!(f, "the model lacks the section {a}{b}{c}{d}")
            }
            Self::SectionLength { tag, needs, has } => {
                let [a, b, c, d] = name(tag);
                write!(
                    f,
                    "the section {a}{b}{c}{d} should have {needs} bytes by the model's counts and has {has}"
                )
            }
            Self::OutOfRange { field, index } => {
                write!(f, "the model's {field} [{index}] is not finite or out of its range")
            }
            Self::BadText { tag } => {
                let [a, b, c, d] = name(tag);
                write!(f, "the text of the section {a}{b}{c}{d} is damaged")
            }
            Self::WrongEncoding { found: Encoding::I16 } => f.write_str(
                "this is an i16 model, which IntegerMonitor runs: use that, or adapt with --encoding f32",
            ),
            Self::WrongEncoding { found: Encoding::F32 } => f.write_str(
                "this is an f32 model, which Monitor runs: use that, or adapt with --encoding i16",
            ),
            Self::MixedEncodings { tag } => {
                let [a, b, c, d] = name(tag);
                write!(f, "the section {a}{b}{c}{d} belongs to another encoding than the model's")
            }
            Self::OrdersInIntegers => f.write_str(
                "the model has features of shaft orders, which i16 models do not: fit with --blocks bands",
            ),
            Self::NotInCounts => f.write_str(
                "the model measures severity or the idle state in the unit of its recordings, and this monitor takes counts: push f32 samples in that unit, or adapt with recordings in counts",
            ),
            Self::DoesNotFit { what, needs, holds } => write!(
                f,
                "the model needs {needs} {what}, this monitor's type holds {holds}: build the firmware with the type that `rebearing inspect` prints"
            ),
            Self::OtherRate { model_hz, firmware_hz } => {
                f.write_str("the model is for samples at ")?;
                hertz(f, *model_hz)?;
                f.write_str(" Hz, and this firmware samples at ")?;
                hertz(f, *firmware_hz)?;
                f.write_str(" Hz: adapt with recordings at the firmware's rate")
            }
            Self::WindowTooLong { window_ms, longest_ms } => write!(
                f,
                "a window of the model takes {window_ms} ms, and this firmware restarts if a window is not done in {longest_ms} ms: fit with fewer --segments"
            ),
            Self::OtherFullScale { counts_per_g, model_counts_per_g } => write!(
                f,
                "the model was made for {model_counts_per_g} counts in a g, and this firmware's sensor gives {counts_per_g}: adapt with the sensor's --full-scale, {} g",
                32_768_u32.checked_div(*counts_per_g).unwrap_or(0)
            ),
        }
    }
}

/// A rate with two decimal places, without a floating-point operation.
fn hertz(f: &mut fmt::Formatter<'_>, rate: f32) -> fmt::Result {
    match Decimal::of_magnitude(rate, Places::Two) {
        Some(Decimal { whole, rest: 0, .. }) => write!(f, "{whole}"),
        Some(Decimal { whole, rest, .. }) => write!(f, "{whole}.{rest:02}"),
        None => f.write_str("NaN"),
    }
}

impl core::error::Error for ModelError {}

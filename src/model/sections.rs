//! The sections of a model file: one list that the reader and the host's writer both use.

use super::format::{self, HEADER_LEN, SECTION_HEADER_LEN};
use super::{Encoding, ModelError};

/// Whether a model file of one encoding has a section.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Presence {
    /// The file must have it.
    Needed,
    /// The file may have it.
    Optional,
    /// The file must not have it.
    Refused,
}

/// Declares the sections in the order in which they are written.
macro_rules! sections {
    ($($(#[$doc:meta])* $name:ident $tag:literal f32: $floats:ident, i16: $integers:ident;)*) => {
        /// A section of the model file.
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        #[cfg_attr(feature = "defmt", derive(defmt::Format))]
        pub enum Section {
            $($(#[$doc])* $name,)*
        }

        impl Section {
            /// All sections, in the order in which they are written.
            pub const ALL: &[Self] = &[$(Self::$name,)*];

            /// The four bytes that a section starts with. A lower-case first letter marks a
            /// section that an older reader may skip.
            pub const fn tag(self) -> [u8; 4] {
                match self {
                    $(Self::$name => *$tag,)*
                }
            }

            /// Whether a file of this encoding has the section.
            pub const fn presence(self, encoding: Encoding) -> Presence {
                match (self, encoding) {
                    $((Self::$name, Encoding::F32) => Presence::$floats,
                    (Self::$name, Encoding::I16) => Presence::$integers,)*
                }
            }
        }
    };
}

sections! {
    /// Axes, bands, components, classes, healthy class.
    Counts b"CNTS" f32: Needed, i16: Needed;
    /// Rate, FFT length, hop, segments, band edges.
    FrontEnd b"FRNT" f32: Needed, i16: Needed;
    /// Blocks of order features; absent in a model of bands in Hz alone.
    Orders b"ORDR" f32: Optional, i16: Refused;
    /// The mark of the i16 encoding, and its single numbers.
    Integer b"INTG" f32: Refused, i16: Needed;
    /// Shift and scale of each feature.
    Scaling b"SCAL" f32: Needed, i16: Refused;
    /// Order, shift and scale of each feature in i16 encoding.
    IntegerScaling b"ISCL" f32: Refused, i16: Needed;
    /// Component constants, scales and offsets.
    Mixture b"MIXT" f32: Needed, i16: Refused;
    /// Component constants, means and scales in i16 encoding.
    IntegerMixture b"IMIX" f32: Refused, i16: Needed;
    /// Label table: a row of class probabilities per component.
    Labels b"LABL" f32: Needed, i16: Refused;
    /// Label table in i16 encoding.
    IntegerLabels b"ILBL" f32: Refused, i16: Needed;
    /// Class names.
    Names b"NAME" f32: Needed, i16: Needed;
    /// Thresholds.
    Thresholds b"THRS" f32: Needed, i16: Refused;
    /// Gate components, gate threshold, flags; absent in a model without a gate.
    Gate b"GATE" f32: Optional, i16: Refused;
    /// The gate in i16 encoding.
    IntegerGate b"IGAT" f32: Refused, i16: Optional;
    /// Early drop: features scored first, and the order of all features.
    EarlyDrop b"LEAD" f32: Optional, i16: Refused;
    /// Tool version, source, target, hash of everything the model was fitted from.
    Provenance b"PROV" f32: Needed, i16: Needed;
    /// Parameters of the alarm; absent if they are the defaults.
    Alarm b"dcsn" f32: Optional, i16: Optional;
    /// Unit, band and limits of severity.
    Severity b"sevr" f32: Optional, i16: Refused;
    /// Reference of the drift watch; absent in a model that was not adapted.
    Drift b"drft" f32: Optional, i16: Optional;
    /// Unit and full scale of the samples; absent if the recordings did not give them.
    Unit b"unit" f32: Optional, i16: Optional;
    /// Verdict that the model was made under, and its predicted accuracy; absent if the host wrote
    /// none.
    Verdict b"vdct" f32: Optional, i16: Optional;
}

/// The payload of each section that a file has.
pub struct Sections<'a> {
    found: [Option<&'a [u8]>; Section::ALL.len()],
}

impl<'a> Sections<'a> {
    /// Checks header, length, alignment and checksum of a file that fills `bytes` exactly, and
    /// finds its sections.
    pub(crate) fn of(bytes: &'a [u8]) -> Result<Self, ModelError> {
        let length = declared_len(bytes)?;
        if bytes.len() < length {
            return Err(ModelError::TooShort { needs: length, has: bytes.len() });
        }
        if bytes.len() > length {
            return Err(ModelError::TooLong { needs: length, has: bytes.len() });
        }
        if !bytes.as_ptr().addr().is_multiple_of(4) {
            return Err(ModelError::Misaligned);
        }
        let Some(stored) = stored_crc(bytes) else {
            return Err(ModelError::TooShort { needs: HEADER_LEN, has: bytes.len() });
        };
        let computed = format::crc32(bytes);
        if stored != computed {
            return Err(ModelError::BadCrc { stored, computed });
        }
        Self::walk(bytes)
    }

    fn walk(bytes: &'a [u8]) -> Result<Self, ModelError> {
        let mut found = [None; Section::ALL.len()];
        let mut rest = bytes.get(HEADER_LEN..).unwrap_or(&[]);
        while !rest.is_empty() {
            let Framed { tag, payload, after } = first_section(rest)?;
            rest = after;
            let place = Section::ALL.iter().zip(&mut found).find(|(known, _)| known.tag() == tag);
            match place {
                Some((_, Some(_))) => return Err(ModelError::RepeatedSection { tag }),
                Some((_, place)) => *place = Some(payload),
                None if tag.first().is_some_and(u8::is_ascii_lowercase) => {}
                None => return Err(ModelError::UnknownSection { tag }),
            }
        }
        Ok(Self { found })
    }

    /// The encoding of the file.
    pub(crate) fn encoding(&self) -> Encoding {
        if self.get(Section::Integer).is_some() { Encoding::I16 } else { Encoding::F32 }
    }

    /// Checks that the file has this encoding and the sections that belong to it.
    pub(crate) fn check(&self, encoding: Encoding) -> Result<(), ModelError> {
        let found = self.encoding();
        if found != encoding {
            return Err(ModelError::WrongEncoding { found });
        }
        for section in Section::ALL {
            let tag = section.tag();
            match (section.presence(encoding), self.get(*section)) {
                (Presence::Needed, None) => return Err(ModelError::MissingSection { tag }),
                (Presence::Refused, Some(_)) if *section == Section::Orders => {
                    return Err(ModelError::OrdersInIntegers);
                }
                (Presence::Refused, Some(_)) => return Err(ModelError::MixedEncodings { tag }),
                _ => {}
            }
        }
        Ok(())
    }

    /// The payload of a section, if the file has it.
    pub(crate) fn get(&self, section: Section) -> Option<&'a [u8]> {
        self.found.get(section as usize).copied().flatten()
    }

    /// The payload of a section that the file must have.
    pub(crate) fn need(&self, section: Section) -> Result<&'a [u8], ModelError> {
        self.get(section).ok_or(ModelError::MissingSection { tag: section.tag() })
    }
}

/// The payload of `section` in a file that was checked before.
///
/// Sections that a monitor does not use at every window are looked up when they are asked for, so
/// that they take no RAM.
pub(crate) fn find(bytes: &[u8], section: Section) -> Option<&[u8]> {
    let mut rest = bytes.get(HEADER_LEN..)?;
    while let Ok(Framed { tag, payload, after }) = first_section(rest) {
        if tag == section.tag() {
            return Some(payload);
        }
        rest = after;
    }
    None
}

/// A section as it lies in the file, and the bytes behind it.
struct Framed<'a> {
    tag: [u8; 4],
    payload: &'a [u8],
    after: &'a [u8],
}

/// The first section of these bytes.
fn first_section(bytes: &[u8]) -> Result<Framed<'_>, ModelError> {
    let Some((header, after)) = bytes.split_first_chunk::<SECTION_HEADER_LEN>() else {
        return Err(ModelError::TooShort { needs: SECTION_HEADER_LEN, has: bytes.len() });
    };
    let [t0, t1, t2, t3, l0, l1, l2, l3] = *header;
    let tag = [t0, t1, t2, t3];
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if !length.is_multiple_of(4) {
        // The largest lengths have no next multiple on a 32-bit chip.
        let needs = length.checked_next_multiple_of(4).unwrap_or(usize::MAX);
        return Err(ModelError::SectionLength { tag, needs, has: length });
    }
    let Some((payload, after)) = after.split_at_checked(length) else {
        return Err(ModelError::SectionLength { tag, needs: length, has: after.len() });
    };
    Ok(Framed { tag, payload, after })
}

/// The length that the header declares, once magic and version are right.
fn declared_len(bytes: &[u8]) -> Result<usize, ModelError> {
    let header: &[u8; HEADER_LEN] =
        bytes.first_chunk().ok_or(ModelError::TooShort { needs: HEADER_LEN, has: bytes.len() })?;
    let [m0, m1, m2, m3, v0, v1, r0, r1, l0, l1, l2, l3, ..] = *header;
    if [m0, m1, m2, m3] != format::MAGIC {
        return Err(ModelError::WrongMagic);
    }
    let version = u16::from_le_bytes([v0, v1]);
    if version != format::VERSION {
        return Err(ModelError::UnsupportedVersion { found: version });
    }
    if [r0, r1] != [0, 0] {
        return Err(ModelError::ReservedBits);
    }
    let length = u32::from_le_bytes([l0, l1, l2, l3]) as usize;
    if length < HEADER_LEN || !length.is_multiple_of(4) {
        return Err(ModelError::OutOfRange { field: "total length", index: 0 });
    }
    Ok(length)
}

/// The checksum in the header of a file.
pub(crate) fn stored_crc(bytes: &[u8]) -> Option<u32> {
    bytes.get(format::CRC_OFFSET..)?.first_chunk().map(|stored| u32::from_le_bytes(*stored))
}

/// The model file at the start of a region that may be larger than it.
pub(crate) fn file_of(region: &[u8]) -> Result<&[u8], ModelError> {
    split_file(region).map(|(file, _)| file)
}

/// The model file at the start of `region`, by its declared length alone, and what follows it.
pub(crate) fn split_file(region: &[u8]) -> Result<(&[u8], &[u8]), ModelError> {
    let length = declared_len(region)?;
    let too_short = ModelError::TooShort { needs: length, has: region.len() };
    region.split_at_checked(length).ok_or(too_short)
}

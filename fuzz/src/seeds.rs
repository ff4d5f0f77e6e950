//! Valid model files that together have every section, in both encodings: the seeds of mutations.
//!
//! Nothing here needs std: `firmware-examples/src/bin/fuzz-32` uses this very file on an emulated
//! 32-bit core.

use rebearing::model::{Section, format};

/// A golden model, and sections that are put behind its own.
pub struct Seed {
    golden: &'static [u8],
    more: &'static [(Section, &'static [u32])],
}

macro_rules! golden {
    ($name:literal) => {
        include_bytes!(concat!("../../tests/golden/", $name))
    };
}

/// Bytes that hold any seed.
pub const LONGEST: usize = 1024;

/// Features scored first, and the order of all four.
const EARLY_DROP: (Section, &[u32]) = (Section::EarlyDrop, &[2, 3, 1, 0, 2]);
/// Blocks of four windows; references of three classes, the last without one.
const DRIFT: (Section, &[u32]) =
    (Section::Drift, &[4, 1, negative(256), 2, 1000, 100, 0, negative(2560), 512, 7, 300, 0, 0]);
/// ±16 g.
const UNIT: (Section, &[u32]) =
    (Section::Unit, &[16_f32.to_bits(), 1, u32::from_le_bytes(*b"g\0\0\0")]);
/// Average 2, delay 1, settle 0, hold, idle below 3 counts in Q8.
const ALARM: (Section, &[u32]) = (Section::Alarm, &[2, 20_000, 9000, 1, 0, 2, 3, 768, 1024]);
/// *Keep*, without a predicted accuracy.
const VERDICT: (Section, &[u32]) = (
    Section::Verdict,
    &[format::VERDICT_KEEP, 0, format::NO_ACCURACY, 0.9_f32.to_bits(), 0, format::CURVE_NONE],
);

/// All seeds.
pub static SEEDS: [Seed; 9] = [
    Seed { golden: golden!("model-v1.rbm"), more: &[] },
    Seed { golden: golden!("model-v1.rbm"), more: &[EARLY_DROP, DRIFT, UNIT] },
    Seed { golden: golden!("model-v1-gate.rbm"), more: &[] },
    Seed { golden: golden!("model-v1-gate.rbm"), more: &[EARLY_DROP, DRIFT, VERDICT] },
    Seed { golden: golden!("model-v1-orders.rbm"), more: &[UNIT] },
    Seed { golden: golden!("model-v1-decision.rbm"), more: &[UNIT] },
    Seed { golden: golden!("model-v1-verdict.rbm"), more: &[] },
    Seed { golden: golden!("model-v1-i16.rbm"), more: &[] },
    Seed { golden: golden!("model-v1-i16.rbm"), more: &[ALARM, DRIFT, UNIT, VERDICT] },
];

impl Seed {
    /// Writes the file to the start of `out`, which has room for [`LONGEST`] bytes, and returns its
    /// length. Header length and checksum are right.
    pub fn write(&self, out: &mut [u8]) -> usize {
        let mut at = 0;
        let mut put = |bytes: &[u8]| {
            if let Some(place) = out.get_mut(at..at + bytes.len()) {
                place.copy_from_slice(bytes);
                at += bytes.len();
            }
        };
        put(self.golden);
        for (section, words) in self.more {
            put(&section.tag());
            put(&(4 * words.len() as u32).to_le_bytes());
            words.iter().for_each(|word| put(&word.to_le_bytes()));
        }
        seal(out.get_mut(..at).unwrap_or_default());
        at
    }
}

/// Corrects the length and the CRC-32 in the header of `file`, so a mutation gets past them to the
/// later checks.
pub fn seal(file: &mut [u8]) {
    let length = u32::try_from(file.len()).unwrap_or(u32::MAX);
    if let Some(place) = file.get_mut(8..12) {
        place.copy_from_slice(&length.to_le_bytes());
    }
    let crc = format::crc32(file);
    if let Some(place) = file.get_mut(format::CRC_OFFSET..format::HEADER_LEN) {
        place.copy_from_slice(&crc.to_le_bytes());
    }
}

/// Words at the limits of the format and of a 32-bit chip, as integers and as floats.
pub const EDGES: [u32; 24] = [
    0,
    1,
    2,
    3,
    4,
    255,
    256,
    257,
    4096,
    65_536,
    0x7fff_ffff,
    0x8000_0000, // −0
    0xffff_fffc,
    0xffff_fffd,
    0xffff_fffe,
    0xffff_ffff,
    0x7f80_0000, // infinity
    0x7fc0_0000, // NaN
    0x7f7f_ffff, // the largest float
    0x0080_0000, // the smallest normal float
    0x0000_0100, // a denormal float
    0x006c_e3ee, // 1e-38
    0x3a83_126f, // 1e-3
    0x4b18_9680, // 1e7
];

/// Bits of a negative number.
const fn negative(number: i32) -> u32 {
    number.wrapping_neg().cast_unsigned()
}

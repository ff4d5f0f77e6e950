//! Layout of the model file, version 1: the numbers of `docs/model-format.md`.
//!
//! The host's writer and the device's reader both use them. [`Section`](super::Section) lists the
//! sections.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

pub use crate::integer::part::MAX_FRACTION_BITS;
pub use crate::signal::MAX_BANDS;

/// First four bytes of a model file.
pub const MAGIC: [u8; 4] = *b"RBRG";
/// Format version written and read.
pub const VERSION: u16 = 1;
/// Bytes of the header: magic, version, reserved, length, CRC-32.
pub const HEADER_LEN: usize = 16;
/// Where the CRC-32 stands in the header; its own four bytes count as zero.
pub const CRC_OFFSET: usize = 12;
/// Bytes before a section's payload: tag and payload length.
pub const SECTION_HEADER_LEN: usize = 8;

/// Words in the counts section.
pub(crate) const COUNTS_WORDS: usize = 5;
/// Words in the front-end section before the band edges.
pub(crate) const FRONT_END_WORDS: usize = 4;
/// Words in the orders section.
pub(crate) const ORDERS_WORDS: usize = 4;
/// Flag of the orders section: the spectrum has order bands.
pub const ORDERS_SPECTRUM: u32 = 1;
/// Flag of the orders section: the envelope's spectrum has order bands.
pub const ORDERS_ENVELOPE: u32 = 2;
/// Words in the thresholds section.
pub(crate) const THRESHOLDS_WORDS: usize = 1;
/// Words in the gate section.
pub(crate) const GATE_WORDS: usize = 3;
/// Words in the integer section.
pub(crate) const INTEGER_WORDS: usize = 5;
/// Words in the gate section of an i16 model.
pub(crate) const INTEGER_GATE_WORDS: usize = 5;
/// Flag of the gate section: the other components take the direction of the features.
pub const GATE_DIRECTION: u32 = 1;
/// Words in the early-drop section before the order.
pub(crate) const EARLY_DROP_WORDS: usize = 1;
/// Words in the drift section before the classes.
pub(crate) const DRIFT_WORDS: usize = 7;
/// Words in the alarm section.
pub(crate) const ALARM_WORDS: usize = 9;
/// Flag of the alarm section: an alarm stays until it is acknowledged.
pub const ALARM_HOLD: u32 = 1;
/// Flag of the alarm section: the machine stands still below an rms.
pub const ALARM_IDLE: u32 = 2;
/// Words in the severity section.
pub(crate) const SEVERITY_WORDS: usize = 6;
/// Words in the unit section before its text.
pub(crate) const UNIT_WORDS: usize = 1;
/// Words in the verdict section.
pub(crate) const VERDICT_WORDS: usize = 6;
/// Verdict *adapt* in the verdict section.
pub const VERDICT_ADAPT: u32 = 0;
/// Verdict *keep* in the verdict section.
pub const VERDICT_KEEP: u32 = 1;
/// Verdict *abstain* in the verdict section.
pub const VERDICT_ABSTAIN: u32 = 2;
/// Flag of the verdict section: the model names classes although the verdict is *abstain*.
pub const VERDICT_FORCED: u32 = 1;
/// Bits of the predicted accuracy of a model that has none: −1 as f32.
pub const NO_ACCURACY: u32 = (-1_f32).to_bits();
/// Curve in the verdict section of a model without a predicted accuracy.
pub const CURVE_NONE: u32 = 0;
/// The fixed curve gave the predicted accuracy.
pub const CURVE_FIXED: u32 = 1;
/// The library's own curve gave the predicted accuracy.
pub const CURVE_LIBRARY: u32 = 2;
/// Bytes of the hash in the provenance section (SHA-256).
pub const HASH_LEN: usize = 32;
/// Texts in the provenance section: tool, source, target.
pub(crate) const PROVENANCE_TEXTS: usize = 3;
/// Healthy class of a model that names none.
pub const NO_CLASS: u32 = u32::MAX;

/// Most axes.
pub const MAX_AXES: usize = 3;
/// Lowest order and narrowest order band.
///
/// With this limit and [`MIN_RATE`], an order has at most 10⁶ bins at any shaft speed that the model
/// can be used at. A smaller order has no meaning: it takes a thousand turns of the shaft.
pub(crate) const MIN_ORDER: f32 = 1e-3;
/// Highest order and widest order band.
pub(crate) const MAX_ORDER: f32 = 1e3;
/// Most components.
pub const MAX_COMPONENTS: usize = 4096;
/// Most classes.
pub const MAX_CLASSES: usize = 256;
/// Most segments in a window.
pub const MAX_SEGMENTS: usize = 65_536;

/// Most windows that an alarm averages.
pub const MAX_AVERAGE: u32 = 256;
/// Longest delay, settle time and row of sensor faults, in windows.
pub const MAX_ALARM_WINDOWS: u32 = 1_000_000;
/// Lower end of the severity band, in bins of the spectrum, at least.
pub const SEVERITY_BINS: f32 = 2.0;
/// Most m/s² that a unit of the samples stands for.
pub const MAX_UNIT: f32 = 1e9;
/// Largest limit of severity in mm/s.
pub const MAX_VELOCITY: f32 = 1e6;

/// Lowest sample rate in Hz. Below it, one over the rate leaves the range of ordinary numbers.
pub const MIN_RATE: f32 = 1e-3;
/// Highest sample rate in Hz.
pub(crate) const MAX_RATE: f32 = 1e9;
/// Largest magnitude of a feature's shift in i16 encoding: 128 in log2, Q16.
pub const MAX_INTEGER_SHIFT: i32 = 1 << 23;
/// Largest magnitude of a mean in i16 encoding.
pub(crate) const MAX_INTEGER_MEAN: i16 = 16_383;
/// The sum of a label row in i16 encoding: one in Q15.
pub const INTEGER_LABEL_SUM: u32 = 1 << 15;
/// Log-likelihood threshold, in nats Q8, of an i16 model that calls nothing unknown.
pub const NEVER_UNKNOWN: i32 = i32::MIN;
/// Most windows in a block of the drift watch.
pub(crate) const MAX_DRIFT_BLOCK: u32 = 1 << 16;
/// The drift watch cuts deviations off here: four standard deviations, Q8.
pub const MAX_DEVIATION: i32 = 4 << 8;
/// Largest standard deviation of a log-likelihood in the drift section: 4096 nats, Q8.
pub const MAX_SPREAD: u32 = 1 << 20;
/// Largest magnitude of a feature's shift.
pub const MAX_SHIFT: f32 = 1e4;
/// Largest scale of a feature.
pub(crate) const MAX_SCALE: f32 = 1e4;
/// Largest 1/σ of a component.
pub(crate) const MAX_WHITENING: f32 = 1e4;
/// Largest magnitude of −μ/σ and of a component's constant.
///
/// With these limits |t| < 1e4·1e4·(1e4 + 60) + 1e12 < 3e12, so that Σt² over the most
/// dimensions stays below 1e28: no score can overflow, whatever the samples.
pub const MAX_OFFSET: f32 = 1e12;
/// Largest difference between the sum of a label row and one.
pub(crate) const LABEL_SUM_TOLERANCE: f32 = 1e-4;

/// CRC-32 of a whole model file (ISO-HDLC, as in zlib), its own field taken as zero.
///
/// A 1 KiB table: eight times as fast as no table, where 16 KiB would be too much flash.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut digest = digest();
    let (before, rest) = bytes.split_at_checked(CRC_OFFSET).unwrap_or((bytes, &[]));
    digest.update(before);
    if let Some((_, after)) = rest.split_at_checked(4) {
        digest.update(&[0; 4]);
        digest.update(after);
    }
    digest.finalize()
}

/// A CRC-32 over no bytes yet.
pub(crate) fn digest() -> Digest<'static, u32, Table<1>> {
    const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);
    CRC.digest()
}

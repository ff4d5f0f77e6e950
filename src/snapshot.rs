//! Snapshot for re-adaptation: the features of the last decision windows, in fixed memory.
//!
//! A device cannot send its samples, but a model can be adapted to a few hundred feature vectors.
//! The ring keeps those of the last windows before standardisation, so that the host can make a
//! new one, and writes them as one record (`docs/snapshot-format.md`), byte by byte, without a
//! second buffer.
//!
//! A feature is written in nats as an `i16` with 10 fraction bits: rounded by at most 0.0005 nats,
//! where even the steadiest features of a machine scatter by hundredths. In the line of `f32` no
//! feature is beyond ±27.7 nats, as an empty band stands at ln 1e-12; what an empty band of the
//! integer line has beyond ±32 is cut off there.

use crc::{CRC_32_ISO_HDLC, Crc, Digest, Table};

use crate::integer::{IntegerModel, IntegerMonitor};
use crate::model::{FrontEnd, Model, ModelError, format};
use crate::monitor::Monitor;
use crate::window::Sample;

/// First four bytes of a record.
pub const MAGIC: [u8; 4] = *b"RBSN";
/// Version of the record.
pub const VERSION: u16 = 1;
/// Bytes before the first window.
pub const HEADER_LEN: usize = 40;
/// Bytes of a window before its features: index and flags.
pub const WINDOW_LEN: usize = 6;
/// Bytes of the CRC-32 at the end.
pub const CRC_LEN: usize = 4;
/// Fraction bits of a feature, in nats.
pub const FRACTION_BITS: u32 = 10;

/// Flag of a record: the integer line made its features.
pub const INTEGER_LINE: u16 = 1;
/// Flag of a window: the model called it unknown, or a fault of unknown type.
pub const UNKNOWN: u16 = 1;
/// Flag of a window: samples are missing between the window before and this one.
pub const AFTER_GAP: u16 = 2;

const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Features of the last `WINDOWS` decision windows; a model may have fewer features than `DIMS`.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::{Model, Monitor, snapshot::Snapshot};
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let mut snapshot = Snapshot::<4, 16>::new(&model)?;
/// for n in 0..2000 {
///     if let Some(report) = monitor.push([(n as f32 * 0.7).sin()]) {
///         if report.finding.is_ok() {
///             snapshot.record(&monitor, report.index, 0);
///         }
///     }
/// }
/// // To a radio or a UART, as fast as it takes them.
/// let mut bytes = snapshot.bytes();
/// let mut packet = [0; 20];
/// while bytes.fill(&mut packet) > 0 {}
/// # Ok::<(), rebearing::ModelError>(())
/// ```
#[derive(Debug, Clone)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Snapshot<const DIMS: usize, const WINDOWS: usize> {
    /// Everything of the header but what changes: length and windows.
    header: [u8; HEADER_LEN],
    dims: usize,
    /// Where the next window goes.
    next: usize,
    count: usize,
    indices: [u32; WINDOWS],
    flags: [u16; WINDOWS],
    features: [[i16; DIMS]; WINDOWS],
}

impl<const DIMS: usize, const WINDOWS: usize> Snapshot<DIMS, WINDOWS> {
    /// Bytes of RAM that a snapshot of this type takes.
    pub const RAM: usize = size_of::<Self>();

    /// An empty snapshot for the monitor of `model`, unless it has too many features.
    pub fn new(model: &Model<'_>) -> Result<Self, ModelError> {
        Self::empty(model.front_end(), model.bytes(), 0)
    }

    /// An empty snapshot for the integer monitor of `model`, unless it has too many features.
    pub fn for_integer(model: &IntegerModel<'_>) -> Result<Self, ModelError> {
        Self::empty(model.front_end(), model.bytes(), INTEGER_LINE)
    }

    fn empty(front_end: &FrontEnd<'_>, model: &[u8], flags: u16) -> Result<Self, ModelError> {
        let dims = front_end.dims();
        for (what, needs, holds) in
            [("features", dims, DIMS), ("windows of a snapshot", 1, WINDOWS)]
        {
            if needs > holds {
                return Err(ModelError::DoesNotFit { what, needs, holds });
            }
        }
        Ok(Self {
            header: header(front_end, model, flags),
            dims,
            next: 0,
            count: 0,
            indices: [0; WINDOWS],
            flags: [0; WINDOWS],
            features: [[0; DIMS]; WINDOWS],
        })
    }

    /// Keeps the features of the monitor's last decision window, which the report with this
    /// `index` is of; `flags` are [`UNKNOWN`] and [`AFTER_GAP`], or zero.
    ///
    /// Call it for reports without a sensor fault, and with the model that the snapshot is for.
    pub fn record<
        S: Sample,
        const FFT: usize,
        const AXES: usize,
        const COMPONENTS: usize,
        const CLASSES: usize,
        const MONITOR_DIMS: usize,
    >(
        &mut self,
        monitor: &Monitor<'_, S, FFT, AXES, MONITOR_DIMS, COMPONENTS, CLASSES>,
        index: u32,
        flags: u16,
    ) {
        let features = monitor.features().iter().zip(monitor.model().shift());
        let raw = features.zip(monitor.model().scale()).map(|((z, shift), scale)| {
            // The standardisation undone, to a few units in the last place of an f32.
            from_nats(z / scale + shift)
        });
        self.push(index, flags, raw.enumerate());
    }

    /// As [`record`](Self::record), for the integer monitor.
    pub fn record_integer<
        const FFT: usize,
        const AXES: usize,
        const COMPONENTS: usize,
        const CLASSES: usize,
        const MONITOR_DIMS: usize,
    >(
        &mut self,
        monitor: &IntegerMonitor<'_, FFT, AXES, MONITOR_DIMS, COMPONENTS, CLASSES>,
        index: u32,
        flags: u16,
    ) {
        let model = monitor.model();
        let scaling = model.order().iter().zip(model.shift()).zip(model.scale());
        let raw = monitor.features().iter().zip(scaling).map(|(z, ((place, shift), scale))| {
            (*place as usize, from_log2(raw_log2(*z, *shift, *scale)))
        });
        self.push(index, flags, raw);
    }

    /// Keeps a window's features, each with its place.
    fn push(&mut self, index: u32, flags: u16, features: impl Iterator<Item = (usize, i16)>) {
        let row = self.features.get_mut(self.next);
        let place = self.indices.get_mut(self.next).zip(self.flags.get_mut(self.next));
        if let (Some(row), Some((of_index, of_flags))) = (row, place) {
            (*of_index, *of_flags) = (index, flags);
            for (place, feature) in features {
                if let Some(to) = row.get_mut(place) {
                    *to = feature;
                }
            }
        }
        self.next = if self.next + 1 < WINDOWS { self.next + 1 } else { 0 };
        self.count = (self.count + 1).min(WINDOWS);
    }

    /// Windows that are kept.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether no window is kept.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all windows, as after they were sent.
    pub fn clear(&mut self) {
        (self.next, self.count) = (0, 0);
    }

    /// The record, oldest window first.
    pub fn bytes(&self) -> SnapshotBytes<'_, DIMS, WINDOWS> {
        let length = HEADER_LEN + self.count * (WINDOW_LEN + 2 * self.dims) + CRC_LEN;
        let mut header = self.header;
        put(&mut header, 8, (length as u32).to_le_bytes());
        put(&mut header, 32, (self.count as u32).to_le_bytes());
        let oldest = if self.count < WINDOWS { 0 } else { self.next };
        SnapshotBytes {
            snapshot: self,
            header,
            digest: CRC.digest(),
            part: Part::Header,
            at: 0,
            row: oldest,
            rows: self.count,
            remaining: length,
        }
    }
}

/// What of a record comes next.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Header,
    Window,
    Crc([u8; CRC_LEN]),
}

/// The bytes of a record, made as they are asked for.
#[derive(Clone)]
pub struct SnapshotBytes<'s, const DIMS: usize, const WINDOWS: usize> {
    snapshot: &'s Snapshot<DIMS, WINDOWS>,
    header: [u8; HEADER_LEN],
    digest: Digest<'static, u32, Table<1>>,
    part: Part,
    /// Bytes of the part that are done.
    at: usize,
    row: usize,
    rows: usize,
    remaining: usize,
}

impl<const DIMS: usize, const WINDOWS: usize> SnapshotBytes<'_, DIMS, WINDOWS> {
    /// Writes the next bytes into `chunk`, and says how many: fewer than it holds at the end,
    /// then zero.
    pub fn fill(&mut self, chunk: &mut [u8]) -> usize {
        let mut filled = 0;
        for (place, byte) in chunk.iter_mut().zip(self) {
            *place = byte;
            filled += 1;
        }
        filled
    }

    /// Byte `at` of the window in the ring's row `row`.
    fn window_byte(&self) -> u8 {
        let snapshot = self.snapshot;
        let byte = |bytes: &[u8], at: usize| bytes.get(at).copied().unwrap_or(0);
        let index = snapshot.indices.get(self.row).copied().unwrap_or(0);
        let flags = snapshot.flags.get(self.row).copied().unwrap_or(0);
        match self.at {
            at @ 0..4 => byte(&index.to_le_bytes(), at),
            at @ 4..WINDOW_LEN => byte(&flags.to_le_bytes(), at - 4),
            at => {
                let at = at - WINDOW_LEN;
                let row = snapshot.features.get(self.row);
                let feature = row.and_then(|row| row.get(at / 2)).copied().unwrap_or(0);
                byte(&feature.to_le_bytes(), at % 2)
            }
        }
    }

    /// Moves on to the next window, or to the CRC behind the last.
    fn next_window(&mut self, row: usize) {
        self.at = 0;
        if self.rows == 0 {
            self.part = Part::Crc(self.digest.clone().finalize().to_le_bytes());
            return;
        }
        self.part = Part::Window;
        self.rows -= 1;
        self.row = row;
    }
}

impl<const DIMS: usize, const WINDOWS: usize> Iterator for SnapshotBytes<'_, DIMS, WINDOWS> {
    type Item = u8;

    fn next(&mut self) -> Option<u8> {
        self.remaining = self.remaining.checked_sub(1)?;
        match self.part {
            Part::Header => {
                let byte = self.header.get(self.at).copied().unwrap_or(0);
                self.digest.update(&[byte]);
                self.at += 1;
                if self.at >= HEADER_LEN {
                    self.next_window(self.row);
                }
                Some(byte)
            }
            Part::Window => {
                let byte = self.window_byte();
                self.digest.update(&[byte]);
                self.at += 1;
                if self.at >= WINDOW_LEN + 2 * self.snapshot.dims {
                    self.next_window(if self.row + 1 < WINDOWS { self.row + 1 } else { 0 });
                }
                Some(byte)
            }
            Part::Crc(crc) => {
                let byte = crc.get(self.at).copied();
                self.at += 1;
                byte
            }
        }
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (self.remaining, Some(self.remaining))
    }
}

impl<const DIMS: usize, const WINDOWS: usize> ExactSizeIterator
    for SnapshotBytes<'_, DIMS, WINDOWS>
{
}

impl<const DIMS: usize, const WINDOWS: usize> core::fmt::Debug
    for SnapshotBytes<'_, DIMS, WINDOWS>
{
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("SnapshotBytes").field("remaining", &self.remaining).finish_non_exhaustive()
    }
}

#[cfg(feature = "defmt")]
impl<const DIMS: usize, const WINDOWS: usize> defmt::Format for SnapshotBytes<'_, DIMS, WINDOWS> {
    fn format(&self, f: defmt::Formatter<'_>) {
        defmt::write!(f, "SnapshotBytes {{ remaining: {=usize} }}", self.remaining);
    }
}

/// What identifies a front end: the CRC-32 of its numbers. Features of two front ends do not mean
/// the same and must not be mixed.
pub fn front_end_id(front_end: &FrontEnd<'_>) -> u32 {
    let mut digest = CRC.digest();
    let mut word = |word: u32| digest.update(&word.to_le_bytes());
    word(front_end.rate_hz.to_bits());
    for count in [front_end.axes, front_end.fft_len, front_end.hop, front_end.segments] {
        word(count as u32);
    }
    for edge in front_end.band_edges {
        word(*edge);
    }
    if let Some(orders) = front_end.orders {
        word(u32::from(orders.spectrum) | u32::from(orders.envelope) << 1);
        word(orders.bands as u32);
        word(orders.first.to_bits());
        word(orders.width.to_bits());
    }
    digest.finalize()
}

/// CRC-32 of the bytes before it, as at the end of a record (ISO-HDLC, as in zlib).
pub fn crc32(bytes: &[u8]) -> u32 {
    CRC.checksum(bytes)
}

/// The header, its length and number of windows left zero.
fn header(front_end: &FrontEnd<'_>, model: &[u8], flags: u16) -> [u8; HEADER_LEN] {
    let mut header = [0; HEADER_LEN];
    put(&mut header, 0, MAGIC);
    put(&mut header, 4, VERSION.to_le_bytes());
    put(&mut header, 6, flags.to_le_bytes());
    put(&mut header, 12, front_end_id(front_end).to_le_bytes());
    put(&mut header, 16, front_end.rate_hz.to_bits().to_le_bytes());
    put(&mut header, 20, (front_end.fft_len as u16).to_le_bytes());
    put(&mut header, 22, (front_end.hop as u16).to_le_bytes());
    put(&mut header, 24, (front_end.segments as u32).to_le_bytes());
    put(&mut header, 28, [front_end.axes as u8, FRACTION_BITS as u8]);
    put(&mut header, 30, (front_end.dims() as u16).to_le_bytes());
    let crc = model.get(format::CRC_OFFSET..).and_then(<[u8]>::first_chunk::<4>);
    put(&mut header, 36, crc.copied().unwrap_or_default());
    header
}

fn put<const N: usize>(header: &mut [u8; HEADER_LEN], at: usize, bytes: [u8; N]) {
    if let Some(place) = header.get_mut(at..).and_then(<[u8]>::first_chunk_mut) {
        *place = bytes;
    }
}

/// A feature in nats, rounded; NaN, which no monitor gives, counts as zero.
fn from_nats(nats: f32) -> i16 {
    let scaled = nats * (1 << FRACTION_BITS) as f32;
    // The cast cuts the fraction off, and what is beyond an i16.
    (scaled + if scaled < 0.0 { -0.5 } else { 0.5 }) as i16
}

/// A standardised feature of the integer line back to log2 in Q16.
///
/// Bounds: |z| < 2³¹ and a fraction of 24 bits, so that an `i64` holds the product.
fn raw_log2(z: i32, shift: i32, scale: i32) -> i32 {
    const FRACTION: u32 =
        crate::integer::math::LOG2_FRACTION + crate::integer::features::SCALE_FRACTION;
    let scale = i64::from(scale.max(1));
    let product = i64::from(z) << FRACTION;
    let rounded = (product + scale / 2).checked_div_euclid(scale).unwrap_or(0);
    let raw = rounded.saturating_add(i64::from(shift));
    raw.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

/// A feature in log2 Q16 to nats, rounded and cut off.
fn from_log2(log2: i32) -> i16 {
    /// ln 2 in Q16.
    const LN_2: i64 = 45_426;
    const SHIFT: u32 = 32 - FRACTION_BITS;
    let nats = (i64::from(log2) * LN_2 + (1 << SHIFT >> 1)) >> SHIFT;
    nats.clamp(i64::from(i16::MIN), i64::from(i16::MAX)) as i16
}

#[cfg(test)]
mod tests {
    use super::{from_log2, from_nats, raw_log2};

    #[test]
    fn features_are_rounded_and_cut_off() {
        let written = [0.0, 0.000_49, -0.000_49, 1.0, -27.64, 40.0, -40.0, f32::NAN];
        let read = [0, 1, -1, 1024, -28303, i16::MAX, i16::MIN, 0];
        assert_eq!(written.map(from_nats), read);
        for log2 in (-3_000_000..3_000_000).step_by(977) {
            let nats = f64::from(log2) / 65536.0 * core::f64::consts::LN_2;
            let exact = nats.clamp(-32.0, 32.0 - 1.0 / 1024.0);
            assert!((f64::from(from_log2(log2)) / 1024.0 - exact).abs() < 0.000_6, "{log2}");
        }
    }

    #[test]
    fn standardisation_is_undone() {
        for (shift, scale) in [(0, 1 << 20), (-300_000, 700_000), (900_000, i32::MAX)] {
            for raw in (-1_000_000..1_000_000_i32).step_by(12_345) {
                let z = (i64::from(raw - shift) * i64::from(scale) + (1 << 23)) >> 24;
                let step = (1 << 24) / i64::from(scale) + 1;
                let found = raw_log2(z as i32, shift, scale);
                assert!(i64::from((found - raw).abs()) <= step, "{found} {raw}");
            }
        }
        assert_eq!(raw_log2(i32::MAX, i32::MAX, 1), i32::MAX);
    }
}

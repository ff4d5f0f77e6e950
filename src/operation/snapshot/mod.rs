//! Snapshot for re-adaptation: the features of the last windows, in fixed memory.
//!
//! A device cannot send all its samples, but a few hundred feature vectors are enough to adapt a
//! model. A ring keeps the features of the last windows before standardisation, so that the host can
//! standardise anew. It writes them as one record (`docs/snapshot-format.md`), byte by byte, without
//! a second buffer.
//!
//! A feature is written in nats as an `i16` with 10 fraction bits. Rounding changes it by at most
//! 0.0005 nats, and even the steadiest features of a machine scatter by hundredths. In floats no
//! feature is beyond ±27.7 nats, because an empty band has ln 1e-12. In integers an empty band may
//! be beyond ±32 and is cut off there.

mod bytes;
pub mod sealed;

pub use bytes::SnapshotBytes;
pub use sealed::{Mac, SealedBytes};

use crc::{CRC_32_ISO_HDLC, Crc, Table};

use crate::model::{AnyModel, Body, Encoding, ModelError, Numbers, format};
use crate::monitor::AnyMonitor;
use crate::signal::FrontEnd;

pub use crate::model::FRACTION_BITS;

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

/// Flag of a record: an integer monitor made its features.
pub const INTEGER_LINE: u16 = 1;
/// Flag of a window: its label is unknown, or a fault of unknown type.
pub const UNKNOWN: u16 = 1;
/// Flag of a window: samples are missing between the window before and this one.
pub const AFTER_GAP: u16 = 2;

const CRC: Crc<u32, Table<1>> = Crc::<u32, Table<1>>::new(&CRC_32_ISO_HDLC);

/// Features of the last `WINDOWS` windows; a model may have fewer features than `DIMS`.
///
/// ```
/// # macro_rules! path { () => { concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/model-v1.rbm") } }
/// use rebearing::operation::Snapshot;
/// use rebearing::{AnyMonitor, Model, Monitor};
///
/// let model = Model::parse(rebearing::include_model!(path!()))?;
/// let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model)?;
/// let mut snapshot = Snapshot::<4, 16>::new(&model)?;
/// for n in 0..2000 {
///     if let Some(finding) = monitor.push([(n as f32 * 0.7).sin()]) {
///         if finding.result.is_ok() {
///             snapshot.record(&monitor, finding.index, 0);
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
    /// The header; length and number of windows are filled in when it is written.
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

    /// An empty snapshot for the monitor of `model`, unless the model has too many features.
    pub fn new<'m, B: Body<'m>>(model: &AnyModel<'m, B>) -> Result<Self, ModelError> {
        let flags = match B::Numbers::ENCODING {
            Encoding::F32 => 0,
            Encoding::I16 => INTEGER_LINE,
        };
        let front_end = model.front_end();
        let dims = front_end.dims();
        for (what, needs, holds) in
            [("features", dims, DIMS), ("windows of a snapshot", 1, WINDOWS)]
        {
            if needs > holds {
                return Err(ModelError::DoesNotFit { what, needs, holds });
            }
        }
        Ok(Self {
            header: header(front_end, model.bytes(), flags),
            dims,
            next: 0,
            count: 0,
            indices: [0; WINDOWS],
            flags: [0; WINDOWS],
            features: [[0; DIMS]; WINDOWS],
        })
    }

    /// Keeps the features of the monitor's last window, whose finding has this `index`. `flags` are
    /// [`UNKNOWN`] and [`AFTER_GAP`], or zero.
    ///
    /// Call it for findings without a sensor fault, and with the model that the snapshot is for.
    pub fn record<'m, const AXES: usize, const CLASSES: usize>(
        &mut self,
        monitor: &impl AnyMonitor<'m, AXES, CLASSES>,
        index: u32,
        flags: u16,
    ) {
        let body = monitor.model().body();
        let features = monitor.features().iter().enumerate();
        self.push(index, flags, features.map(|(place, z)| body.raw_feature(place, *z)));
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

    /// Number of windows it holds.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Returns true if it holds no window.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Forgets all windows, for example after they were sent.
    pub fn clear(&mut self) {
        (self.next, self.count) = (0, 0);
    }

    /// The record, oldest window first.
    pub fn bytes(&self) -> SnapshotBytes<'_, DIMS, WINDOWS> {
        SnapshotBytes::new(self)
    }

    /// The record with a seal behind it, which says which device sent it. `mac` has the device's
    /// key and no bytes yet.
    ///
    /// Give each record a larger `count` than the one before it, and keep the last one over a
    /// restart. A host with the key refuses a count that comes twice or goes back.
    pub fn sealed_bytes<M: Mac>(
        &self,
        mac: M,
        device: [u8; 16],
        count: u32,
    ) -> SealedBytes<'_, M, DIMS, WINDOWS> {
        SealedBytes::new(self.bytes(), mac, device, count)
    }
}

/// The identity of a front end: the CRC-32 of its numbers. Features of two front ends mean
/// different things and must not be mixed.
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

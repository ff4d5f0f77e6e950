//! Snapshots: the host reads exactly what the device writes, and gets each window's features back.

use std::cell::RefCell;

use crate::common;
use proptest::prelude::*;
use rebearing::operation::snapshot::sealed::{self, SEAL_HEAD_LEN, SEAL_LEN};
use rebearing::operation::snapshot::{
    self, AFTER_GAP, CRC_LEN, HEADER_LEN, Mac, Snapshot, UNKNOWN, WINDOW_LEN,
};
use rebearing::{AnyMonitor, IntegerModel, IntegerMonitor, Model, ModelError, Monitor};
use rebearing_host::features::snapshot::parse;

/// Rounding error of a feature: half of 1/1024 nat, plus the cost of undoing the standardisation.
const ROUNDING: f32 = 0.5 / 1024.0 + 1e-5;

fn sample(n: u32) -> f32 {
    let noise = f32::from((n.wrapping_mul(2_654_435_761) >> 16) as u16) / 65536.0 - 0.5;
    (n as f32 * 0.7).sin() + (n as f32 * 0.000_9).cos() * (n as f32 * 1.9).sin() + 0.3 * noise
}

#[test]
fn features_come_back_to_within_rounding() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model).unwrap();
    // More room than the model needs.
    let mut snapshot = Snapshot::<9, 40>::new(&model).unwrap();
    let mut exact: Vec<(u32, Vec<f32>)> = Vec::new();
    for n in 0..20_000 {
        if let Some(finding) = monitor.push([sample(n)]) {
            let scaling = model.shift().iter().zip(model.scale());
            let raw = monitor.features().iter().zip(scaling).map(|(z, (shift, scale))| {
                (f64::from(*z) / f64::from(*scale) + f64::from(*shift)) as f32
            });
            exact.push((finding.index, raw.collect()));
            snapshot.record(&monitor, finding.index, if finding.index == 70 { UNKNOWN } else { 0 });
        }
    }
    let bytes: Vec<u8> = snapshot.bytes().collect();
    assert_eq!(bytes.len(), HEADER_LEN + 40 * (WINDOW_LEN + 8) + CRC_LEN);
    let (read, length) = parse(&bytes).unwrap();
    assert_eq!(length, bytes.len());
    let last = &exact[exact.len() - 40..];
    assert_eq!(read.windows, last.iter().map(|(index, _)| *index).collect::<Vec<_>>());
    for (found, (index, exact)) in read.features.rows().into_iter().zip(last) {
        for (found, exact) in found.iter().zip(exact) {
            assert!((found - exact).abs() <= ROUNDING, "window {index}: {found} {exact}");
        }
    }
    let flagged: Vec<u32> = read
        .windows
        .iter()
        .zip(&read.flags)
        .filter(|(_, f)| **f == UNKNOWN)
        .map(|(w, _)| *w)
        .collect();
    assert_eq!(flagged, if last[0].0 <= 70 { vec![70] } else { vec![] });
    assert_eq!((read.fft_len, read.hop, read.segments, read.axes), (256, 128, 2, 1));
    assert_eq!((read.rate_hz, read.integer), (20_000.0, false));
    assert_eq!(read.front_end_id, snapshot::front_end_id(model.front_end()));
    assert_eq!(read.model_crc.to_le_bytes(), model.bytes()[12..16]);
    // The spread of the features is far above the rounding error.
    let column = read.features.column(0);
    assert!(column.std(1.0) > 20.0 * ROUNDING, "{}", column.std(1.0));
}

#[test]
fn the_integer_monitor_gives_the_same_features() {
    let integer = IntegerModel::parse(common::GOLDEN_I16).unwrap();
    let exact = Model::parse(common::GOLDEN_GATE).unwrap();
    let mut monitor = IntegerMonitor::<256, 1, 4, 4, 3>::new(integer).unwrap();
    let mut float = Monitor::<i16, 256, 1, 4, 4, 3>::new(exact).unwrap();
    let mut of_integers = Snapshot::<4, 64>::new(&integer).unwrap();
    let mut of_floats = Snapshot::<4, 64>::new(&exact).unwrap();
    for n in 0..12_000 {
        let count = [(6000.0 * sample(n)) as i16];
        if let Some(finding) = monitor.push(count) {
            of_integers.record(&monitor, finding.index, 0);
        }
        if let Some(finding) = float.push(count) {
            of_floats.record(&float, finding.index, 0);
        }
    }
    let (integers, _) = parse(&of_integers.bytes().collect::<Vec<_>>()).unwrap();
    let (floats, _) = parse(&of_floats.bytes().collect::<Vec<_>>()).unwrap();
    assert!(integers.integer && !floats.integer);
    assert_eq!(integers.windows, floats.windows);
    assert_eq!(integers.front_end_id, floats.front_end_id);
    let off = (&integers.features - &floats.features).mapv(f32::abs);
    let worst = off.iter().copied().fold(0.0, f32::max);
    // The sum of two roundings: the integer FFT's, and that of the model's unit.
    assert!(worst < 0.01, "{worst}");
}

proptest! {
    #[test]
    fn the_last_windows_are_kept_in_order_and_chunks_do_not_matter(
        recorded in 0..23_u32,
        first in any::<u32>(),
        chunk in 1..70_usize,
        cleared in prop::option::of(0..23_u32),
    ) {
        let model = Model::parse(common::GOLDEN).unwrap();
        let monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model).unwrap();
        let mut snapshot = Snapshot::<4, 7>::new(&model).unwrap();
        let mut kept = Vec::new();
        for n in 0..recorded {
            if cleared == Some(n) {
                snapshot.clear();
                kept.clear();
            }
            snapshot.record(&monitor, first.wrapping_add(n), AFTER_GAP);
            kept.push(first.wrapping_add(n));
        }
        let kept = &kept[kept.len().saturating_sub(7)..];
        prop_assert_eq!((snapshot.len(), snapshot.is_empty()), (kept.len(), kept.is_empty()));
        let whole: Vec<u8> = snapshot.bytes().collect();
        prop_assert_eq!(snapshot.bytes().len(), whole.len());
        let mut bytes = snapshot.bytes();
        let mut pieces: Vec<u8> = Vec::new();
        let mut buffer = vec![0; chunk];
        loop {
            let filled = bytes.fill(&mut buffer);
            if filled == 0 {
                break;
            }
            pieces.extend(&buffer[..filled]);
        }
        prop_assert_eq!(&pieces, &whole);
        match parse(&whole) {
            Ok((read, _)) => prop_assert_eq!(read.windows, kept),
            Err(error) => prop_assert!(kept.is_empty(), "{}", error),
        }
    }
}

#[test]
fn a_front_end_that_differs_in_anything_has_another_id() {
    let golden = Model::parse(common::GOLDEN).unwrap();
    let orders = Model::parse(common::GOLDEN_ORDERS).unwrap();
    let front_end = *golden.front_end();
    let moved = [0, 32, 64, 97, 129];
    let mut others = vec![
        front_end,
        *orders.front_end(),
        rebearing::FrontEnd { rate_hz: 20_001.0, ..front_end },
        rebearing::FrontEnd { axes: 2, ..front_end },
        rebearing::FrontEnd { fft_len: 512, ..front_end },
        rebearing::FrontEnd { hop: 64, ..front_end },
        rebearing::FrontEnd { segments: 3, ..front_end },
        rebearing::FrontEnd { band_edges: &moved, ..front_end },
    ];
    let mut other_orders = *orders.front_end();
    if let Some(orders) = &mut other_orders.orders {
        orders.first = 1.0;
    }
    others.push(other_orders);
    let mut ids: Vec<u32> = others.iter().map(snapshot::front_end_id).collect();
    let count = ids.len();
    ids.sort_unstable();
    ids.dedup();
    assert_eq!(ids.len(), count);
}

#[test]
fn a_snapshot_refuses_what_it_cannot_hold() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let refused = Snapshot::<3, 8>::new(&model).map(|_| ());
    assert_eq!(refused, Err(ModelError::DoesNotFit { what: "features", needs: 4, holds: 3 }));
    let refused = Snapshot::<4, 0>::new(&model).map(|_| ()).unwrap_err().to_string();
    assert!(refused.contains("windows of a snapshot"), "{refused}");
    const { assert!(Snapshot::<32, 128>::RAM < 128 * (2 * 32 + 6) + 128) };
}

/// Keeps what it takes, so that a test sees what is sealed. Its tag is the number of bytes.
#[derive(Clone)]
struct Taken<'t>(&'t RefCell<Vec<u8>>);

impl Mac for Taken<'_> {
    fn absorb(&mut self, bytes: &[u8]) {
        self.0.borrow_mut().extend(bytes);
    }

    fn tag(self) -> [u8; 32] {
        [self.0.borrow().len() as u8; 32]
    }
}

#[test]
fn a_seal_follows_the_record_and_covers_it_with_device_and_count() {
    let model = Model::parse(common::GOLDEN).unwrap();
    let mut monitor = Monitor::<f32, 256, 1, 4, 3, 3>::new(model).unwrap();
    let mut snapshot = Snapshot::<4, 8>::new(&model).unwrap();
    for n in 0..2_000 {
        if let Some(finding) = monitor.push([sample(n)]) {
            snapshot.record(&monitor, finding.index, 0);
        }
    }
    let plain: Vec<u8> = snapshot.bytes().collect();
    let device = std::array::from_fn(|n| n as u8 + 1);
    let taken = RefCell::new(Vec::new());
    let sealed = snapshot.sealed_bytes(Taken(&taken), device, 0x0403_0201);
    assert_eq!(sealed.len(), plain.len() + SEAL_LEN);
    let bytes: Vec<u8> = sealed.collect();
    assert_eq!(bytes[..plain.len()], plain);
    // The layout of docs/snapshot-format.md.
    let seal = &bytes[plain.len()..];
    let head = [&b"RBSM\x01\0\0\0"[..], &device, &[1, 2, 3, 4]].concat();
    assert_eq!((seal.len(), &seal[..SEAL_HEAD_LEN]), (60, &head[..]));
    let covered = [&sealed::DOMAIN[..], &plain, &head].concat();
    assert_eq!(*taken.borrow(), covered);
    assert_eq!(seal[SEAL_HEAD_LEN..], [covered.len() as u8; 32]);

    // In packets of any size: the same bytes, then nothing.
    for size in 1..=bytes.len() + 1 {
        let taken = RefCell::new(Vec::new());
        let mut sealed = snapshot.sealed_bytes(Taken(&taken), device, 0x0403_0201);
        let (mut packet, mut sent) = (vec![0; size], Vec::<u8>::new());
        loop {
            assert_eq!(sealed.len(), bytes.len() - sent.len());
            let filled = sealed.fill(&mut packet);
            sent.extend(&packet[..filled]);
            if filled == 0 {
                break;
            }
        }
        assert_eq!(sent, bytes);
        assert_eq!((sealed.len(), sealed.next()), (0, None));
    }
}

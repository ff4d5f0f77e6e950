//! Seals of snapshots: which device sent a record, and in which order.
//!
//! A record without a seal may come from anyone, and features that nobody measured spoil the next
//! model. `rebearing::operation::snapshot::sealed` has the bytes.

use rebearing::operation::snapshot::Mac as _;
use rebearing::operation::snapshot::sealed::{
    DOMAIN, SEAL_HEAD_LEN, SEAL_LEN, SEAL_MAGIC, SEAL_VERSION, TAG_LEN, seal_head,
};
use rebearing_verify::SnapshotKey;

use super::{Snapshot, SnapshotError, SnapshotReason};

/// The seal of a record. It is not printed: what a log has, anyone may read.
#[derive(Clone, PartialEq, Eq)]
pub struct Seal {
    /// The device.
    device: [u8; 16],
    /// Larger in each record of the device.
    count: u32,
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

/// The seal at the start of `bytes`, with its tag; `None` if there is none.
pub(super) fn parse(bytes: &[u8]) -> Result<Option<(Seal, &[u8; TAG_LEN])>, SnapshotReason> {
    if !bytes.starts_with(&SEAL_MAGIC) {
        return Ok(None);
    }
    let short = SnapshotReason::TooShort { needs: SEAL_LEN, has: bytes.len() };
    let Some((head, rest)) = bytes.split_first_chunk::<SEAL_HEAD_LEN>() else { return Err(short) };
    let Some(tag) = rest.first_chunk() else { return Err(short) };
    let word = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
    if word(4) != SEAL_VERSION {
        return Err(SnapshotReason::SealVersion(word(4)));
    }
    let device = std::array::from_fn(|at| head[8 + at]);
    Ok(Some((Seal { device, count: word(24) }, tag)))
}

/// Refuses a record without a seal that holds under `key`.
pub(super) fn check(
    record: &[u8],
    seal: Option<(&Seal, &[u8; TAG_LEN])>,
    key: &SnapshotKey,
) -> Result<(), SnapshotReason> {
    let (seal, tag) = seal.ok_or(SnapshotReason::NotSealed)?;
    let mut mac = key.mac();
    for part in [&DOMAIN[..], record, &seal_head(seal.device, seal.count)] {
        mac.absorb(part);
    }
    if mac.holds(tag) { Ok(()) } else { Err(SnapshotReason::WrongSeal) }
}

/// Refuses records of several devices, and records that do not come in the order of their counts.
pub(super) fn check_order(records: &[Snapshot]) -> Result<(), SnapshotError> {
    for (before, record) in records.iter().zip(records.iter().skip(1)) {
        let (Some(one), Some(two)) = (&before.seal, &record.seal) else { continue };
        if one.device == two.device && one.count < two.count {
            continue;
        }
        let reason = if one.device != two.device {
            SnapshotReason::OtherDevice
        } else if records.iter().filter(|other| other.seal.as_ref() == Some(two)).count() > 1 {
            SnapshotReason::Repeated
        } else {
            SnapshotReason::Older
        };
        let (path, number) = (record.path.clone(), record.record);
        return Err(SnapshotError { path, record: number, byte: record.byte, reason });
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::super::tests::{record, sealed as with_crc};
    use super::super::{read, read_all};
    use super::*;

    fn key(byte: u8) -> SnapshotKey {
        SnapshotKey::from_bytes([byte; 32])
    }

    /// A record with a seal, as a device writes it.
    fn sealed(device: u8, count: u32) -> Vec<u8> {
        let mut bytes = with_crc(record());
        let mut mac = key(1).mac();
        let head = seal_head([device; 16], count);
        for part in [&DOMAIN[..], &bytes, &head] {
            mac.absorb(part);
        }
        bytes.extend(head);
        bytes.extend(mac.tag());
        bytes
    }

    /// Writes each of the files and reads all of them.
    fn read_files(files: &[&[u8]], key: Option<&SnapshotKey>) -> Result<Vec<Snapshot>, String> {
        let folder = tempfile::tempdir().unwrap();
        let paths: Vec<PathBuf> =
            (0..files.len()).map(|n| folder.path().join(format!("{n}.rbs"))).collect();
        for (path, bytes) in paths.iter().zip(files) {
            std::fs::write(path, bytes).unwrap();
        }
        read_all(&paths, key).map_err(|error| error.to_string())
    }

    #[test]
    fn a_sealed_record_is_read_with_and_without_its_key() {
        let (one, two) = (sealed(9, 1), sealed(9, 5));
        let both = [&one[..], &two].concat();
        let plain = with_crc(record());
        for key in [None, Some(&key(1))] {
            let records = read_files(&[&both, &sealed(9, 6)], key).unwrap();
            assert_eq!(records.len(), 3);
            assert!(records.iter().all(|record| record.seal.is_some()));
            assert_eq!(records[1].byte, one.len());
        }
        assert_eq!(read_files(&[&plain], None).unwrap()[0].seal, None);
        // Nothing is checked without the key.
        let mixed = [&sealed(1, 2)[..], &plain, &sealed(2, 2)].concat();
        assert_eq!(read_files(&[&mixed], None).unwrap().len(), 3);
    }

    #[test]
    fn with_the_key_every_bit_flip_cut_and_missing_seal_is_refused() {
        let whole = sealed(9, 3);
        let file = tempfile::NamedTempFile::new().unwrap();
        let paths = [file.path().to_owned()];
        let accepted = |bytes: &[u8], key: &SnapshotKey| {
            std::fs::write(file.path(), bytes).unwrap();
            read_all(&paths, Some(key)).is_ok()
        };
        assert!(accepted(&whole, &key(1)));
        assert!(!accepted(&whole, &key(2)));
        for bit in 0..8 * whole.len() {
            let mut damaged = whole.clone();
            damaged[bit / 8] ^= 1 << (bit % 8);
            assert!(!accepted(&damaged, &key(1)), "bit {bit}");
        }
        for length in 0..whole.len() {
            assert!(!accepted(&whole[..length], &key(1)), "{length}");
        }
        std::fs::write(file.path(), &whole[..whole.len() - 1]).unwrap();
        assert!(read(file.path()).is_err(), "a seal that is cut short, without the key too");
    }

    #[test]
    fn other_devices_repeats_and_wrong_orders_are_told_apart() {
        let key = key(1);
        let told = |files: &[&[u8]]| read_files(files, Some(&key)).unwrap_err();
        let (one, two, three) = (sealed(9, 1), sealed(9, 2), sealed(9, 3));
        assert!(read_files(&[&one, &three], Some(&key)).is_ok(), "a record may be lost");
        assert!(told(&[&one, &two, &one]).contains("twice"), "{}", told(&[&one, &two, &one]));
        assert!(told(&[&one, &one]).contains("twice"));
        let older = told(&[&one, &three, &two]);
        assert!(older.contains("2.rbs") && older.contains("in which the device sent"), "{older}");
        assert!(told(&[&one, &sealed(8, 2)]).contains("another device"));
        assert!(told(&[&one, &with_crc(record())]).contains("no seal"));
        let mut future = two.clone();
        future[one.len() - SEAL_LEN + 4] = 2;
        assert!(told(&[&future]).contains("version 2"), "{}", told(&[&future]));
        // Neither device nor count is repeated in a message.
        assert_eq!(format!("{:?}", read_files(&[&one], None).unwrap()[0].seal), "Some(Seal)");
    }
}

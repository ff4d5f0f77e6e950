//! Files of snapshot keys, under which devices seal their snapshots.

use std::path::Path;

pub use rebearing_verify::SnapshotKey;
use zeroize::Zeroizing;

use super::error::{KeyFileError, read_text};
use crate::files::hex;
use crate::files::private::{Readers, write_new};

/// Makes a file with a new snapshot key, which only its owner can read. Nothing is replaced.
pub fn write_new_key(path: &Path) -> Result<(), KeyFileError> {
    let mut key = Zeroizing::new([0; 32]);
    getrandom::fill(&mut *key).map_err(KeyFileError::Random)?;
    let digits = Zeroizing::new(hex(&*key));
    let text = format!("{} {} made by rebearing key new\n", SnapshotKey::WORD, *digits);
    Ok(write_new(path, Zeroizing::new(text).as_bytes(), Readers::Owner)?)
}

/// Reads the file of a snapshot key.
pub fn read(path: &Path) -> Result<SnapshotKey, KeyFileError> {
    SnapshotKey::from_text(&read_text(path)?)
        .map_err(|reason| KeyFileError::NotThisKey { path: path.into(), reason })
}

#[cfg(test)]
mod tests {
    use rebearing::operation::snapshot::Mac as _;

    use super::*;

    #[test]
    fn a_new_key_is_read_back_and_is_another_each_time() {
        let folder = tempfile::tempdir().unwrap();
        let [one, two] = ["one", "two"].map(|name| folder.path().join(name));
        write_new_key(&one).unwrap();
        write_new_key(&two).unwrap();
        assert!(write_new_key(&one).is_err(), "never replaced");
        let tag = |path| read(path).unwrap().mac().tag();
        assert_eq!(tag(&one), tag(&one));
        assert_ne!(tag(&one), tag(&two));
    }
}

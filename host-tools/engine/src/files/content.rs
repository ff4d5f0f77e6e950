//! The format of a file by its first bytes.

/// Number of bytes that [`extension_of`] looks at.
pub(crate) const BEGINNING: u64 = 32;

/// The first bytes of files, and the extension that goes with them.
const BEGINNINGS: [(&[u8], &str); 7] = [
    (b"RIFF", "wav"),
    (b"RF64", "wav"),
    (b"MATLAB 5.0 MAT-file", "mat"),
    (b"MATLAB 7.3 MAT-file", "mat"),
    (b"\x93NUMPY", "npy"),
    (b"PK\x03\x04", "npz"),
    (b"PAR1", "parquet"),
];

/// Returns the extension that goes with the first bytes of a file; `None` if they are of no known
/// format.
pub(crate) fn extension_of(beginning: &[u8]) -> Option<&'static str> {
    BEGINNINGS.iter().find(|(bytes, _)| beginning.starts_with(bytes)).map(|(_, format)| *format)
}

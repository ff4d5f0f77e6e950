//! The pieces that model files of both encodings are written from.

use rebearing::model::format;
use zerocopy::IntoBytes;

use crate::model::sections::Section;

/// The bytes on a 4-byte boundary, with zeros behind them up to a whole word.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u32> {
    let mut words = vec![0_u32; bytes.len().div_ceil(4)];
    for (place, byte) in words.as_mut_bytes().iter_mut().zip(bytes) {
        *place = *byte;
    }
    words
}

/// A model file with optional sections behind its own, for either encoding.
pub(crate) fn appended(bytes: &[u8], sections: &[Section]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    for Section { tag, payload } in sections {
        section(&mut file, *tag, |out| out.extend(payload));
    }
    seal(&mut file);
    file
}

/// The header of a file, its length and CRC-32 left to [`seal`].
pub(crate) fn start() -> Vec<u8> {
    let mut file = Vec::new();
    file.extend(format::MAGIC);
    file.extend(format::VERSION.to_le_bytes());
    file.extend([0; 2]);
    file.extend([0; 8]);
    file
}

/// Writes the length and CRC-32 of a file into its header.
pub fn seal(file: &mut [u8]) {
    let length = (file.len() as u32).to_le_bytes();
    put_at(file, format::CRC_OFFSET - 4, length);
    let crc = format::crc32(file).to_le_bytes();
    put_at(file, format::CRC_OFFSET, crc);
}

fn put_at(file: &mut [u8], offset: usize, bytes: [u8; 4]) {
    if let Some(place) = file.get_mut(offset..offset + 4) {
        place.copy_from_slice(&bytes);
    }
}

pub(crate) fn section(file: &mut Vec<u8>, tag: [u8; 4], write: impl FnOnce(&mut Vec<u8>)) {
    let mut payload = Vec::new();
    write(&mut payload);
    payload.resize(payload.len().next_multiple_of(4), 0);
    file.extend(tag);
    file.extend((payload.len() as u32).to_le_bytes());
    file.extend(payload);
}

pub(crate) fn put_words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u32>) {
    words.into_iter().for_each(|word| out.extend(word.to_le_bytes()));
}

pub(crate) fn put_floats(out: &mut Vec<u8>, floats: impl IntoIterator<Item = f64>) {
    floats.into_iter().for_each(|x| out.extend((x as f32).to_le_bytes()));
}

/// The byte where each text ends, then the texts behind one another.
pub(crate) fn put_texts<T: AsRef<str>>(out: &mut Vec<u8>, texts: &[T]) {
    let mut end = 0;
    for text in texts {
        end += text.as_ref().len() as u32;
        put_words(out, [end]);
    }
    for text in texts {
        out.extend(text.as_ref().bytes());
    }
}

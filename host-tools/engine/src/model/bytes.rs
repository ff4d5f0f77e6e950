//! Functions that write the bytes of a model file, for both encodings.

use rebearing::model::{Section, format};
use zerocopy::IntoBytes;

/// Copies the bytes to a buffer on a 4-byte boundary, and fills the rest of the last word with
/// zeros.
pub(crate) fn aligned(bytes: &[u8]) -> Vec<u32> {
    let mut words = vec![0_u32; bytes.len().div_ceil(4)];
    for (place, byte) in words.as_mut_bytes().iter_mut().zip(bytes) {
        *place = *byte;
    }
    words
}

/// A section and its payload.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Payload {
    /// The section.
    pub section: Section,
    /// Its bytes. The writer adds zeros up to a whole word.
    pub bytes: Vec<u8>,
}

/// Writes a file with each section for which `payload` returns bytes, in the order of
/// `Section::ALL`.
pub(crate) fn file(payload: impl Fn(Section) -> Option<Vec<u8>>) -> Vec<u8> {
    let mut header = Vec::new();
    header.extend(format::MAGIC);
    header.extend(format::VERSION.to_le_bytes());
    // Two reserved bytes, and room for length and checksum.
    header.extend([0; 10]);
    let sections = Section::ALL
        .iter()
        .filter_map(|section| payload(*section).map(|bytes| Payload { section: *section, bytes }));
    appended(&header, &sections.collect::<Vec<_>>())
}

/// Returns a model file of either encoding with `sections` appended.
pub(crate) fn appended(bytes: &[u8], sections: &[Payload]) -> Vec<u8> {
    let mut file = bytes.to_vec();
    for Payload { section, bytes } in sections {
        let length = bytes.len().next_multiple_of(4);
        file.extend(section.tag());
        file.extend((length as u32).to_le_bytes());
        file.extend(bytes);
        file.resize(file.len() + length - bytes.len(), 0);
    }
    seal(&mut file);
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

pub(crate) fn put_words(out: &mut Vec<u8>, words: impl IntoIterator<Item = u32>) {
    words.into_iter().for_each(|word| out.extend(word.to_le_bytes()));
}

pub(crate) fn put_floats(out: &mut Vec<u8>, floats: impl IntoIterator<Item = f64>) {
    floats.into_iter().for_each(|x| out.extend((x as f32).to_le_bytes()));
}

/// Writes the byte at which each text ends, then all texts one after another.
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

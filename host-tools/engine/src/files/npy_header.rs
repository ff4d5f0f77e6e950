//! The header of a `.npy` file: written, and checked before `npyz` parses it.
//!
//! The parser of `npyz` calls itself for every bracket, tries a bracket several times, and
//! allocates the length that the file announces. So length and depth are checked first.

use std::io::{Cursor, Read};

use npyz::NpyHeader;

/// First bytes of every file.
const MAGIC: &[u8] = b"\x93NUMPY";
/// Longest header in bytes. `NumPy` reads no longer one either.
const LONGEST: usize = 10_000;
/// Deepest nesting of brackets. A structure in a structure has six, and is not supported.
const DEEPEST: usize = 6;

/// Reads a header and nothing after it. Returns its length in bytes too. An error says what is
/// wrong.
pub(crate) fn read_header(reader: &mut impl Read) -> Result<(NpyHeader, u64), String> {
    let mut bytes = vec![0; MAGIC.len() + 2];
    reader.read_exact(&mut bytes).map_err(|error| error.to_string())?;
    if !bytes.starts_with(MAGIC) {
        return Err("its first bytes are others".into());
    }
    // Version 1 has a length of two bytes, later versions one of four.
    let start = bytes.len() + if bytes[MAGIC.len()] == 1 { 2 } else { 4 };
    bytes.resize(start, 0);
    reader.read_exact(&mut bytes[MAGIC.len() + 2..]).map_err(|error| error.to_string())?;
    let length = bytes[MAGIC.len() + 2..].iter().rev();
    let length = length.fold(0_usize, |length, &byte| length << 8 | usize::from(byte));
    if length > LONGEST {
        return Err(format!("a header of {length} bytes, at most {LONGEST} are read"));
    }
    bytes.resize(start + length, 0);
    reader.read_exact(&mut bytes[start..]).map_err(|error| error.to_string())?;
    if depth(&bytes[start..]) > DEEPEST {
        return Err(format!("its header has more than {DEEPEST} brackets inside each other"));
    }
    let length = bytes.len() as u64;
    let header = NpyHeader::from_reader(Cursor::new(bytes)).map_err(|error| error.to_string())?;
    Ok((header, length))
}

/// Returns the header of an array of this type (`<f8`, `<U5`) and shape, in C order.
pub(crate) fn header(descr: &str, shape: &[usize]) -> Vec<u8> {
    let lengths: Vec<String> = shape.iter().map(usize::to_string).collect();
    // A tuple of one keeps its comma.
    let comma = if shape.len() == 1 { "," } else { "" };
    let shape = lengths.join(", ");
    let mut text =
        format!("{{'descr': '{descr}', 'fortran_order': False, 'shape': ({shape}{comma}), }}");
    // The numbers begin at a multiple of 64 bytes; ten bytes are before the text.
    while !(MAGIC.len() + 4 + text.len() + 1).is_multiple_of(64) {
        text.push(' ');
    }
    text.push('\n');
    let length = (text.len() as u16).to_le_bytes();
    [MAGIC, &[1, 0], &length, text.as_bytes()].concat()
}

/// The deepest nesting of brackets. Brackets in quotes count too; only names of fields have them.
fn depth(header: &[u8]) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in header {
        match byte {
            b'(' | b'[' | b'{' => depth += 1,
            b')' | b']' | b'}' => depth = depth.saturating_sub(1),
            _ => (),
        }
        deepest = deepest.max(depth);
    }
    deepest
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(version: u8, length: u32, header: &str) -> Vec<u8> {
        let length = length.to_le_bytes();
        let length = &length[..if version == 1 { 2 } else { 4 }];
        [MAGIC, &[version, 0], length, header.as_bytes()].concat()
    }

    fn problem(bytes: &[u8]) -> String {
        read_header(&mut &bytes[..]).err().unwrap()
    }

    #[test]
    fn a_header_is_read_to_its_end_in_every_version() {
        let text = "{'descr': '<f4', 'fortran_order': False, 'shape': (3, 2), }\n";
        for version in [1, 2, 3] {
            let bytes = [file(version, text.len() as u32, text), vec![1; 24]].concat();
            let mut rest = bytes.as_slice();
            let (header, length) = read_header(&mut rest).unwrap();
            assert_eq!(header.shape(), [3, 2]);
            assert_eq!((length as usize, rest.len()), (bytes.len() - 24, 24));
        }
    }

    #[test]
    fn a_header_written_is_read_back() {
        for shape in [&[7][..], &[3, 2], &[0, 1_000_000]] {
            let bytes = header("<U12", shape);
            assert_eq!(bytes.len() % 64, 0);
            let (read, length) = read_header(&mut &bytes[..]).unwrap();
            assert_eq!(length as usize, bytes.len());
            assert_eq!(read.dtype().descr(), "'<U12'");
            let read: Vec<usize> = read.shape().iter().map(|&n| n as usize).collect();
            assert_eq!(read, shape);
        }
    }

    /// The parser recurses 5000 times for the first. The other two, of 260 bytes, would take it for
    /// ever.
    #[test]
    fn deep_brackets_are_refused_before_they_are_parsed() {
        for (open, close, times) in [("(", ",)", 5000), ("[", "]", 100), ("{", "}", 100)] {
            let shape = [open.repeat(times), "1".into(), close.repeat(times)].concat();
            let text = format!("{{'descr': '<f4', 'fortran_order': False, 'shape': {shape}, }}");
            let text = &text[..text.len().min(LONGEST)];
            let problem = problem(&file(1, text.len() as u32, text));
            assert!(problem.contains("brackets inside each other"), "{problem}");
        }
    }

    #[test]
    fn a_length_that_the_file_does_not_have_is_not_allocated() {
        let announced = problem(&file(2, u32::MAX, "{ "));
        assert!(announced.contains("4294967295 bytes, at most"), "{announced}");
        assert!(problem(&file(1, 200, "{ ")).contains("fill whole buffer"));
        assert!(problem(b"PK\x03\x04 and more").contains("first bytes"));
    }
}

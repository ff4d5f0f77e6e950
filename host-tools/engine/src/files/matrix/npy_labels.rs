//! Labels in `.npy` files: integers of any width, truth values, whole floats, and texts.

use std::io::{BufReader, Read};
use std::path::Path;

use npyz::{DType, Endianness, TypeChar};

use super::labels::Collector;
use super::{Labels, MatrixError};
use crate::files::input;
use crate::files::npy_header::{header, read_header};

/// Longest text of a label in bytes; `NumPy` gives every row the room of the longest.
const LONGEST: usize = 1 << 16;

/// Reads a vector of labels; a matrix of one row or one column counts as a vector.
pub(super) fn read(path: &Path) -> Result<Labels, MatrixError> {
    let io = |source| MatrixError::read(path, source);
    let content = |problem: String| MatrixError::content(path, problem);
    let file = input::open(path).map_err(io)?;
    let length = file.metadata().map_err(io)?.len();
    let mut reader = BufReader::with_capacity(1 << 16, file);
    let (header, header_length) = read_header(&mut reader).map_err(|problem| {
        content(format!("not a NumPy .npy file ({problem}); write it with numpy.save"))
    })?;
    let shape = header.shape();
    if shape.is_empty() || shape.iter().filter(|&&n| n != 1).count() > 1 {
        return Err(content(format!("an array of shape {shape:?}; give one label a row")));
    }
    let (decode, size) = decoder(&header.dtype()).ok_or_else(|| {
        content(format!(
            "labels of type {} are not supported; save with .astype('int64') or .astype(str)",
            header.dtype().descr()
        ))
    })?;
    let count = shape.iter().try_fold(1_u64, |n, &length| n.checked_mul(length));
    let data = length.saturating_sub(header_length);
    if count.and_then(|count| count.checked_mul(size as u64)) != Some(data) {
        return Err(content(format!(
            "shape {shape:?} does not fit the {data} bytes of data after the header; the file is \
             cut off or damaged, write it again with numpy.save"
        )));
    }
    let mut labels = Collector::default();
    let mut item = vec![0; size];
    for _ in 0..data / size as u64 {
        reader.read_exact(&mut item).map_err(io)?;
        decode(&mut labels, &mut item).map_err(content)?;
    }
    Ok(labels.labels())
}

/// Adds one item to the labels. It may turn the bytes of the item round.
type Decode = Box<dyn Fn(&mut Collector, &mut [u8]) -> Result<(), String>>;

/// The decoder for a type and the size of its items in bytes; `None` if the type is not supported.
fn decoder(dtype: &DType) -> Option<(Decode, usize)> {
    let DType::Plain(kind) = dtype else { return None };
    let big = kind.endianness() == Endianness::Big;
    let width = usize::try_from(kind.size_field()).ok().filter(|width| *width > 0)?;
    match (kind.type_char(), width) {
        (TypeChar::Bool, 1) => Some((Box::new(|labels, item| labels.integer(item[0] != 0)), 1)),
        (TypeChar::Int, 1 | 2 | 4 | 8) => {
            Some((Box::new(move |labels, item| labels.integer(signed(little(item, big)))), width))
        }
        (TypeChar::Uint, 1 | 2 | 4 | 8) => {
            Some((Box::new(move |labels, item| labels.integer(unsigned(little(item, big)))), width))
        }
        (TypeChar::Float, 4) => Some((
            Box::new(move |labels, item| {
                let bits = unsigned(little(item, big)) as u32;
                labels.float(f64::from(f32::from_bits(bits)))
            }),
            width,
        )),
        (TypeChar::Float, 8) => Some((
            Box::new(move |labels, item| labels.float(f64::from_bits(unsigned(little(item, big))))),
            width,
        )),
        (TypeChar::UnicodeStr, 1..=LONGEST) => {
            Some((Box::new(move |labels, item| unicode(labels, item, big)), 4 * width))
        }
        (TypeChar::ByteStr, 1..=LONGEST) => {
            Some((Box::new(|labels, item| bytes_text(labels, item)), width))
        }
        _ => None,
    }
}

/// The bytes of an item with the lowest first.
fn little(item: &mut [u8], big: bool) -> &[u8] {
    if big {
        item.reverse();
    }
    item
}

fn unsigned(item: &[u8]) -> u64 {
    item.iter().rev().fold(0, |number, &byte| number << 8 | u64::from(byte))
}

fn signed(item: &[u8]) -> i64 {
    let unused = 64 - 8 * item.len() as u32;
    (unsigned(item) << unused).cast_signed() >> unused
}

/// Adds a text of four bytes a character; zeros fill it up.
fn unicode(labels: &mut Collector, item: &mut [u8], big: bool) -> Result<(), String> {
    let mut text = String::new();
    for character in item.as_chunks_mut::<4>().0 {
        let code = unsigned(little(character, big)) as u32;
        text.push(char::from_u32(code).ok_or("a label holds no text; save with .astype(str)")?);
    }
    labels.text(text.trim_end_matches('\0'))
}

/// Adds a text of one byte a character; zeros fill it up.
fn bytes_text(labels: &mut Collector, item: &[u8]) -> Result<(), String> {
    let text = std::str::from_utf8(item)
        .map_err(|_| "a label is not in UTF-8; save with .astype(str)".to_owned())?;
    labels.text(text.trim_end_matches('\0'))
}

/// The file of labels: `int64`, or text of the longest label's length.
pub(super) fn bytes(labels: &Labels) -> Vec<u8> {
    match labels {
        Labels::Integers(numbers) => {
            let mut bytes = header("<i8", &[numbers.len()]);
            bytes.extend(numbers.iter().flat_map(|number| number.to_le_bytes()));
            bytes
        }
        Labels::Texts(texts) => {
            let longest = texts.iter().map(|text| text.chars().count()).max().unwrap_or(0).max(1);
            let mut bytes = header(&format!("<U{longest}"), &[texts.len()]);
            for text in texts {
                let codes = text.chars().map(u32::from).chain(std::iter::repeat(0));
                bytes.extend(codes.take(longest).flat_map(u32::to_le_bytes));
            }
            bytes
        }
    }
}

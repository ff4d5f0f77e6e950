//! Mixtures to evaluate, feature vectors, and the results of a reference in f64.
//!
//! The host writes a problem (`bench_device`), and QEMU loads it at the place of a model. It is
//! little-endian and begins with eight words: magic, components K, dims D, classes C, vectors, dims
//! of the early drop, case, and one word that depends on the encoding. The rest is in [`float`] and
//! [`integer`].

pub mod float;
pub mod integer;

use core::hint::black_box;

use zerocopy::FromBytes;

use super::{Digest, Row, instructions};

/// The words at the front of a problem.
#[derive(Clone, Copy)]
pub struct Header {
    /// Number of components.
    pub components: usize,
    /// Number of features.
    pub dims: usize,
    /// Number of classes.
    pub classes: usize,
    /// Number of feature vectors.
    pub vectors: usize,
    /// Dims on which all components are scored before the early drop; 0 for no early drop.
    pub early_drop: usize,
    /// `clustered` or `worst`.
    pub case: &'static str,
    /// The last word, which depends on the encoding.
    pub last: u32,
}

impl Header {
    /// Reads the header at the front of `region`, and returns it with the bytes after it. `None` if
    /// the magic differs.
    fn read(region: &[u8], magic: [u8; 4]) -> Option<(Self, &[u8])> {
        let (header, rest) = region.split_at_checked(32)?;
        let &[found, components, dims, classes, vectors, early_drop, case, last] =
            <[u32]>::ref_from_bytes(header).ok()?
        else {
            return None;
        };
        let case = match case {
            1 => "clustered",
            2 => "worst",
            _ => return None,
        };
        let [components, dims, classes, vectors, early_drop] =
            [components, dims, classes, vectors, early_drop].map(|count| count as usize);
        let header = Self { components, dims, classes, vectors, early_drop, case, last };
        (found == u32::from_le_bytes(magic)).then_some((header, rest))
    }
}

/// A way to evaluate a problem, with its working memory.
pub trait Inference {
    /// How the model's numbers are stored.
    const ENCODING: &'static str;
    /// The kernel that the crate was built with.
    const KERNEL: &'static str;
    /// A feature vector with its reference results.
    type Vector;

    /// The problem's header.
    fn header(&self) -> Header;
    /// The problem's feature vectors.
    fn vectors(&self) -> impl Iterator<Item = Self::Vector> + use<Self>;
    /// Evaluates a vector, compares the results with the reference, and adds their bits.
    fn check(&mut self, vector: &Self::Vector, bits: &mut Digest) -> Result<(), &'static str>;
    /// Evaluates a vector. The bench counts the instructions of this call.
    fn infer(&mut self, vector: &Self::Vector);
    /// Bytes of parameters in flash.
    fn parameters(&self) -> usize;
    /// Bytes of its working memory.
    fn ram(&self) -> usize;
}

/// Instructions of one inference as a row: the mean over the problem's vectors.
pub fn count<I: Inference>(inference: &mut I, case: &'static str) -> Result<Row, &'static str> {
    let mut bits = Digest::EMPTY;
    let mut total = 0_u32;
    let mut vectors = 0;
    for vector in inference.vectors() {
        inference.check(&vector, &mut bits)?;
        total += instructions(|| inference.infer(black_box(&vector)));
        vectors += 1;
    }
    let Header { components, dims, .. } = inference.header();
    Ok(Row {
        encoding: I::ENCODING,
        kernel: I::KERNEL,
        components,
        dims,
        case,
        instructions: total.checked_div(vectors).ok_or("a problem without vectors")?,
        parameters: inference.parameters(),
        ram: inference.ram(),
        bits: Some(bits),
    })
}

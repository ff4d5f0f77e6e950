//! Problems in integers.
//!
//! The header's last word is the number of fraction bits. After the header: u32 energy[K], for each
//! component i16 mean[D] and scale[D], u16 label[K][C], and for each vector i16 x[D], i32
//! log-likelihood, u16 posterior[C]. D is even, and other parts are padded to whole words.

use rebearing::integer::IntegerPart;
use zerocopy::FromBytes;

use super::Header;

/// A mixture and the feature vectors to evaluate it at.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Sizes and case.
    pub header: Header,
    /// The mixture.
    pub part: IntegerPart<'a>,
    /// A row of `classes` for each component.
    pub labels: &'a [u16],
    /// Bytes of mixture and labels.
    pub parameters: usize,
    vectors: &'a [u8],
}

/// A feature vector and its reference results.
#[derive(Clone, Copy)]
pub struct Vector<'a> {
    /// The features.
    pub x: &'a [i16],
    log_likelihood: i32,
    posterior: &'a [u16],
}

impl<'a> Problem<'a> {
    /// Reads the problem at the front of `region`; `None` if there is none.
    pub fn read(region: &'a [u8]) -> Option<Self> {
        let (header, rest) = Header::read(region, *b"BNCI")?;
        let Header { components, dims, classes, vectors, early_drop, last: fraction_bits, .. } =
            header;
        let (energies, rest) = rest.split_at_checked(4 * components)?;
        let (rows, rest) = rest.split_at_checked(4 * components * dims)?;
        let (labels, rest) =
            rest.split_at_checked((2 * components * classes).next_multiple_of(4))?;
        let energies = <[u32]>::ref_from_bytes(energies).ok()?;
        let rows = <[i16]>::ref_from_bytes(rows).ok()?;
        Some(Self {
            header,
            part: IntegerPart::new(energies, rows, dims, early_drop, fraction_bits),
            labels: <[u16]>::ref_from_bytes(labels).ok()?.get(..components * classes)?,
            parameters: size_of_val(energies) + size_of_val(rows) + labels.len(),
            vectors: rest.get(..vectors * vector_size(dims, classes))?,
        })
    }

    /// The feature vectors.
    pub fn vectors(&self) -> impl Iterator<Item = Vector<'a>> + use<'a> {
        let Header { dims, classes, .. } = self.header;
        self.vectors.chunks_exact(vector_size(dims, classes).max(1)).filter_map(move |vector| {
            let (x, rest) = vector.split_at_checked(2 * dims)?;
            let (log_likelihood, posterior) = rest.split_first_chunk()?;
            Some(Vector {
                x: <[i16]>::ref_from_bytes(x).ok()?,
                log_likelihood: i32::from_le_bytes(*log_likelihood),
                posterior: <[u16]>::ref_from_bytes(posterior).ok()?.get(..classes)?,
            })
        })
    }
}

fn vector_size(dims: usize, classes: usize) -> usize {
    2 * dims + 4 + (2 * classes).next_multiple_of(4)
}

impl Vector<'_> {
    /// Returns true if the results agree with the reference: to one nat, and to 0.1 in probability.
    /// 16 bits may cause that much error if all components lie in one place.
    pub fn agrees(&self, log_likelihood: i32, posterior: &[u16], class: usize) -> bool {
        agrees(self.log_likelihood, self.posterior, log_likelihood, posterior, class)
    }
}

/// Like [`Vector::agrees`], with the expected log-likelihood and posterior first.
pub fn agrees(
    expected: i32,
    exact: &[u16],
    log_likelihood: i32,
    posterior: &[u16],
    class: usize,
) -> bool {
    const NAT: u32 = 256;
    const TENTH: u16 = 3277;
    let largest = exact.iter().copied().max().unwrap_or(0);
    log_likelihood.abs_diff(expected) <= NAT
        && posterior.len() == exact.len()
        && posterior.iter().zip(exact).all(|(a, b)| a.abs_diff(*b) <= TENTH)
        && exact.get(class).is_some_and(|p| *p >= largest.saturating_sub(TENTH))
}

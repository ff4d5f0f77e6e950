//! Problems in f32.
//!
//! After the header: u32 order[D], then as f32 constant[K], for each component r[D] and m[D],
//! label[K][C], and for each vector x[D], log-likelihood, posterior[C], responsibility[K].

use zerocopy::FromBytes;

use super::Header;

/// A mixture and the feature vectors to evaluate it at.
#[derive(Clone, Copy)]
pub struct Problem<'a> {
    /// Sizes and case.
    pub header: Header,
    /// The dims in the order used by the components.
    pub order: &'a [u32],
    /// A constant for each component.
    pub constants: &'a [f32],
    /// For each component `dims` scales, then `dims` offsets.
    pub whitening: &'a [f32],
    /// A row of `classes` for each component.
    pub labels: &'a [f32],
    vectors: &'a [f32],
}

/// A feature vector and its reference results.
#[derive(Clone, Copy)]
pub struct Vector<'a> {
    /// The features.
    pub x: &'a [f32],
    log_likelihood: f32,
    posterior: &'a [f32],
    responsibilities: &'a [f32],
}

impl<'a> Problem<'a> {
    /// Reads the problem at the front of `region`; `None` if there is none.
    pub fn read(region: &'a [u8]) -> Option<Self> {
        let (header, rest) = Header::read(region, *b"BNCH")?;
        let Header { components, dims, classes, vectors, .. } = header;
        let (order, rest) = rest.split_at_checked(4 * dims)?;
        let order = <[u32]>::ref_from_bytes(order).ok()?;
        let rest = <[f32]>::ref_from_bytes(rest.get(..rest.len() & !3)?).ok()?;
        let (constants, rest) = rest.split_at_checked(components)?;
        let (whitening, rest) = rest.split_at_checked(2 * components * dims)?;
        let (labels, rest) = rest.split_at_checked(components * classes)?;
        let vectors = rest.get(..vectors * (dims + 1 + classes + components))?;
        Some(Self { header, order, constants, whitening, labels, vectors })
    }

    /// Bytes of the mixture and its labels.
    pub fn parameters(&self) -> usize {
        size_of_val(self.constants) + size_of_val(self.whitening) + size_of_val(self.labels)
    }

    /// The feature vectors.
    pub fn vectors(&self) -> impl Iterator<Item = Vector<'a>> + use<'a> {
        let Header { components, dims, classes, .. } = self.header;
        let size = (dims + 1 + classes + components).max(1);
        self.vectors.chunks_exact(size).filter_map(move |vector| {
            let (x, rest) = vector.split_at_checked(dims)?;
            let (log_likelihood, rest) = rest.split_first()?;
            let (posterior, responsibilities) = rest.split_at_checked(classes)?;
            Some(Vector { x, log_likelihood: *log_likelihood, posterior, responsibilities })
        })
    }
}

impl Vector<'_> {
    /// Returns true if the results agree with the reference. The tolerance is 1e-5 of the
    /// log-likelihood: rounding each of its terms may cause that much error. The same then holds
    /// for the logarithm of a probability.
    pub fn agrees(&self, log_likelihood: f32, responsibilities: &[f32], posterior: &[f32]) -> bool {
        let bound = 1e-5 * (self.log_likelihood.abs() + 10.0);
        let near = |a: f32, b: f32| (a - b).abs() <= bound;
        let all =
            |a: &[f32], b: &[f32]| a.len() == b.len() && a.iter().zip(b).all(|(a, b)| near(*a, *b));
        near(log_likelihood, self.log_likelihood)
            && all(responsibilities, self.responsibilities)
            && all(posterior, self.posterior)
    }

    /// Returns true if `class` has the largest posterior, or one so close that rounding decides.
    pub fn agrees_on_class(&self, class: usize) -> bool {
        let bound = 1e-5 * (self.log_likelihood.abs() + 10.0);
        let largest = self.posterior.iter().copied().fold(0.0, f32::max);
        self.posterior.get(class).is_some_and(|p| *p >= largest - bound)
    }
}

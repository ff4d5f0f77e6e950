//! A mixture in integers, as it lies in the model file.

/// Maximum number of fraction bits of energies.
pub const MAX_FRACTION_BITS: u32 = 12;

/// One mixture of a model: the gate's, or the one that tells the classes apart.
#[derive(Debug, Clone, Copy)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerPart<'a> {
    pub(super) energies: &'a [u32],
    pub(super) parameters: &'a [i16],
    pub(super) dims: usize,
    /// Number of features on which all components are scored before any is dropped; zero drops
    /// none.
    pub early_drop: usize,
    /// Fraction bits of energies, which are logarithms to base 2; at most 12.
    pub fraction_bits: u32,
    /// Largest log density of any component, at its mean, in units of energies.
    pub top: i32,
}

/// One diagonal Gaussian.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct IntegerComponent<'a> {
    /// Energy at the mean.
    pub energy: u32,
    /// Mean of each feature, in units of the model; at most 16383 either way.
    pub means: &'a [i16],
    /// 1/σ of each feature in units of the model, above zero.
    pub scales: &'a [i16],
}

impl<'a> IntegerPart<'a> {
    /// Creates a mixture from the energies and parameters of its components. Each component has the
    /// means and then the scales of `dims` features, each padded to an even number.
    ///
    /// Meant for benchmarks; a model creates its own. The largest log density counts as zero.
    pub fn new(
        energies: &'a [u32],
        parameters: &'a [i16],
        dims: usize,
        early_drop: usize,
        fraction_bits: u32,
    ) -> Self {
        let fraction_bits = fraction_bits.min(MAX_FRACTION_BITS);
        Self { energies, parameters, dims, early_drop, fraction_bits, top: 0 }
    }

    /// Number of components.
    pub fn len(&self) -> usize {
        self.energies.len()
    }

    /// Returns true if there are no components.
    pub fn is_empty(&self) -> bool {
        self.energies.is_empty()
    }

    /// The components in file order.
    pub fn components(&self) -> impl Iterator<Item = IntegerComponent<'a>> + use<'a> {
        let dims = self.dims;
        let padded = padded(dims);
        let rows = self.parameters.chunks_exact((2 * padded).max(1));
        self.energies.iter().zip(rows).map(move |(energy, row)| component(*energy, row, dims))
    }

    /// Returns one component, or `None` past the last.
    pub fn component(&self, index: usize) -> Option<IntegerComponent<'a>> {
        let row = 2 * padded(self.dims);
        let parameters = self.parameters.get(index * row..)?.get(..row)?;
        Some(component(*self.energies.get(index)?, parameters, self.dims))
    }
}

fn component(energy: u32, row: &[i16], dims: usize) -> IntegerComponent<'_> {
    let (means, scales) = row.split_at_checked(padded(dims)).unwrap_or((&[], &[]));
    IntegerComponent {
        energy,
        means: means.get(..dims).unwrap_or(&[]),
        scales: scales.get(..dims).unwrap_or(&[]),
    }
}

/// Returns how many 16-bit numbers `dims` of them take in whole words.
pub(crate) fn padded(dims: usize) -> usize {
    dims.next_multiple_of(2)
}

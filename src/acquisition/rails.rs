//! The ends of a sensor's range.

/// The values that a sensor gives only when it is driven beyond its range.
#[derive(Debug, Clone, Copy, PartialEq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Rails<S> {
    /// This value and all below it are clipped.
    pub least: S,
    /// This value and all above it are clipped.
    pub most: S,
}

impl Rails<i16> {
    /// The rails of a sensor that uses all sixteen bits.
    pub const FULL: Self = Self { least: i16::MIN, most: i16::MAX };
}

impl<S: PartialOrd> Rails<S> {
    /// Returns true if any axis is clipped. NaN is not clipped; the monitor reports it.
    pub fn clip<const AXES: usize>(&self, sample: &[S; AXES]) -> bool {
        sample.iter().any(|x| *x <= self.least || *x >= self.most)
    }
}

//! The two kinds of samples that sensors deliver.

/// A sample as a sensor delivers it: `f32` in any unit, or `i16` counts.
///
/// Labels do not depend on the unit, because the level is removed from the features. Rms, severity
/// and the idle state do. A monitor of `i16` samples needs half the segment memory.
pub trait Sample: Copy + PartialOrd + private::Sealed {
    /// The value that a cleared segment holds.
    const ZERO: Self;
    /// True if samples are the sensor's counts, false if they are in the unit of the recordings.
    const COUNTS: bool;
    /// The sample as `f32`, exactly.
    fn to_f32(self) -> f32;
}

mod private {
    pub trait Sealed {}
    impl Sealed for f32 {}
    impl Sealed for i16 {}
}

impl Sample for f32 {
    const ZERO: Self = 0.0;
    const COUNTS: bool = false;
    fn to_f32(self) -> f32 {
        self
    }
}

impl Sample for i16 {
    const ZERO: Self = 0;
    const COUNTS: bool = true;
    fn to_f32(self) -> f32 {
        f32::from(self)
    }
}

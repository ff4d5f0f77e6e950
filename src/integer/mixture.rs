//! Features to responsibilities: squared distances in i16, log-sum-exp in fixed point.
//!
//! A component stores its mean μ and r = 1/σ as `i16`. t is (x − μ)·r/2¹⁶, rounded. The *energy* of
//! a component is Σt² plus the difference between the largest constant and its own. The host
//! chooses the scale of t so that an energy is minus the log density in base 2 with `fraction_bits`
//! fraction bits. So there is no multiplication between the squares and the exponential.
//!
//! **Bounds.** |x|, |μ| ≤ 16383 and 0 ≤ r ≤ 32767, so |x − μ| < 2¹⁵, the product is below 2³⁰, |t|
//! ≤ 2¹⁴ and a square is at most 2²⁸. The sum of eight squares stays below 2³². Such sums are added
//! with saturation: an energy of 2³² − 1 means *at least that far*.
//!
//! The loop over the dimensions is in [`kernel`](super::kernel).
//!
//! **Early drop.** A weight 2^−gap is exactly zero once the gap to the lowest energy exceeds
//! [`REACH`] (20.8 nats). Energies only grow with every dimension. So a component farther than that
//! from a finished one can be dropped, and no bit of any result changes.

use super::kernel::add_squares;
use super::math::{WEIGHT_FRACTION, exp2_negative, log2};
use super::part::{IntegerComponent, IntegerPart};

/// Largest magnitude of a feature and of a mean.
pub const MAX_FEATURE: i32 = 16_383;
/// Gap, in units of base-2 logarithm, beyond which a weight is exactly zero.
pub const REACH: u32 = WEIGHT_FRACTION;

/// How well a mixture explains a feature vector.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub struct Likelihood {
    /// Log-likelihood in nats, Q8. The smallest `i32` means that value or less.
    pub log_likelihood: i32,
    /// Sum of the weights from [`weights`], Q30; at least one.
    pub total: u64,
}

/// Writes the energy of `x` under each component to `energies`.
pub fn energies(part: &IntegerPart<'_>, x: &[i16], energies: &mut [u32]) {
    for (energy, component) in energies.iter_mut().zip(part.components()) {
        *energy = add_squares(component.energy, x, component.means, component.scales);
    }
}

/// As [`energies`], but drops components that cannot change a weight. A dropped component gets the
/// largest energy there is.
///
/// All components are scored on the first `part.early_drop` dimensions. The one with the lowest
/// energy is finished. The others go on only if they are within [`REACH`] of the lowest. If
/// `part.early_drop` is zero, the host found that early drop does not pay, and no component is
/// dropped.
pub fn energies_with_early_drop(part: &IntegerPart<'_>, x: &[i16], energies: &mut [u32]) {
    if part.early_drop == 0 {
        self::energies(part, x, energies);
        return;
    }
    let split = part.early_drop.min(x.len());
    let (near, far) = x.split_at_checked(split).unwrap_or((x, &[]));
    let mut leader = 0;
    let mut lowest = u32::MAX;
    for (k, (energy, component)) in energies.iter_mut().zip(part.components()).enumerate() {
        *energy = add_squares(component.energy, near, component.means, component.scales);
        if *energy < lowest {
            lowest = *energy;
            leader = k;
        }
    }
    let reach = REACH << part.fraction_bits;
    let finish = |energy: u32, component: &IntegerComponent<'_>| {
        let means = component.means.get(split..).unwrap_or(&[]);
        let scales = component.scales.get(split..).unwrap_or(&[]);
        add_squares(energy, far, means, scales)
    };
    if let (Some(energy), Some(component)) = (energies.get_mut(leader), part.component(leader)) {
        *energy = finish(*energy, &component);
        lowest = *energy;
    }
    for (k, (energy, component)) in energies.iter_mut().zip(part.components()).enumerate() {
        if k == leader {
            continue;
        }
        if *energy > lowest.saturating_add(reach) {
            *energy = u32::MAX;
        } else {
            *energy = finish(*energy, &component);
            lowest = lowest.min(*energy);
        }
    }
}

/// Turns energies into weights 2^−gap in Q30, in place, and returns the log-likelihood and the sum
/// of the weights. The responsibility of a component is its weight over that sum.
pub fn weights(part: &IntegerPart<'_>, energies: &mut [u32]) -> Likelihood {
    let lowest = energies.iter().copied().min().unwrap_or(u32::MAX);
    // At most 4096 weights of 2³⁰.
    let mut total = 0_u64;
    for energy in energies.iter_mut() {
        *energy = exp2_negative(energy.saturating_sub(lowest), part.fraction_bits);
        total += u64::from(*energy);
    }
    let total = total.max(1);
    // All in Q16: the energies reach 2³²·2¹⁶, far inside an i64.
    let scale = 16 - part.fraction_bits;
    let of_weights = i64::from(log2(total)) - i64::from(WEIGHT_FRACTION << 16);
    let log2_likelihood = ((i64::from(part.top) - i64::from(lowest)) << scale) + of_weights;
    Likelihood { log_likelihood: to_nats(log2_likelihood), total }
}

/// Converts a base-2 logarithm in Q16 to nats in Q8, limited to the range of an `i32`.
fn to_nats(log2: i64) -> i32 {
    /// ln 2 in Q17. The logarithm is below 2⁴⁹, so in Q12 its product stays below 2⁶².
    const LN_2: i64 = 90_852;
    let nats = ((log2 >> 4) * LN_2 + (1 << 20)) >> 21;
    nats.clamp(i64::from(i32::MIN), i64::from(i32::MAX)) as i32
}

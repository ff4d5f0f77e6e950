//! Chooses on how many features an i16 model scores all components before it drops any.
//! [`float`](super::float) does the same for f32 models.
//!
//! As for f32 models, a vector of component j has a mean distance of `Σ (σ_j² + (μ_j − μ_k)²)/σ_k²`
//! from component k. This distance tells after how many features k is dropped. The number with the
//! least expected work is chosen. It is zero, which drops nothing, in two cases: the expected work
//! is not less than that of the full evaluation, or the worst case, in which nothing is dropped,
//! would take much more.

use rebearing::classify::Component;
use rebearing::integer::kernel::STRIDE;
use rebearing::integer::mixture::REACH;

/// Instructions for one feature of one component.
///
/// This count and those below are for a Cortex-M0, from `cargo xtask bench device`.
const FEATURE: f64 = 13.7;
/// Instructions to check one component after the first features.
const LOOK: f64 = 50.0;
/// Instructions to continue with one component, not counting its features.
const FINISH: f64 = 130.0;
/// Instructions for a component with a share in the result, not counting its features.
const SHARE: f64 = 300.0;

/// Largest extra cost of the worst case, in which nothing is dropped, as a share of the full
/// evaluation.
const WORST: f64 = 0.25;

/// Returns the number of first features with the least expected work, a multiple of eight; zero for
/// no early drop.
///
/// `order` holds the places of the components' features. Features that separate the components best
/// come first.
pub fn early_drop(components: &[Component<'_>], order: &[u32]) -> usize {
    let (k, d) = (components.len() as f64, order.len() as f64);
    if LOOK + FINISH > WORST * (FEATURE * d + SHARE) {
        return 0;
    }
    let work = survivors(components, order).into_iter().zip(1..).map(|(survivors, block)| {
        let first = (block * STRIDE) as f64;
        let work = k * (FEATURE * first + LOOK) + survivors * (FINISH + FEATURE * (d - first));
        (block * STRIDE, work)
    });
    work.min_by(|a, b| a.1.total_cmp(&b.1))
        .filter(|(_, work)| *work < k * FEATURE * d)
        .map_or(0, |(early_drop, _)| early_drop)
}

/// Returns the expected number of components that are left after each eight features except the
/// last.
fn survivors(components: &[Component<'_>], order: &[u32]) -> Vec<f64> {
    let mut survivors = vec![0.0; order.len().saturating_sub(1) / STRIDE];
    // ln π, except for a term that all components share: the constant holds −Σ ln σ, and the scale
    // is 1/σ.
    let ln_weight = |c: &Component<'_>| {
        f64::from(c.constant) - c.scale.iter().map(|r| f64::from(*r).ln()).sum::<f64>()
    };
    let largest = components.iter().map(ln_weight).fold(f64::NEG_INFINITY, f64::max);
    let weights: Vec<f64> = components.iter().map(|c| (ln_weight(c) - largest).exp()).collect();
    let total: f64 = weights.iter().sum();
    let reach = f64::from(REACH) * std::f64::consts::LN_2;
    for (j, weight) in components.iter().zip(&weights) {
        let least = f64::from(j.constant) - 0.5 * order.len() as f64 - reach;
        for k in components {
            let mut bound = f64::from(k.constant);
            for (eight, survivors) in order.chunks(STRIDE).zip(&mut survivors) {
                for &place in eight {
                    let place = place as usize;
                    let [rj, mj, rk, mk] =
                        [j.scale[place], j.offset[place], k.scale[place], k.offset[place]]
                            .map(f64::from);
                    // t of k at the mean of j, and σ_j in units of σ_k.
                    let apart = mk - rk / rj * mj;
                    bound -= 0.5 * ((rk / rj).powi(2) + apart.powi(2));
                }
                if bound < least {
                    break;
                }
                *survivors += weight / total;
            }
        }
    }
    survivors
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chooses for components of width one that are `apart` from one another in each feature.
    fn choose(count: usize, dims: usize, apart: f32) -> usize {
        let scale = vec![1.0; dims];
        let offsets: Vec<Vec<f32>> = (0..count).map(|k| vec![-apart * k as f32; dims]).collect();
        let components: Vec<Component<'_>> = offsets
            .iter()
            .map(|offset| Component { constant: 0.0, scale: &scale, offset })
            .collect();
        let order: Vec<u32> = (0..dims as u32).collect();
        early_drop(&components, &order)
    }

    #[test]
    fn components_far_apart_are_dropped_after_the_first_eight_features() {
        assert_eq!(choose(40, 128, 9.0), 8);
        // Half a width apart, 8 features leave about 16 components, and 24 features leave 8. By
        // hand, that is 35k and 28k instructions.
        assert_eq!(choose(40, 128, 0.5), 24);
    }

    #[test]
    fn none_is_dropped_where_that_takes_more() {
        assert_eq!(choose(40, 128, 0.0), 0);
        assert_eq!(choose(10, 16, 9.0), 0);
        assert_eq!(choose(1, 128, 9.0), 0);
        assert_eq!(choose(40, 8, 9.0), 0);
        assert_eq!(choose(0, 32, 9.0), 0);
    }
}

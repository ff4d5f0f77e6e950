//! Two states in a pool that was declared healthy.
//!
//! If a fault was there while the healthy machine was recorded, it becomes part of *healthy* and is
//! never found. Such a pool has two groups of windows, about as far apart as a healthy machine and a
//! fault. So do two regimes of a healthy machine that are far apart: a user can tell.

use std::cmp::Reverse;
use std::fmt;

use ndarray::Array1;

use super::reference::{HealthyReference, distance};
use crate::features::extract::Features;
use crate::mixture::{InvalidMixture, Mixture};
use crate::words::plural;

/// Least share of the windows in each of the two states.
const LEAST_SHARE: f64 = 0.05;
/// Least distance of two states, in units of the distance from healthy to a typical fault.
const LEAST_DISTANCE: f64 = 0.5;
/// A recording is of one state if at least this share of its windows is.
const MOST_WINDOWS: f64 = 0.9;

/// Two groups of windows that are as far apart as a healthy machine and a fault.
#[derive(Debug, Clone, PartialEq)]
pub struct TwoStates {
    /// Distance of their means, in units of the distance from healthy to a typical fault.
    pub distance: f64,
    /// Number of windows in each state.
    pub windows: [usize; 2],
    /// The recordings of each state, counted from zero, if every recording is of one state.
    pub recordings: Option<[Vec<usize>; 2]>,
}

impl TwoStates {
    /// Looks for two states in a pool that `mixture` was fitted to.
    pub fn find(
        mixture: &Mixture,
        pool: &Features,
        known: &HealthyReference,
    ) -> Result<Option<Self>, InvalidMixture> {
        let Some((second, distance)) = farthest(mixture, known.fault_distance) else {
            return Ok(None);
        };
        let responsibilities = mixture.responsibilities(pool.x.view())?;
        let mut states = Vec::with_capacity(pool.recording.len());
        for row in responsibilities.rows() {
            let share: f64 = row.iter().zip(&second).filter(|(_, is)| **is).map(|(r, _)| r).sum();
            states.push(usize::from(share > 0.5));
        }
        let of_second: usize = states.iter().sum();
        let mut windows = [states.len() - of_second, of_second];
        let mut recordings = separate(&pool.recording, &states);
        // The larger state comes first, and of two equal ones that of the first recording.
        let order = |state: usize| {
            let first = recordings.as_ref().and_then(|of| of[state].iter().min().copied());
            (Reverse(windows[state]), first)
        };
        if order(1) < order(0) {
            windows.reverse();
            if let Some(recordings) = &mut recordings {
                recordings.reverse();
            }
        }
        Ok(Some(Self { distance, windows, recordings }))
    }
}

/// The two groups of components that lie farthest apart: whether each component is in the second
/// group, and their distance. `None` if they are nearer than a fault would be.
fn farthest(mixture: &Mixture, fault_distance: f64) -> Option<(Vec<bool>, f64)> {
    let components = mixture.components();
    let mut found: Option<(Vec<bool>, f64)> = None;
    // The last component is in the second group: the order of the groups does not matter.
    for first in 1_u32..1 << (components - 1) {
        let second: Vec<bool> = (0..components).map(|k| first >> k & 1 == 0).collect();
        let moments = |group: bool| {
            let is = second.iter().map(|second| f64::from(u8::from(*second == group)));
            let weights = &mixture.weights * &is.collect::<Array1<f64>>();
            let share = weights.sum();
            (share, mixture.means.t().dot(&weights) / share.max(f64::MIN_POSITIVE))
        };
        let [(share, mean), (other_share, other_mean)] = [false, true].map(moments);
        let apart = distance(&mean, &other_mean) / fault_distance.max(f64::MIN_POSITIVE);
        if share.min(other_share) >= LEAST_SHARE
            && apart > found.as_ref().map_or(LEAST_DISTANCE, |(_, farthest)| *farthest)
        {
            found = Some((second, apart));
        }
    }
    found
}

/// The recordings of each state; `None` if a recording has both.
fn separate(recording: &[usize], states: &[usize]) -> Option<[Vec<usize>; 2]> {
    let mut recordings = [Vec::new(), Vec::new()];
    let mut start = 0;
    for windows in recording.chunk_by(|a, b| a == b) {
        let of_second: usize = states[start..start + windows.len()].iter().sum();
        let share = of_second as f64 / windows.len() as f64;
        if share.max(1.0 - share) < MOST_WINDOWS {
            return None;
        }
        recordings[usize::from(share > 0.5)].push(windows[0]);
        start += windows.len();
    }
    Some(recordings)
}

impl fmt::Display for TwoStates {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "the pool was declared healthy, but it holds two states that differ by {:.1} of the distance to a \
             typical fault: ",
            self.distance
        )?;
        let [first, second] = self.windows.map(|count| plural(count, "window", "windows"));
        match &self.recordings {
            Some(recordings) => {
                let [a, b] = [0, 1].map(|state| numbers(&recordings[state]));
                write!(f, "{a} ({first}) against {b} ({second})")?;
            }
            None => write!(f, "{first} against {second}")?,
        }
        f.write_str("; check that none of them is faulty")
    }
}

/// The numbers of recordings, counted from one.
fn numbers(recordings: &[usize]) -> String {
    let list: Vec<String> = recordings.iter().map(|index| (index + 1).to_string()).collect();
    let noun = if list.len() == 1 { "recording" } else { "recordings" };
    format!("{noun} {}", list.join(", "))
}

#[cfg(test)]
mod tests {
    use ndarray::{Array2, array};

    use super::super::reference::Reference;
    use super::super::reference::tests::source;
    use super::super::verdict::{AdaptSettings, Pool, adapt};
    use super::*;
    use crate::mixture::Covariance;
    use crate::simulate::random::Random;

    /// A fault of the source is 2.83 away.
    fn find(means: &Array2<f64>, weights: &[f64], rows: &[(f32, usize)]) -> Option<TwoStates> {
        let mixture = Mixture {
            weights: weights.iter().copied().collect(),
            means: means.clone(),
            covariance: Covariance::Diagonal(Array2::from_elem(means.dim(), 0.01)),
        };
        let x = Array2::from_shape_fn(
            (rows.len(), 2),
            |(row, i)| if i == 0 { rows[row].0 } else { 2.0 },
        );
        let recording = rows.iter().map(|(_, recording)| *recording).collect();
        let known = Reference::new(&source()).unwrap().healthy.unwrap();
        TwoStates::find(&mixture, &Features { x, recording, stride: 1 }, &known).unwrap()
    }

    #[test]
    fn two_states_far_apart_are_found_with_their_recordings() {
        let means = array![[1.0, 2.0], [1.1, 2.0], [5.0, 2.0]];
        let rows = [(1.0, 0), (1.1, 0), (5.0, 1), (5.0, 1), (1.0, 2)];
        let states = find(&means, &[0.3, 0.3, 0.4], &rows).unwrap();
        assert_eq!(states.windows, [3, 2]);
        assert_eq!(states.recordings, Some([vec![0, 2], vec![1]]));
        let text = states.to_string();
        assert!(
            text.contains("recordings 1, 3 (3 windows) against recording 2 (2 windows)"),
            "{text}"
        );
        assert!(text.contains("differ by 1.0 of the distance"), "{text}");
        let swapped = [(5.0, 0), (5.0, 2), (1.0, 1), (1.0, 3)];
        let states = find(&means, &[0.3, 0.3, 0.4], &swapped).unwrap();
        assert_eq!(states.recordings, Some([vec![0, 2], vec![1, 3]]));
        let mixed = [(1.0, 0), (5.0, 0)];
        let text = find(&means, &[0.3, 0.3, 0.4], &mixed).unwrap().to_string();
        assert!(text.contains(": 1 window against 1 window; check"), "{text}");
    }

    #[test]
    fn near_states_rare_states_and_one_state_are_none() {
        let rows = [(1.0, 0)];
        assert_eq!(find(&array![[1.0, 2.0], [2.9, 2.0]], &[0.5, 0.5], &rows), None);
        assert_eq!(find(&array![[1.0, 2.0], [5.0, 2.0]], &[0.96, 0.04], &rows), None);
        assert_eq!(find(&array![[1.0, 2.0]], &[1.0], &rows), None);
        assert!(find(&array![[1.0, 2.0], [3.1, 2.0]], &[0.06, 0.94], &rows).is_some());
    }

    /// Windows of 256 samples at 100 Hz around a mean of the first feature.
    fn warnings(pool: &[(f64, usize)]) -> Vec<String> {
        let mut random = Random::new(3, 0);
        let (mut values, mut recording) = (Vec::new(), Vec::new());
        for (index, (mean, windows)) in pool.iter().enumerate() {
            for _ in 0..*windows {
                values.extend([*mean, 2.0].map(|x| (x + 0.1 * random.normal()) as f32));
                recording.push(index);
            }
        }
        let x = Array2::from_shape_vec((recording.len(), 2), values).unwrap();
        let pool = Features { x, recording, stride: 256 };
        let settings = AdaptSettings { pool_is: Pool::Healthy, ..AdaptSettings::default() };
        adapt(&source().into(), &pool, &settings).unwrap().warnings
    }

    #[test]
    fn a_pool_that_was_declared_healthy_gets_its_warnings() {
        assert!(warnings(&[(1.0, 60), (1.1, 60)]).is_empty());
        let two = warnings(&[(1.0, 60), (5.0, 40)]);
        assert_eq!(two.len(), 1, "{two:?}");
        assert!(two[0].contains("recording 1 (60 windows) against recording 2"), "{two:?}");
        let short = warnings(&[(1.0, 9)]);
        assert_eq!(short.len(), 1, "{short:?}");
        assert!(short[0].contains("23.04 s") && short[0].contains("33.28 s"), "{short:?}");
    }
}

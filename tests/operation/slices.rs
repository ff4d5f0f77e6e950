//! Samples in slices: however they are cut, the findings are those of single samples.

use crate::common;
use proptest::collection::vec;
use proptest::prelude::*;
use rebearing::acquisition::{Rails, SampleSource};
use rebearing::monitor::acquire;
use rebearing::signal::Segment;
use rebearing::{AnyMonitor, IntegerModel, IntegerMonitor, Model, Monitor, SensorFault};

type Small = Monitor<'static, i16, 256, 1, 4, 3, 3>;
type SmallInteger = IntegerMonitor<'static, 256, 1, 4, 8, 4>;

fn monitor() -> Small {
    Small::new(Model::parse(common::GOLDEN).unwrap()).unwrap()
}

fn integer_monitor() -> SmallInteger {
    SmallInteger::new(IntegerModel::parse(common::GOLDEN_I16).unwrap()).unwrap()
}

/// Samples with some at a rail; a larger `clipped` gives more of them. Some signals are constant
/// for a whole window.
fn samples(count: usize) -> impl Strategy<Value = Vec<[i16; 1]>> {
    (vec(any::<i16>(), count), 0..4_u16, 0..2 * count).prop_map(|(x, clipped, stuck)| {
        let at_rail = |x: i16| clipped > 0 && x.unsigned_abs() % 509 < clipped * clipped;
        let sample = |(n, x): (usize, &i16)| match *x {
            _ if (stuck..stuck + 400).contains(&n) => [77],
            x if at_rail(x) => [i16::MAX],
            x => [x / 2],
        };
        x.iter().enumerate().map(sample).collect()
    })
}

/// Cuts `all` into pieces of the given lengths, repeated to the end. Pieces may be empty.
fn pieces<'a, T>(all: &'a [T], lengths: &'a [usize]) -> impl Iterator<Item = &'a [T]> {
    let mut left = all;
    lengths.iter().cycle().map_while(move |length| {
        let (piece, rest) = left.split_at_checked(*length).unwrap_or((left, &[]));
        (!left.is_empty()).then(|| left = rest).map(|()| piece)
    })
}

/// Lengths from zero to more than a window.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let length = prop_oneof![0..9_usize, 100..140_usize, 200..700_usize];
    // One length is not zero; otherwise the pieces would never end.
    (vec(length, 0..6), 1..300_usize).prop_map(|(mut lengths, last)| {
        lengths.push(last);
        lengths
    })
}

/// A source that hands over its samples in pieces.
struct Pieces<'a, I: Iterator<Item = &'a [[i16; 1]]>>(I);

impl<'a, I: Iterator<Item = &'a [[i16; 1]]>> SampleSource<i16, 1> for Pieces<'a, I> {
    fn read(&mut self, samples: &mut [[i16; 1]]) -> Result<usize, SensorFault> {
        let piece = self.0.next().unwrap_or_default();
        samples[..piece.len()].copy_from_slice(piece);
        Ok(piece.len())
    }
}

/// Checks the findings of a new monitor, in slices and in steps, against those of single samples.
fn check_findings<'m, M, const CLASSES: usize>(
    new: &M,
    x: &[[i16; 1]],
    lengths: &[usize],
) -> Result<(), TestCaseError>
where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16> + Clone,
{
    let mut single = new.clone();
    let expected: Vec<_> = x.iter().filter_map(|x| single.push(*x)).collect();
    prop_assert!(expected.len() >= 5);
    let (mut sliced, mut findings) = (new.clone(), Vec::new());
    for piece in pieces(x, lengths) {
        sliced.push_slice(piece, |finding| findings.push(finding));
    }
    prop_assert_eq!(&findings, &expected);

    let (mut stepped, mut findings) = (new.clone(), Vec::new());
    for piece in pieces(x, lengths) {
        let mut left = piece;
        while let (Some(finding), rest) = stepped.push_until_finding(left) {
            findings.push(finding);
            left = rest;
        }
    }
    prop_assert_eq!(&findings, &expected);
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn a_window_fills_as_by_single_samples(
        x in vec(any::<[i16; 3]>(), 1..500),
        lengths in lengths(),
        length in 1..=64_usize,
        hop in 1..=64_usize,
    ) {
        let mut single = Segment::<i16, 64, 3>::new(length, hop);
        let mut filled = single.clone();
        for piece in pieces(&x, &lengths) {
            let mut left = piece;
            for (n, sample) in piece.iter().enumerate() {
                if single.push(*sample) {
                    let full;
                    (full, left) = filled.fill(left);
                    prop_assert!(full);
                    prop_assert_eq!(left.len(), piece.len() - n - 1);
                    for axis in 0..3 {
                        let newest = |segment: &Segment<i16, 64, 3>| -> Vec<f32> {
                            segment.newest(axis, length).collect()
                        };
                        prop_assert_eq!(newest(&filled), newest(&single));
                    }
                }
            }
            prop_assert_eq!(filled.fill(left), (false, &[][..]));
        }
    }

    #[test]
    fn a_monitor_reports_as_by_single_samples(x in samples(3000), lengths in lengths()) {
        check_findings(&monitor(), &x, &lengths)?;
    }

    #[test]
    fn an_integer_monitor_reports_as_by_single_samples(x in samples(3000), lengths in lengths()) {
        check_findings(&integer_monitor(), &x, &lengths)?;
    }

    #[test]
    fn clipping_is_found_as_by_single_samples(x in samples(3000), lengths in lengths()) {
        let mut single = monitor();
        let mut expected = Vec::new();
        for sample in &x {
            if Rails::FULL.clip(sample) {
                single.mark(SensorFault::Clipped);
            }
            expected.extend(single.push(*sample));
        }
        let (mut sliced, mut findings) = (monitor(), Vec::new());
        let mut buffer = [[0]; 700];
        // An empty piece does not mean the end, so the test counts the pieces.
        let count = pieces(&x, &lengths).count();
        let mut source = Pieces(pieces(&x, &lengths));
        for _ in 0..count {
            acquire(&mut source, &Rails::FULL, &mut buffer, &mut sliced, |r| findings.push(r));
        }
        prop_assert_eq!(findings, expected);
    }
}

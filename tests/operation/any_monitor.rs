//! Both monitors by the one trait: gaps, marks, a start in place, and names for a type's numbers.

use crate::common;
use rebearing::model::Body;
use rebearing::monitor::AnyFinding;
use rebearing::{
    AnyMonitor, IntegerModel, IntegerMonitor, Model, ModelError, Monitor, SensorFault, Vacant,
};

type Floats<'m> = rebearing::monitor!(
    'm, model: f32, samples: i16, fft: 256, axes: 1, features: 4, components: 3, classes: 3
);
type Integers<'m> = rebearing::monitor!(
    'm, model: i16, fft: 256, axes: 1, features: 4, components: 4, classes: 3
);

fn float_model() -> Model<'static> {
    Model::parse(common::GOLDEN).unwrap()
}

fn integer_model() -> IntegerModel<'static> {
    IntegerModel::parse(common::GOLDEN_I16).unwrap()
}

/// Noise with a mean that a gap would show in.
fn signal(n: usize) -> [i16; 1] {
    [i16::try_from(1000 + n * n % 977).expect("below 1977")]
}

/// Pushes samples until a finding comes, and returns it with the number of samples it took.
fn next_finding<'m, M, const CLASSES: usize>(
    monitor: &mut M,
    samples: impl Iterator<Item = [i16; 1]>,
) -> (usize, AnyFinding<<M::Body as Body<'m>>::Numbers, 1, CLASSES>)
where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16>,
{
    let mut samples = (1..10_000).zip(samples);
    samples.find_map(|(n, x)| monitor.push(x).map(|finding| (n, finding))).expect("a finding")
}

/// What a gap does to the windows around it, whichever the monitor is.
fn check_gaps<'m, M, const CLASSES: usize>(new: &M)
where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16> + Clone,
{
    let window = new.model().front_end().window_len();
    // The window after a gap is that of a monitor which saw nothing before it.
    let (_, after) = next_finding(&mut new.clone(), (5000..).map(signal));
    assert!(after.result.is_ok() && after.index == 0);

    // All but the last sample of a window, then a gap.
    let mut monitor = new.clone();
    assert!((1..window).all(|n| monitor.push(signal(n)).is_none()));
    let discarded = monitor.discard(SensorFault::LostSamples);
    assert_eq!((discarded.index, discarded.result), (0, Err(SensorFault::LostSamples)));
    let (taken, finding) = next_finding(&mut monitor, (5000..).map(signal));
    assert_eq!((taken, finding.index, &finding.result), (window, 1, &after.result));

    // Nothing is reported where samples are only forgotten.
    let mut monitor = new.clone();
    assert!((1..window).all(|n| monitor.push(signal(n)).is_none()));
    monitor.clear();
    assert_eq!(next_finding(&mut monitor, (5000..).map(signal)), (window, after.clone()));

    // A mark spoils the window that is under way; the first one gives the reason.
    let mut monitor = new.clone();
    assert!((0..10).all(|n| monitor.push(signal(n)).is_none()));
    monitor.mark(SensorFault::Clipped);
    monitor.mark(SensorFault::Bus);
    let (taken, marked) = next_finding(&mut monitor, (10..).map(signal));
    assert_eq!((taken, marked.index), (window - 10, 0));
    assert_eq!(marked.result, Err(SensorFault::Clipped));
    // Without a mark the next window would share its first samples.
    let (taken, finding) = next_finding(&mut monitor, (5000..).map(signal));
    assert_eq!((taken, finding.index, &finding.result), (window, 1, &after.result));
    let (taken, _) = next_finding(&mut monitor, (5000 + window..).map(signal));
    assert!(taken < window, "{taken} of {window}");
}

#[test]
fn a_gap_spoils_one_window_of_a_monitor() {
    check_gaps(&Floats::new(float_model()).unwrap());
}

#[test]
fn a_gap_spoils_one_window_of_an_integer_monitor() {
    check_gaps(&Integers::new(integer_model()).unwrap());
}

/// Starts `room` in place, twice, and compares with a monitor that was built on the stack.
fn check_start<'m, M, const CLASSES: usize>(
    room: &mut Vacant<M>,
    new: &M,
    start: impl Fn(&mut Vacant<M>) -> Result<&mut M, ModelError>,
) where
    M: AnyMonitor<'m, 1, CLASSES, Sample = i16> + Clone,
{
    let place = std::ptr::from_ref(room).addr();
    let (taken, first) = next_finding(&mut new.clone(), (0..).map(signal));
    for _ in 0..2 {
        let monitor = start(room).unwrap();
        assert_eq!(std::ptr::from_ref(monitor).addr(), place, "it was moved");
        assert_eq!(next_finding(monitor, (0..).map(signal)), (taken, first.clone()));
        // In the middle of a window: the second start forgets it, and counts from zero again.
        assert!((0..100).all(|n| monitor.push(signal(n)).is_none()));
    }
}

#[test]
fn a_vacant_monitor_starts_where_it_lies_and_again() {
    let new = Floats::new(float_model()).unwrap();
    check_start(&mut Floats::vacant(), &new, |room| room.start(float_model()));
}

#[test]
fn a_vacant_integer_monitor_starts_where_it_lies_and_again() {
    let new = Integers::new(integer_model()).unwrap();
    check_start(&mut Integers::vacant(), &new, |room| room.start(integer_model()));
}

#[test]
fn a_refused_model_leaves_a_vacant_monitor_vacant() {
    let mut room = Floats::vacant();
    let larger = Model::parse(common::GOLDEN_GATE).unwrap();
    let refused = ModelError::DoesNotFit { what: "components", needs: 4, holds: 3 };
    assert_eq!(room.start(larger).err(), Some(refused));
    let (taken, _) = next_finding(room.start(float_model()).unwrap(), (0..).map(signal));
    assert_eq!(taken, float_model().front_end().window_len());
}

#[test]
fn the_named_numbers_of_a_type_go_to_their_places() {
    type Pump<'m> = rebearing::monitor!(
        'm, model: f32, samples: f32, fft: 2048, axes: 2, features: 32, components: 14, classes: 7,
    );
    type Counts<'m> = rebearing::monitor!(
        'm, model: f32, samples: i16, fft: 512, axes: 3, features: 96, components: 8, classes: 4
    );
    type Fan<'m> = rebearing::monitor!(
        'm, model: i16, fft: 1024, axes: 1, features: 24, components: 9, classes: 5,
    );
    assert_eq!(Pump::CAPACITIES, Monitor::<'_, f32, 2048, 2, 32, 14, 7>::CAPACITIES);
    assert_eq!(Counts::CAPACITIES, Monitor::<'_, i16, 512, 3, 96, 8, 4>::CAPACITIES);
    assert_eq!(Fan::CAPACITIES, IntegerMonitor::<'_, 1024, 1, 24, 9, 5>::CAPACITIES);
}

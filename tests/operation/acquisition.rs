//! From sensor to findings: a simulated chip that fails on demand, and a double buffer that
//! overruns.

use std::cell::RefCell;
use std::pin::pin;
use std::task::{Context, Waker};

use crate::chip::{Bus, Chip, Pin};
use crate::common;
use embedded_hal::delay::DelayNs;
use embedded_hal_mock::eh1::delay::NoopDelay;
use embedded_hal_mock::eh1::spi;
use proptest::prelude::*;
use rebearing::acquisition::{
    AsyncIis3dwb, Axis, DoubleBuffered, FullScale, Half, Halves, Iis3dwb, Iis3dwbError, Rails,
    SampleSource,
};
use rebearing::monitor::{acquire, acquire_async};
use rebearing::{AnyMonitor, Finding, Model, Monitor, SensorFault};

#[test]
fn an_executor_sleeps_until_the_watermark() {
    let bus = Bus::new();
    let pin = Pin(bus.clone(), 128);
    let mut sensor =
        AsyncIis3dwb::new(bus.clone(), pin, NoopDelay::new(), FullScale::G16, [Axis::Z]);
    let (mut monitor, mut buffer, mut findings) = (monitor(), [[0; 1]; 64], Vec::new());
    let mut context = Context::from_waker(Waker::noop());
    let mut slept = 0;
    {
        let mut task = pin!(async {
            loop {
                let finding = |finding| findings.push(finding);
                acquire_async(&mut sensor, &Rails::FULL, &mut buffer, &mut monitor, finding).await;
            }
        });
        // The first poll starts the chip.
        assert!(task.as_mut().poll(&mut context).is_pending());
        for i in 0..2048 {
            bus.0.borrow_mut().put([0, 0, signal(i)]);
            assert!(task.as_mut().poll(&mut context).is_pending());
            slept += usize::from(bus.0.borrow().fifo.len() > 64);
        }
    }
    assert!(slept > 500, "{slept}");
    // Samples below the watermark are still in the chip at the end.
    let left = bus.0.borrow().fifo.len();
    assert_eq!(findings, direct((0..2048 - left).map(signal)));
    assert!(findings.len() >= 5);
}

fn sensor(bus: &Bus) -> Iis3dwb<Bus, NoopDelay, 1> {
    Iis3dwb::new(bus.clone(), NoopDelay::new(), FullScale::G16, [Axis::Z])
}

/// Returns a sample of some machine: two tones and a little noise.
fn signal(i: usize) -> i16 {
    let t = i as f64 / 20_000.0;
    let tones = 3000.0 * (t * 6000.0).sin() + 900.0 * (t * 31_000.0).sin();
    (tones + (i * 7919 % 401) as f64) as i16
}

type Small = Monitor<'static, i16, 256, 1, 4, 3, 3>;

fn monitor() -> Small {
    Small::new(Model::parse(common::GOLDEN).unwrap()).unwrap()
}

/// Returns the findings of samples that come straight to the monitor, without a sensor.
fn direct(samples: impl Iterator<Item = i16>) -> Vec<Finding<1, 3>> {
    let mut monitor = monitor();
    samples.filter_map(|x| monitor.push([x])).collect()
}

/// Returns the findings of samples that come through the chip. `each` runs before every sample and
/// gets its number.
fn acquired(count: usize, mut each: impl FnMut(&mut Chip, usize)) -> Vec<Finding<1, 3>> {
    let bus = Bus::new();
    let mut sensor = sensor(&bus);
    sensor.start().unwrap();
    let (mut monitor, mut buffer, mut findings) = (monitor(), [[0; 1]; 64], Vec::new());
    let mut take = |sensor: &mut Iis3dwb<_, _, 1>| {
        while acquire(sensor, &Rails::FULL, &mut buffer, &mut monitor, |r| findings.push(r)) > 0 {}
    };
    for i in 0..count {
        each(&mut bus.0.borrow_mut(), i);
        bus.0.borrow_mut().put([0, 0, signal(i)]);
        if i % 100 == 99 {
            take(&mut sensor);
        }
    }
    take(&mut sensor);
    findings
}

#[test]
fn what_the_chip_measures_is_what_is_analysed() {
    let findings = acquired(2000, |_, _| {});
    assert_eq!(findings, direct((0..2000).map(signal)));
    assert!(findings.len() >= 5 && findings.iter().all(|finding| finding.result.is_ok()));
}

/// Checks a fault, the findings before it, and the findings of the samples from `resumes` on.
fn check_gap(findings: &[Finding<1, 3>], fault: SensorFault, resumes: usize, count: usize) {
    let at = findings.iter().position(|finding| finding.result.is_err()).expect("a fault");
    assert_eq!(findings[at].result, Err(fault));
    let before = direct((0..resumes).map(signal));
    assert!(at > 0 && before.starts_with(&findings[..at]), "nothing before the gap is lost");
    let results = |findings: &[Finding<1, 3>]| -> Vec<_> {
        findings.iter().map(|finding| finding.result.clone()).collect()
    };
    let after = direct((resumes..count).map(signal));
    assert!(!after.is_empty());
    assert_eq!(results(&findings[at + 1..]), results(&after), "no window reaches over the gap");
    let indices: Vec<u32> = findings.iter().map(|finding| finding.index).collect();
    assert_eq!(indices, (0..findings.len() as u32).collect::<Vec<_>>());
}

#[test]
fn a_window_with_a_gap_is_discarded() {
    // The chip dropped a word between 1049 and 1050. The FIFO is emptied at 1100.
    let findings = acquired(3000, |chip, i| {
        if i == 1050 {
            chip.counter += 1;
        }
    });
    check_gap(&findings, SensorFault::LostSamples, 1100, 3000);
    // A tag has the wrong parity. The next read, at 1200, restarts the chip.
    let findings = acquired(3000, |chip, i| {
        if i == 1060 {
            chip.fifo.back_mut().unwrap()[0] ^= 1;
        }
    });
    check_gap(&findings, SensorFault::Bus, 1200, 3000);
}

#[test]
fn a_fifo_that_overran_is_emptied() {
    // 600 samples arrive at once while the processor is busy.
    let findings = acquired(3000, |chip, i| {
        if i == 1150 {
            for _ in 0..600 {
                chip.put([0; 3]);
            }
        }
    });
    check_gap(&findings, SensorFault::Overrun, 1200, 3000);
}

#[test]
fn a_bus_that_fails_is_reported_until_the_chip_answers_again() {
    let mut fails = 0;
    let findings = acquired(3000, |chip, i| {
        match i {
            1020 => chip.works = Some(1),
            1420 => chip.works = None,
            _ => {}
        }
        fails = chip.resets;
    });
    let faults = findings.iter().filter(|r| r.result == Err(SensorFault::Bus)).count();
    assert_eq!(faults, 4, "one for each try");
    assert_eq!(fails, 2, "the start and the one that worked");
    let healthy = findings.iter().rev().take_while(|finding| finding.result.is_ok()).count();
    assert_eq!(healthy, direct((1500..3000).map(signal)).len());
}

#[test]
fn every_transfer_may_fail() {
    for works in 0..60 {
        let bus = Bus::new();
        bus.0.borrow_mut().works = Some(works);
        let mut sensor = sensor(&bus);
        let mut samples = [[0; 1]; 8];
        let mut faults = 0;
        for i in 0..50 {
            bus.0.borrow_mut().put([0, 0, i]);
            match sensor.read(&mut samples) {
                Ok(count) => assert!(count <= 1),
                Err(SensorFault::Bus) => faults += 1,
                Err(fault) => panic!("{fault} after {works} transfers"),
            }
        }
        assert!(faults > 0, "{works}");
        bus.0.borrow_mut().works = None;
        assert_eq!(sensor.read(&mut samples), Ok(0), "it recovers by itself");
        bus.0.borrow_mut().put([0, 0, 77]);
        assert_eq!(sensor.read(&mut samples), Ok(1));
        assert_eq!(samples[0], [77]);
    }
}

#[test]
fn clipping_spoils_its_window_and_no_other() {
    let clipped = |at: usize| {
        let mut monitor = monitor();
        let samples = (0..2000).map(|i| [if i == at { i16::MAX } else { signal(i) }]);
        let samples: Vec<[i16; 1]> = samples.collect();
        let mut next = samples.chunks(50);
        let mut source = Chunks(&mut next);
        let (mut buffer, mut findings) = ([[0; 1]; 50], Vec::new());
        while acquire(&mut source, &Rails::FULL, &mut buffer, &mut monitor, |r| findings.push(r))
            > 0
        {}
        findings
    };
    // The last sample of the first window of 384 is also in the segment after it.
    let findings = clipped(383);
    assert_eq!(findings[0].result, Err(SensorFault::Clipped));
    let findings = findings[1..].iter().map(|finding| finding.result.clone());
    let after = direct((384..2000).map(signal));
    assert!(findings.eq(after.iter().map(|finding| finding.result.clone())));
    assert!(!after.is_empty());
}

/// A source that hands over samples in pieces.
struct Chunks<'a, I>(&'a mut I);

impl<'a, I: Iterator<Item = &'a [[i16; 1]]>> SampleSource<i16, 1> for Chunks<'_, I> {
    fn read(&mut self, samples: &mut [[i16; 1]]) -> Result<usize, SensorFault> {
        let chunk = self.0.next().unwrap_or_default();
        samples[..chunk.len()].copy_from_slice(chunk);
        Ok(chunk.len())
    }
}

#[test]
fn the_start_says_what_is_wrong() {
    use spi::Transaction as T;
    let reset = [
        T::transaction_start(),
        T::write_vec(vec![0x12]),
        T::write_vec(vec![0x01]),
        T::transaction_end(),
    ];
    let read = |register: u8, value: u8| {
        [
            T::transaction_start(),
            T::write_vec(vec![register | 0x80]),
            T::read(value),
            T::transaction_end(),
        ]
    };
    let start = |expected: Vec<T<u8>>| {
        let mut bus = spi::Mock::new(&expected);
        let mut sensor =
            Iis3dwb::new(bus.clone(), NoopDelay::new(), FullScale::G2, [Axis::X, Axis::Y]);
        let result = sensor.start();
        bus.done();
        result
    };
    let other = start([reset.to_vec(), read(0x12, 4).to_vec(), read(0x0F, 0x6B).to_vec()].concat());
    assert_eq!(other, Err(Iis3dwbError::Identity(0x6B)));
    assert!(other.unwrap_err().to_string().contains("0x6b"));
    let busy = std::iter::repeat_n(read(0x12, 1), 50).flatten();
    assert_eq!(start(reset.iter().cloned().chain(busy).collect()), Err(Iis3dwbError::Reset));
}

#[test]
fn axes_come_in_the_order_asked_for() {
    let bus = Bus::new();
    let mut sensor = Iis3dwb::new(bus.clone(), NoopDelay::new(), FullScale::G4, [Axis::Z, Axis::X]);
    sensor.start().unwrap();
    assert_eq!(bus.0.borrow().registers[0x10], 0xA8, "±4 g");
    bus.0.borrow_mut().put([-1, 2, -300]);
    let mut samples = [[0; 2]; 4];
    assert_eq!(sensor.read(&mut samples), Ok(1));
    assert_eq!(samples[0], [-300, -1]);
    let (_, mut delay) = sensor.release();
    delay.delay_us(1);
}

proptest! {
    /// However halves and reads interleave, the samples read are in order, and every gap is
    /// reported.
    #[test]
    fn a_double_buffer_reports_every_gap(steps in prop::collection::vec(0..4_u8, 1..200)) {
        let halves = Halves::new();
        let buffer = RefCell::new([[0_i16; 8]; 2]);
        let mut filled = 0_i16;
        let copy = |half: Half, samples: &mut [[i16; 1]]| {
            let half = buffer.borrow()[usize::from(half == Half::Second)];
            for (sample, x) in samples.iter_mut().zip(half) {
                *sample = [x];
            }
            half.len()
        };
        let mut source = DoubleBuffered::new(&halves, copy);
        let mut expected = Some(0);
        let mut samples = [[0; 1]; 8];
        for step in steps {
            if step > 0 {
                let first = filled.wrapping_mul(8);
                let half = &mut buffer.borrow_mut()[usize::from(filled % 2 == 1)];
                for (x, value) in half.iter_mut().zip(first..) {
                    *x = value;
                }
                filled += 1;
                halves.complete();
                continue;
            }
            match source.read(&mut samples) {
                Ok(0) => prop_assert!(expected.is_none_or(|next| next == filled * 8)),
                Ok(count) => {
                    prop_assert_eq!(count, 8);
                    if let Some(next) = expected {
                        prop_assert_eq!(samples[0][0], next, "a gap that was not reported");
                    }
                    let run = samples.windows(2).all(|pair| pair[1][0] == pair[0][0] + 1);
                    prop_assert!(run, "{:?}", samples);
                    expected = Some(samples[7][0] + 1);
                }
                Err(fault) => {
                    prop_assert_eq!(fault, SensorFault::Overrun);
                    expected = None;
                }
            }
        }
    }
}

#[test]
fn a_half_that_there_is_no_room_for_is_lost() {
    let halves = Halves::new();
    let mut source = DoubleBuffered::new(&halves, |_, _: &mut [[i16; 1]]| 16);
    let mut samples = [[0; 1]; 8];
    assert_eq!(source.read(&mut samples), Ok(0));
    halves.complete();
    assert_eq!(source.read(&mut samples), Err(SensorFault::LostSamples));
}

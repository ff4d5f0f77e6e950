//! The application on the host: models that would lock a board, and models that rot.

use core::cell::Cell;
use core::fmt;
use std::boxed::Box;
use std::string::{String, ToString};
use std::vec;
use std::vec::Vec;

use rebearing::model::{AnyModel, Body, Section, format};
use rebearing::monitor::Sampling;
use rebearing::operation::DriftBlock;
use rebearing::update::{Outcome, PassedOver, Slot, Standing};
use zerocopy::IntoBytes as _;

use super::port::{Event, PortBuffer};
use super::{App, Entry, FloatMonitor, Journal, LONGEST_WINDOW_MS, Plain, Room, SCRUB, Watchdog};
use crate::simulated::{Next, Simulated, TOUR};

const GATE: &[u8] = include_bytes!("../../../tests/golden/model-v1-gate.rbm");
/// Bytes of a slot.
const SLOT: usize = 1024;
/// Samples come at the model's rate.
const SAMPLING: Sampling = Sampling { longest_window_ms: LONGEST_WINDOW_MS, ..Sampling::ANY };

/// Records everything that an application told and did.
#[derive(Default)]
struct Seen {
    started: Cell<Option<Slot>>,
    rotten: Cell<Option<Slot>>,
    findings: Cell<usize>,
    fed: Cell<usize>,
    refused: Cell<Option<String>>,
}

impl Journal for &Seen {
    fn started<B: Body<'static>>(&mut self, slot: Slot, _: &AnyModel<'static, B>, _: usize) {
        self.started.set(Some(slot));
    }

    fn no_model(&mut self, reason: &dyn fmt::Display) {
        self.refused.set(Some(reason.to_string()));
    }

    fn passed_over(&mut self, reason: &PassedOver) {
        self.refused.set(Some(reason.to_string()));
    }

    fn standing(&mut self, _: Standing, _: Option<Outcome>) {}

    fn trial_ended(&mut self, _: Outcome) {}

    fn finding<B: Body<'static>>(&mut self, _: &Entry<'_, B>) {
        self.findings.set(self.findings.get() + 1);
    }

    fn drifted(&mut self, _: &DriftBlock) {}

    fn rotten(&mut self, slot: Slot) {
        assert_eq!(self.rotten.replace(Some(slot)), None, "told once");
    }
}

impl Watchdog for &Seen {
    fn feed(&mut self) {
        self.fed.set(self.fed.get() + 1);
    }
}

/// A MODEL region in memory that stays.
fn region(a: &[u8], b: &[u8]) -> &'static mut [u8] {
    let words = Box::leak(vec![u32::MAX; 2 * SLOT / 4].into_boxed_slice());
    let region = words.as_mut_bytes();
    region[..a.len()].copy_from_slice(a);
    region[SLOT..][..b.len()].copy_from_slice(b);
    region
}

/// A model with so many segments in a window.
fn with_segments(segments: u32) -> Vec<u8> {
    let mut file = GATE.to_vec();
    let tag = Section::FrontEnd.tag();
    let front_end = file.windows(4).position(|four| four == tag).unwrap();
    let at = front_end + format::SECTION_HEADER_LEN + 12;
    file[at..at + 4].copy_from_slice(&segments.to_le_bytes());
    let crc = format::crc32(&file).to_le_bytes();
    file[format::CRC_OFFSET..][..4].copy_from_slice(&crc);
    file
}

#[test]
fn a_model_that_would_lock_the_board_gives_way_to_the_other_slot() {
    // Without records slot A comes first. At 20 kHz and a hop of 128, 4 s are 624 segments.
    for (segments, slot) in [(624, Slot::A), (625, Slot::B), (65_536, Slot::B)] {
        let seen = Seen::default();
        let mut room = Room::<FloatMonitor>::new(FloatMonitor::vacant());
        let region = region(&with_segments(segments), GATE);
        assert!(App::start(&mut room, region, &SAMPLING, Plain::default(), &seen, &seen).is_ok());
        assert_eq!(seen.started.get(), Some(slot), "{segments} segments");
        assert_eq!(seen.refused.take().is_some(), slot == Slot::B, "told");
    }
    let seen = Seen::default();
    let mut room = Room::<FloatMonitor>::new(FloatMonitor::vacant());
    let board = Sampling { rate_hz: 26_667.0, ..SAMPLING };
    let region = region(GATE, GATE);
    assert!(App::start(&mut room, region, &board, Plain::default(), &seen, &seen).is_err());
    assert!(seen.refused.take().unwrap().contains("samples at 26667 Hz"));
}

#[test]
fn a_model_that_rots_is_told_and_the_watchdog_starves() {
    let region = region(GATE, GATE);
    // What follows is what flash does: the bytes change while everybody may read them.
    let rotting = &raw mut region[100];
    let seen = Seen::default();
    let mut room = Room::<FloatMonitor>::new(FloatMonitor::vacant());
    let app = App::start(&mut room, region, &SAMPLING, Plain::default(), &seen, &seen);
    let mut app = app.ok().expect("a model");
    let mut source = Simulated::new(TOUR, 20, 12, app.model().front_end());
    let windows_of_a_pass = GATE.len().div_ceil(SCRUB);
    while seen.findings.get() < 5 * windows_of_a_pass {
        let _ = app.step(&mut source);
    }
    assert!(!app.must_restart() && seen.fed.get() > 0);

    // SAFETY: the bytes stay, and the application reads them through an opaque pointer.
    unsafe { rotting.write_volatile(rotting.read_volatile() ^ 0x10) };
    let before = seen.findings.get();
    while !app.must_restart() {
        assert_ne!(source.next(), Next::End, "not found");
        let _ = app.step(&mut source);
    }
    // The pass that had begun may have been past the place.
    assert!(seen.findings.get() <= before + 2 * windows_of_a_pass);
    assert_eq!(seen.rotten.get(), Some(Slot::A));
    let (fed, findings) = (seen.fed.get(), seen.findings.get());
    for _ in 0..100 {
        assert_eq!(app.step(&mut source), Ok(0));
    }
    assert_eq!((seen.fed.get(), seen.findings.get()), (fed, findings));

    // After the restart the other slot is used.
    drop(app);
    let seen = Seen::default();
    let mut room = Room::<FloatMonitor>::new(FloatMonitor::vacant());
    // SAFETY: as above; nobody writes any more.
    let region = unsafe { &*core::ptr::slice_from_raw_parts(rotting.sub(100), 2 * SLOT) };
    assert!(App::start(&mut room, region, &SAMPLING, Plain::default(), &seen, &seen).is_ok());
    assert_eq!(seen.started.get(), Some(Slot::B));
}

#[test]
fn a_frame_ends_with_silence_and_what_is_lost_is_told() {
    let mut port = PortBuffer::new();
    port.byte(Some(7));
    port.tick();
    port.tick();
    port.byte(None);
    assert_eq!(
        [port.take(), port.take(), port.take()],
        [Some(Event::Byte(7)), Some(Event::Damaged), None]
    );
    for _ in 0..9 {
        port.tick();
    }
    assert_eq!([port.take(), port.take()], [Some(Event::Silence), None], "told once");
    assert_eq!(port.milliseconds(), 11);

    for _ in 0..1000 {
        port.byte(Some(1));
    }
    let taken = (0..1000).map_while(|_| port.take()).collect::<Vec<_>>();
    assert_eq!((taken.len(), taken.last()), (321, Some(&Event::Damaged)));

    port.send(&[1, 2, 3]);
    assert!(port.is_sending());
    let sent: Vec<_> = (0..9).map_while(|_| port.next_to_send()).collect();
    assert_eq!((sent, port.is_sending()), (vec![1, 2, 3], false));
}

//! A monitor of either kind in any state, and everything around it.

use core::hint::black_box;

use rebearing::model::{AnyModel, Body, Scrub};
use rebearing::operation::report_line::{EndLine, MonitorLine};
use rebearing::operation::snapshot::Mac;
use rebearing::operation::snapshot::sealed::TAG_LEN;
use rebearing::operation::{DriftCause, DriftWatch, ModelLine, ReportLine, Schedule, Snapshot};
use rebearing::{Alarm, AnyMonitor, Label, ModelError, SensorFault, Vacant};

use crate::unknown::{Sink, inspect, number, write};

/// Calls every accessor that models of both encodings have.
pub(crate) fn model<'m, B: Body<'m>>(model: &AnyModel<'m, B>) {
    let front_end = model.front_end();
    black_box((front_end.bands(), front_end.axis_features(), front_end.dims()));
    black_box((front_end.window_len(), front_end.orders));
    black_box((model.bytes(), model.dims(), model.component_count(), model.unit()));
    black_box((model.classes(), model.class_name(number()), model.healthy()));
    black_box((model.provenance(), model.alarm()));
    if let Some(reference) = model.drift() {
        black_box(reference.class(number()));
    }
    let mut scrub = black_box(Scrub::new(model));
    black_box(scrub.step(number()));
}

/// Calls all methods of a monitor started in `room`.
pub(crate) fn monitor<'m, M, const AXES: usize, const CLASSES: usize>(
    room: &mut Vacant<M>,
    model: AnyModel<'m, M::Body>,
    sample: M::Sample,
) -> Result<(), ModelError>
where
    M: AnyMonitor<'m, AXES, CLASSES>,
{
    // Any state, not only the one after a start: from there, no push could complete a window yet.
    let monitor = black_box(room.start(model)?);
    if let Err(error) = monitor.set_shaft_speed(black_box(0.0)) {
        write(error);
    }
    let mut alarm = black_box(Alarm::<CLASSES, 16>::of_model(&model)?);
    let mut watch = black_box(model.drift().map(DriftWatch::new));
    let mut snapshot = black_box(Snapshot::<96, 8>::new(&model)?);
    let mut schedule = black_box(Schedule::new(0, number() as u32, number() as u32));
    let awake = schedule.turn(number() as u32, monitor, |ticks| {
        black_box(ticks);
    });
    if let Some(finding) = monitor.push([sample; AXES]).filter(|_| awake) {
        inspect(&finding);
        let state = black_box(alarm.update(&finding));
        if let Some(watch) = &mut watch {
            drift(watch);
            if let Some(block) = watch.update(&finding) {
                black_box(block.cause.map(DriftCause::name));
            }
        }
        snapshot.record(monitor, finding.index, number() as u16);
        let line = ReportLine::new(&model, &finding).alarm(&state).drift(Some(black_box(false)));
        let line = line.features(monitor.features()).exact();
        // The sink accepts everything.
        let _ = line.write_to(&mut Sink);
        write(line);
    }
    write(ModelLine(&model));
    write(MonitorLine { capacities: M::CAPACITIES, ram: number() });
    write(EndLine { findings: number() as u32, drift: watch.as_ref() });
    black_box((M::CAPACITIES.check(&model)?, M::CAPACITIES.device_ram()));
    records(&snapshot);
    snapshot.clear();

    let frames = [[sample; AXES]; 64];
    let frames = frames.get(..number()).unwrap_or(&[]);
    monitor.push_slice(frames, |finding| inspect(&finding));
    let (finding, left) = monitor.push_until_finding(frames);
    inspect(&finding);
    black_box(left);
    black_box((monitor.model(), monitor.features(), monitor.responsibilities()));
    monitor.mark(black_box(SensorFault::Clipped));
    inspect(&monitor.discard(black_box(SensorFault::Bus)));
    monitor.clear();
    Ok(())
}

fn drift(watch: &mut DriftWatch<'_>) {
    let nats = black_box(Some(number().cast_signed() as i32));
    black_box(watch.window(black_box(Label::Unknown), nats));
    black_box((watch.raised(), watch.drifted(), watch.blocks(), watch.windows()));
    black_box((watch.last(), *watch.reference(), watch.clone()));
    watch.reset();
}

fn records<const DIMS: usize, const WINDOWS: usize>(snapshot: &Snapshot<DIMS, WINDOWS>) {
    let snapshot = black_box(snapshot);
    let mut bytes = snapshot.bytes();
    let mut chunk = [0; 64];
    black_box((bytes.len(), bytes.next()));
    black_box(bytes.fill(chunk.get_mut(..number()).unwrap_or_default()));
    black_box((snapshot.len(), snapshot.is_empty(), Snapshot::<DIMS, WINDOWS>::RAM, chunk));
    let mut sealed = snapshot.sealed_bytes(UnknownMac, black_box([0; 16]), number() as u32);
    black_box((sealed.len(), sealed.next(), sealed.clone()));
    black_box(sealed.fill(chunk.get_mut(..number()).unwrap_or_default()));
    black_box((chunk, sealed.last()));
}

/// A code of which nothing is known but that it does not panic.
#[derive(Clone)]
struct UnknownMac;

impl Mac for UnknownMac {
    fn absorb(&mut self, bytes: &[u8]) {
        black_box(bytes);
    }

    fn tag(self) -> [u8; TAG_LEN] {
        black_box([0; TAG_LEN])
    }
}

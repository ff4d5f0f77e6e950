//! An alarm with unknown parameters, and a duty cycle at any time.

use core::hint::black_box;

use rebearing::model::{AlarmParameters, IdleRms, Rms, probability};
use rebearing::operation::alarm::{SlidingMean, Summary, alarm_device_ram};
use rebearing::operation::{KeptAlarm, Schedule, Turn, report_line, snapshot};
use rebearing::{Alarm, Label, SensorFault};

use crate::unknown::{bytes, inspect, number, write};

pub(crate) fn all() {
    alarm();
    mean();
    schedule();
    black_box((report_line::checksum(bytes()), snapshot::crc32(bytes())));
}

fn alarm() {
    let rms = Rms::of_samples(black_box(0.0)).unwrap_or(Rms::of_counts(number() as u32));
    let idle = Some(IdleRms { below: rms, until: black_box(rms) });
    let raise = probability(black_box(0.0));
    let parameters = black_box(AlarmParameters { raise, idle, ..AlarmParameters::default() });
    match Alarm::<16, 32>::new(parameters, number(), black_box(Some(0))) {
        Ok(made) => {
            let mut alarm = black_box(made);
            let posterior = black_box([0_u16; 16]);
            let posterior = posterior.get(..number()).unwrap_or_default();
            let label = black_box(Label::Unknown);
            black_box(alarm.step(Ok(Summary { label, posterior, rms: black_box(rms) })));
            let mut alarm = black_box(alarm);
            let state = alarm.step(black_box(Err(SensorFault::Flat)));
            black_box((state.state.name(), alarm.state(), alarm.means()));
            let word = black_box(alarm.kept().unnamed().to_word());
            if let Some(kept) = KeptAlarm::from_word(black_box(word)) {
                black_box((kept.raised(), KeptAlarm::NONE));
                alarm.restore(black_box(kept));
            }
            alarm.acknowledge();
            alarm.restart();
            alarm.set_counters(black_box(*alarm.counters()));
            black_box((alarm.parameters(), Alarm::<16, 32>::RAM, rms.bits()));
        }
        Err(error) => write(error),
    }
    black_box(alarm_device_ram(number(), number()));
}

fn mean() {
    let mut mean = black_box(SlidingMean::<3, 7>::new(number() as u32));
    let posterior = black_box([0_u16; 16]);
    mean.push(posterior.get(..number()).unwrap_or_default(), black_box(false));
    black_box((mean.is_full(), mean.filled(), mean.length(), mean.sums(), mean.unknown_sum()));
    mean.clear();
    black_box(mean);
}

fn schedule() {
    let mut schedule = black_box(Schedule::new(number() as u32, number() as u32, number() as u32));
    if let Turn::Sleep(ticks) = schedule.poll(number() as u32) {
        black_box(ticks);
    }
    schedule.window_done();
    schedule.set_period(number() as u32, number() as u32);
    schedule.set_windows(number() as u32);
    inspect(&black_box(schedule));
    black_box(schedule.missed());
}

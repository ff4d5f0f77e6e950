//! The state of a stream so far: the newest report, a trend, and counts of everything.

use std::collections::{BTreeMap, VecDeque};

use rebearing::operation::alarm::State;
use serde_json::{Value, json};

use crate::device::line::{AlarmSeen, FindingSeen, LabelSeen, Line, ModelSeen, ReportSeen};

/// Number of windows in the trend; more than the widest terminal has dots for.
const TREND: usize = 1024;
/// Number of messages to keep.
const MESSAGES: usize = 200;
/// Largest number of different label and fault names to count, so a stream cannot fill the memory.
const NAMES: usize = 1000;

/// A log-likelihood with its threshold.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TrendPoint {
    /// The window's number, counted in reports, so it does not go back after a restart.
    pub at: u64,
    /// The log-likelihood.
    pub value: f32,
    /// The lowest value that is healthy, or known.
    pub least: f32,
}

/// The counts of a stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Counts {
    /// Number of reports.
    pub reports: u64,
    /// Reports of each label, by its word. Sensor faults count under `sensor_fault`.
    pub labels: BTreeMap<String, u64>,
    /// Sensor faults of each kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Number of times that an alarm came on or changed its name.
    pub alarms: u64,
    /// Number of damaged lines.
    pub damaged: u64,
    /// Number of lines of another version.
    pub other_version: u64,
    /// Number of other lines.
    pub text: u64,
    /// Number of windows without a received report.
    pub missing: u64,
    /// Number of restarts of the device.
    pub restarts: u64,
}

/// The state of a live view.
#[derive(Debug, Clone, Default)]
pub struct Watch {
    /// The model, if the device has sent it.
    pub model: Option<ModelSeen>,
    /// The newest report.
    pub last: Option<ReportSeen>,
    /// The newest bands received.
    pub bands: Vec<Vec<f32>>,
    /// Log-likelihoods, oldest first.
    pub trend: VecDeque<TrendPoint>,
    /// Other events, oldest first.
    pub messages: VecDeque<String>,
    /// The counts.
    pub counts: Counts,
}

impl Watch {
    /// Updates the state with a line.
    pub fn push(&mut self, line: Line) {
        match line {
            Line::Report(report) => self.report(*report),
            Line::Model(model) => {
                let ModelSeen { bytes, rate_hz, fft, .. } = &model;
                self.say(format!("model of {bytes} bytes, {rate_hz} Hz, FFT of {fft} points"));
                self.model = Some(model);
            }
            Line::Monitor(monitor) => self.say(monitor.to_string()),
            Line::End(end) => self.say(end.to_string()),
            Line::Damaged(reason) => {
                self.counts.damaged += 1;
                self.say(format!("damaged line: {reason}"));
            }
            Line::OtherVersion(version) => {
                self.counts.other_version += 1;
                if self.counts.other_version == 1 {
                    self.say(format!(
                        "lines of version {version}, and this reads version 1: use the rebearing \
                         that the firmware was built with"
                    ));
                }
            }
            Line::Text(text) => {
                self.counts.text += 1;
                if !text.trim().is_empty() {
                    self.say(text);
                }
            }
        }
    }

    fn report(&mut self, report: ReportSeen) {
        self.follow(report.window);
        self.counts.reports += 1;
        let word = match &report.finding {
            Ok(finding) => finding.label.word(),
            Err(fault) => {
                *self.counts.faults.entry(fault.name()).or_default() += 1;
                "sensor_fault"
            }
        };
        let labels = &mut self.counts.labels;
        if labels.len() < NAMES || labels.contains_key(word) {
            *labels.entry(word.to_owned()).or_default() += 1;
        }
        if let Some((value, least)) = report.finding.as_ref().ok().and_then(FindingSeen::trend) {
            let at = self.counts.reports;
            self.trend.push_back(TrendPoint { at, value, least });
            if self.trend.len() > TREND {
                self.trend.pop_front();
            }
        }
        self.changes(&report);
        if !report.bands.is_empty() {
            self.bands.clone_from(&report.bands);
        }
        self.last = Some(report);
    }

    /// Counts a restart or missing windows if this window does not follow the last one.
    fn follow(&mut self, window: u32) {
        let Some(last) = self.last.as_ref().map(|last| last.window) else { return };
        let step = window.wrapping_sub(last);
        // Window numbers count up and wrap at 2³². Anything else is a restart.
        if step == 0 || step > u32::MAX / 2 {
            self.counts.restarts += 1;
            self.say(format!("the device started again: window {window} after {last}"));
        } else {
            self.counts.missing += u64::from(step - 1);
        }
    }

    /// Reports the changes since the last report as messages.
    fn changes(&mut self, report: &ReportSeen) {
        let window = report.window;
        let last = self.last.take();
        let before = last.as_ref().and_then(|last| last.alarm.as_ref());
        let on = |alarm: Option<&AlarmSeen>| {
            alarm.filter(|alarm| alarm.active).map(|alarm| alarm.label.clone())
        };
        if let Some(label) = on(report.alarm.as_ref()) {
            if on(before).as_ref() != Some(&label) {
                self.counts.alarms += 1;
                self.say(format!("window {window}: ALARM, {}", label.word()));
            }
        } else if let Some(label) = on(before) {
            self.say(format!("window {window}: the alarm of {} has cleared", label.word()));
        }
        let state = |report: &ReportSeen| report.state.map(state_text);
        if let Some(now) =
            state(report).filter(|now| last.as_ref().and_then(state).as_ref() != Some(now))
        {
            self.say(format!("window {window}: {now}"));
        }
        if report.drift == Some(true) && last.is_none_or(|last| last.drift != Some(true)) {
            self.say(format!("window {window}: the machine has drifted, please re-adapt"));
        }
    }

    fn say(&mut self, message: String) {
        self.messages.push_back(message);
        if self.messages.len() > MESSAGES {
            self.messages.pop_front();
        }
    }

    /// Name of a class if it is known, from the model or from a label in the newest report.
    pub fn class_name(&self, class: usize) -> String {
        let told = self.model.as_ref().and_then(|model| model.classes.get(class).cloned());
        let seen = self.last.as_ref().and_then(|last| match &last.finding {
            Ok(FindingSeen { label: LabelSeen::Class { index, name }, .. }) => {
                (*index == class).then(|| name.clone())
            }
            _ => None,
        });
        told.or(seen).unwrap_or_else(|| format!("class {class}"))
    }

    /// All counts and the final state.
    pub fn json(&self) -> Value {
        let Counts { reports, labels, faults, alarms, .. } = &self.counts;
        let Counts { damaged, other_version, text, missing, restarts, .. } = &self.counts;
        let last = self.last.as_ref();
        json!({
            "reports": reports,
            "labels": labels,
            "sensor_faults": faults,
            "alarms": alarms,
            "damaged": damaged,
            "other_version": other_version,
            "text": text,
            "missing": missing,
            "restarts": restarts,
            "state": last.and_then(|last| last.state).map(State::name),
            "alarm": last.and_then(|last| last.alarm.as_ref()).map(|alarm| json!({
                "label": alarm.label.word(),
                "active": alarm.active,
                "acknowledged": alarm.acknowledged,
            })),
            "drift": last.and_then(|last| last.drift),
        })
    }
}

/// Describes a state in words.
pub fn state_text(state: State) -> String {
    match state {
        State::SensorFault(fault) => format!("sensor fault ({})", fault.name()),
        state => state.name().to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Line, Watch};

    /// The firmware's output in QEMU. `cargo xtask test boards` checks that it is the same.
    const TOUR: &str = include_str!(
        "../../../../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu.txt"
    );

    /// The firmware's output with an i16 model.
    const TOUR_I16: &str = include_str!(
        "../../../../../firmware-examples/boards/stm32f405/src/bin/stm32f405-qemu-i16.txt"
    );

    fn watched(text: &str) -> Watch {
        let mut watch = Watch::default();
        text.lines().for_each(|line| watch.push(Line::parse(line.as_bytes())));
        watch
    }

    #[test]
    fn a_recorded_stream_is_counted() {
        let watch = watched(TOUR);
        let json = watch.json();
        assert_eq!(json["reports"], 78);
        assert_eq!(json["labels"]["InnerRace"], 12);
        assert_eq!(json["labels"]["Käfig"], 12);
        assert_eq!(json["sensor_faults"]["flat"], 12);
        let sum: u64 = watch.counts.labels.values().sum();
        assert_eq!(sum, 78);
        assert_eq!((watch.counts.alarms, watch.counts.damaged), (1, 0));
        // The lines about clock, sensor, model and end.
        assert_eq!((watch.counts.text, watch.counts.missing), (4, 0));
        assert_eq!(json["alarm"]["label"], "InnerRace");
        assert_eq!(watch.bands[0].len(), 4);
        assert!(watch.messages.iter().any(|line| line == "window 21: ALARM, InnerRace"));
    }

    #[test]
    fn a_stream_of_an_i16_model_is_counted_too() {
        let watch = watched(TOUR_I16);
        let json = watch.json();
        assert_eq!((&json["reports"], &json["labels"]["InnerRace"]), (&78.into(), &12.into()));
        assert_eq!((watch.counts.alarms, watch.counts.damaged), (1, 0));
        assert_eq!((watch.bands[0].len(), watch.counts.missing), (4, 0));
        assert_eq!(json["alarm"]["label"], "InnerRace");
    }

    #[test]
    fn monitor_and_end_are_told_and_are_no_damage() {
        let watch = watched(
            "rb1 monitor model=i16 samples=i16 fft=256 axes=1 features=64 components=40 \
             classes=16 ram=2864 crc=3a2f57af\nrb1 end findings=11 crc=ed69a9fd",
        );
        assert_eq!((watch.counts.damaged, watch.counts.text), (0, 0));
        let told =
            ["monitor for i16 models, 2864 bytes of RAM", "the device ended after 11 windows"];
        assert_eq!(watch.messages, told);
    }

    #[test]
    fn a_gap_a_restart_and_damage_are_counted() {
        let lines: Vec<&str> = TOUR.lines().filter(|line| line.starts_with("rb1 report")).collect();
        let watch = watched(&[lines[3], lines[6], lines[0], lines[1]].join("\n"));
        assert_eq!((watch.counts.missing, watch.counts.restarts), (2, 1));
        let damaged = lines[5].replace("label=0:Healthy", "label=1:Healthy");
        let watch = watched(&[lines[4], &damaged, &lines[6][..40], lines[7]].join("\n"));
        assert_eq!((watch.counts.damaged, watch.counts.reports), (2, 2));
        assert_eq!(watch.counts.labels.keys().collect::<Vec<_>>(), ["Healthy"]);
        let watch = watched("rb2 report 1 mood=fine crc=00000000\nrb2 what crc=0");
        assert_eq!((watch.counts.other_version, watch.counts.damaged), (2, 0));
    }
}

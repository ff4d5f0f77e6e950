//! The `rebearing` command as its users run it, one module per subject.

mod alarm;
mod bands;
mod board_elves;
mod browser;
mod bus;
#[path = "../../../../tests/common/bus_device.rs"]
mod bus_device;
mod bus_in_qemu;
mod doctor;
#[cfg(target_os = "linux")]
mod emulate;
mod evaluate;
mod every_command;
mod features;
mod flash;
mod frequencies;
mod gmm;
#[cfg(unix)]
mod hostile;
mod integer;
mod levels;
mod library;
mod manifest;
mod messages;
mod outputs;
mod plan;
mod printable;
mod probe;
#[path = "../../../../tests/common/receiver.rs"]
mod receiver;
mod recording_large;
mod recording_zoo;
mod report;
mod report_browser;
mod report_evaluation;
mod report_pages;
mod report_verdict;
mod report_world;
mod resample;
mod signing;
mod snapshot;
mod terminal;
mod transfer;
#[path = "../../../engine/tests/transport/problems.rs"]
mod transport_problems;
mod tutorial;
mod units;
mod verdict;
mod watch;
mod workplace;

//! The device, as seen from the host: run here, emulated, on a board, and what it prints.

mod deployed;
pub mod embedded;
pub mod emulator;
pub mod firmware;
pub mod flash;
pub mod instructions;
mod on_host;
pub mod sectors;
pub mod setup;
mod verdict_line;
pub mod watch;

pub use on_host::{
    DeviceFinding, DeviceReport, DeviceSeverity, MonitorType, RunError, integer_finding, nats,
    probability, run, run_integer, run_integer_sending, run_sending, statistics, statistics_values,
};

/// An option of another program, as its command line has it.
fn option(name: &str) -> std::ffi::OsString {
    format!("--{name}").into()
}

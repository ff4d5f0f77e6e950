//! The device as seen from the host: run here, emulated, or on a board, and its output.

mod core;
mod deployed;
pub mod embedded;
mod emulated;
pub mod emulator;
mod finding;
pub mod firmware;
pub mod flash;
pub mod instructions;
pub mod line;
mod live;
pub mod modbus;
mod monitor_type;
mod run;
mod sample_file;
pub mod sectors;
pub mod setup;
pub mod watch;

pub use finding::{DeviceClassification, DeviceFinding, DeviceSeverity, Shown, statistics_values};
pub use live::{LiveError, LiveMonitor};
pub use monitor_type::{smallest, type_name};
pub use run::{RunError, run, run_integer, run_integer_sending, run_sending};

/// Returns an option for another program's command line.
fn option(name: &str) -> std::ffi::OsString {
    format!("--{name}").into()
}

//! A device on a plant's bus: its state over Modbus RTU, and new models for it.
//!
//! ```text
//!  Port ──► Line ──► Client ──► DeviceStatus: everything that a device says
//!  serial   bytes    requests,  send: a signed model file in pieces, with resume
//!  or TCP            retries
//! ```
//!
//! Everything that arrives is untrusted: lengths are checked, texts are cut to what is printable, and
//! no answer makes the client wait longer than its time limit.

pub mod client;
pub mod line;
pub mod send;
mod signed_file;
pub mod status;

pub use client::{Client, ModbusError, Patience};
pub use line::{Line, Parity, Port};
pub use signed_file::SignedFile;
pub use status::DeviceStatus;

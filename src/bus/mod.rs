//! The plant's bus: what a controller (PLC) reads of a device, and how a new model comes to it.
//!
//! ```text
//!  UART ──byte──► Server::push ─┐                        ┌─► Registers: finding, alarm, counts
//!       ──3.5 characters of ────┴─► Server::silence ─────┤
//!         silence                     │                  └─► update::Receiver: a model in pieces
//!       ◄── the answer ───────────────┘
//! ```
//!
//! It is Modbus RTU, which every controller speaks. The server takes bytes and gives bytes: it has no
//! UART and no clock. docs/modbus.md has the map of registers and the bytes of examples.
//!
//! The frames are ours. The crate `rmodbus` 0.13 knows neither file records (function 21) nor
//! identification (function 43), and its server indexes the frame with a byte count that comes from
//! the bus.
//!
//! **Not** here: Modbus ASCII, Modbus TCP, coils, protection against somebody who is on the bus. A
//! model is protected by its signature, not by the bus that brings it.

mod answer;
pub mod command;
pub mod files;
pub mod frame;
pub mod identity;
pub mod map;
mod number;
mod registers;
pub mod server;

pub use command::{Command, Request};
pub use identity::Identity;
pub use map::{MAP, MAP_VERSION, Register};
pub use registers::{Registers, WindowRegisters};
pub use server::Server;

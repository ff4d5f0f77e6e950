//! Reads the lines of a device's reports and keeps the state of the stream.
//!
//! ```text
//!  source ─► bytes ─► line ─► Line ─► state ─► Watch
//!  (RTT, serial, pipe)
//! ```
//!
//! A display needs only the state, so each part can be tested with a recorded stream.

pub mod source;
pub mod state;

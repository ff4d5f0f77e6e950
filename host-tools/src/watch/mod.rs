//! The live view of a device's reports.
//!
//! ```text
//!  source ─► bytes ─► line ─► Line ─► state ─► Watch ─┬─► view, on a screen
//!  (RTT, serial, pipe)                                └─► plain, a line each
//! ```
//!
//! Drawing knows nothing of terminals and parsing nothing of drawing, so that each can be tested
//! with a recorded stream.

pub mod line;
pub mod plain;
pub mod screen;
pub mod source;
pub mod state;
pub mod view;

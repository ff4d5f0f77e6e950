//! The live view of a device's reports.
//!
//! ```text
//!  the engine's state of the stream ─► Watch ─┬─► view, on a screen
//!                                             └─► plain, a line each
//! ```
//!
//! Drawing knows nothing of terminals, so that it can be tested with a recorded stream.

pub mod plain;
pub mod screen;
pub mod view;

//! The live view of a device's reports.
//!
//! ```text
//!  the engine's state of the stream ─► Watch ─┬─► view, on a screen
//!                                             └─► plain, a line each
//! ```
//!
//! Drawing does not depend on a terminal, so a test can draw a recorded stream.

pub mod plain;
pub mod screen;
pub mod view;

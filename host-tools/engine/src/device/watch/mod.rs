//! The lines of a device's reports, and what they come to.
//!
//! ```text
//!  source ─► bytes ─► line ─► Line ─► state ─► Watch
//!  (RTT, serial, pipe)
//! ```
//!
//! Whoever shows them needs nothing but the state, so that each part can be tested with a
//! recorded stream.

pub mod source;
pub mod state;

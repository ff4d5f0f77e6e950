//! What a device prints, as the host reads it.

mod lines;

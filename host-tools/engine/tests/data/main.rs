//! Recordings and manifests: every format is read, and everything wrong is refused by name.

mod formats;
mod golden;
mod hostile;
mod manifest;
mod real;
mod resample;
mod stream;

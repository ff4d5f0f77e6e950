//! Recordings and manifests: every format read, and everything wrong refused by name.

mod formats;
mod golden;
mod manifest;
mod real;
mod resample;
mod stream;

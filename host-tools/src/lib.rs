//! Host side of rebearing: recordings to features, mixtures, optimal transport, one model file.
//!
//! The modules stand in the order of the data: [`manifest`] and [`recording`] read files,
//! [`domain`] gathers those of one machine, [`split`] cuts them in time, [`extract`] calls the
//! device crate for features. [`mixture`] and [`source`] fit, [`transport`] and [`adapt`] carry
//! labels over, [`model_file`] writes the result, and [`quantise`] makes an i16 model of it whose
//! [`loss`] is measured. [`device`] runs it here, [`emulator`] on an
//! emulated microcontroller, and [`watch`] shows a real one's reports. [`bearing`] and [`evidence`] check a label against geometry.

pub mod adapt;
pub mod baselines;
pub mod bearing;
pub mod colour;
pub mod commands;
pub mod counts;
pub mod deployed;
pub mod device;
pub mod diagnoses;
pub mod doctor;
pub mod domain;
pub mod drift;
pub mod emulator;
pub mod evaluate;
pub mod evidence;
pub mod extract;
pub mod firmware;
pub mod first_dims;
pub mod flash;
pub mod front_end;
pub mod instructions;
pub mod integer_extract;
pub mod integer_model_file;
pub mod lead;
pub mod loss;
pub mod manifest;
pub mod mixture;
pub mod model_file;
pub mod npy;
pub mod output;
pub mod progress;
pub mod quantise;
pub mod rates;
pub mod recording;
pub mod report;
pub mod sections;
pub mod sectors;
pub mod simulate;
pub mod snapshot;
pub mod source;
pub mod split;
pub mod transport;
pub mod unknown;
mod verdict_line;
pub mod watch;

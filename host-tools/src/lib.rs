//! Host side of rebearing: recordings to features, mixtures, optimal transport, one model file.
//!
//! Where to start: the [`commands`] are thin, so that the command's source shows how the parts go
//! together. The whole way from recordings to labels by the device's own code is this:
//!
//! ```
//! use rebearing_host::adapt::verdict::{AdaptSettings, Pool, adapt};
//! use rebearing_host::device;
//! use rebearing_host::domain::Domain;
//! use rebearing_host::extract::extract;
//! use rebearing_host::front_end::FrontEndSettings;
//! use rebearing_host::manifest::Manifest;
//! use rebearing_host::simulate::{SimulateSettings, simulate};
//! use rebearing_host::source::{Source, SourceSettings};
//!
//! // Two simulated machines; yours come with a manifest of your own.
//! let folder = tempfile::tempdir()?;
//! let settings = SimulateSettings { seconds: 4.0, ..SimulateSettings::default() };
//! let simulated = simulate(&settings, folder.path(), &|_, _| ())?;
//! let manifest = Manifest::read(&simulated.manifest)?;
//!
//! // A mixture of the known machine, with its labels.
//! let known = Domain::read(&manifest, "motor-a")?;
//! let front_end = FrontEndSettings::equal_bands(known.rate_hz, known.axes, 2048, 1024, 2, 32)?;
//! let source = Source::fit(&known, front_end, &SourceSettings::default())?;
//!
//! // The new machine, whose labels nobody looks at.
//! let new = Domain::read(&manifest, "motor-b")?;
//! let windows = extract(&new.recordings, &new.whole(), &source.front_end)?;
//! let settings = AdaptSettings { pool: Pool::All, ..AdaptSettings::default() };
//! let adaptation = adapt(&source, &windows, &settings)?;
//! println!("{}, because {}", adaptation.verdict, adaptation.reasons.join("; "));
//!
//! // The file that goes into the device's flash, and what the device will say.
//! let model = adaptation.model(&source, &new.name, new.hash(false)?)?;
//! for report in device::run(model.model(), &new.recordings[0])? {
//!     println!("{:?}", report.finding.map(|finding| finding.label));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Mixtures and transport stand alone too, see [`mixture`] and [`transport`].
//!
//! The modules stand in the order of the data: [`manifest`] and [`recording`] read files,
//! [`domain`] gathers those of one machine, [`split`] cuts them in time, [`extract`] calls the
//! device crate for features. [`mixture`] and [`source`] fit, [`transport`] and [`adapt`] carry
//! labels over, [`model_file`] writes the result, and [`quantise`] makes an i16 model of it whose
//! [`loss`] is measured. [`device`] runs it here, [`emulator`] on an
//! emulated microcontroller, and [`watch`] shows a real one's reports. [`bearing`] and [`evidence`] check a label against geometry.

// So that the example in it is compiled and run.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod adapt;
pub mod baselines;
pub mod bearing;
pub mod colour;
pub mod commands;
pub mod counts;
mod csv_place;
pub mod deployed;
pub mod device;
pub mod diagnoses;
pub mod doctor;
pub mod domain;
pub mod drift;
pub mod embedded;
pub mod emulator;
pub mod evaluate;
pub mod evidence;
pub mod extract;
pub mod firmware;
pub mod first_dims;
pub mod flash;
pub mod folder;
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
pub mod resample;
pub mod sections;
pub mod sectors;
pub mod simulate;
pub mod snapshot;
pub mod source;
pub mod split;
pub mod transport;
pub mod units;
pub mod unknown;
mod verdict_line;
pub mod watch;

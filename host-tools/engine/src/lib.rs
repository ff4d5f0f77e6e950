//! The host side of rebearing: from recordings through features, mixtures and optimal transport to
//! one model file.
//!
//! This example goes all the way, from recordings to the labels that the device's own code gives:
//!
//! ```
//! use rebearing_host::adapt::verdict::{AdaptSettings, Pool, adapt};
//! use rebearing_host::data::domain::Domain;
//! use rebearing_host::data::manifest::Manifest;
//! use rebearing_host::device;
//! use rebearing_host::features::extract::extract;
//! use rebearing_host::features::front_end::{EqualBands, FrontEndSettings};
//! use rebearing_host::simulate::{SimulateSettings, simulate};
//! use rebearing_host::source::library::Library;
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
//! let front_end = FrontEndSettings::equal_bands(EqualBands::usual(known.rate_hz, known.axes))?;
//! let source = Source::fit(&known, &front_end, &SourceSettings::default())?;
//!
//! // The new machine, whose labels nobody looks at.
//! let new = Domain::read(&manifest, "motor-b")?;
//! let windows = extract(&new.recordings, &new.whole(), &source.front_end)?;
//! let settings = AdaptSettings { pool_is: Pool::All, ..AdaptSettings::default() };
//! let library = Library::from(source);
//! let adaptation = adapt(&library, &windows, &settings)?;
//! println!("{}, because {}", adaptation.verdict, adaptation.reasons.join("; "));
//!
//! // The file that goes into the device's flash, and what the device will say.
//! let model = adaptation.model(&new.name, new.hash(false)?)?;
//! for finding in device::run(model.model(), &new.recordings[0])? {
//!     println!("{:?}", finding.result.map(|found| found.label));
//! }
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Mixtures and transport also work on their own: see [`mixture`] and [`transport`].
//!
//! The table lists the modules in the order of the data. A module uses only the modules above it.
//!
//! | module | gives |
//! |---|---|
//! | [`progress`] | the progress of long work |
//! | [`words`] | counts and axes in words, for messages |
//! | [`files`] | output files that are never half written, and matrices in `.npy`, CSV and Parquet |
//! | [`data`] | recordings, manifests, and the domain of one machine |
//! | [`simulate`] | recordings of simulated machines |
//! | [`features`] | feature vectors, computed by the device's own code |
//! | [`mixture`] | Gaussian mixtures, fitted by EM |
//! | [`transport`] | optimal transport plans |
//! | [`model`] | the model file in both encodings, written from plain contents |
//! | [`signing`] | keys, and signed model files |
//! | [`source`] | one labelled machine, and a library of several |
//! | [`adapt`] | the verdict on a new machine, its labels, and how many of them are right |
//! | [`baselines`] | other methods to compare with |
//! | [`device`] | a model on the host, in an emulator or on a board, and the lines it prints |
//! | [`build`] | a finished model from a source and a target |
//! | [`evaluate`] | how often a method is right |
//! | [`matrices`] | every method on plain matrices |
//! | [`evidence`] | the evidence for a label in the envelope spectrum |
//! | [`report`] | the HTML page |

// Compiles and runs the example in the README.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;

pub mod adapt;
pub mod baselines;
pub mod build;
pub mod data;
pub mod device;
pub mod evaluate;
pub mod evidence;
pub mod features;
pub mod files;
pub mod matrices;
pub mod mixture;
pub mod model;
pub mod progress;
pub mod report;
pub mod signing;
pub mod simulate;
pub mod source;
pub mod transport;
pub mod words;

//! Every method on plain matrices: rows with labels of one domain and rows without labels of another
//! in, a label for each row of the other out.
//!
//! ```text
//! source rows + labels ─► classes ─┐
//! target rows ─────────────────────┼─► check ─► scale ─► Prepared ─► Model ─► labels, posterior
//! saved mixture ───────────────────┘                        └─► maps: source rows in the target
//! ```
//!
//! ```
//! use ndarray::{Array2, array};
//! use rebearing_host::baselines::Method;
//! use rebearing_host::evaluate::EvaluatedMethod;
//! use rebearing_host::files::matrix::Labels;
//! use rebearing_host::matrices::{Given, MatrixSettings, Prepared};
//!
//! let source = array![[0.0, 0.1], [0.2, 0.0], [0.1, 0.2], [5.0, 5.1], [5.2, 4.9], [5.1, 5.0]];
//! let labels = Labels::Integers(vec![7, 7, 7, 9, 9, 9]);
//! // The same two clouds, moved.
//! let target: Array2<f64> = &source + 1.0;
//! let given = Given { source: source.view().into(), labels: &labels, target: target.view().into() };
//!
//! let settings = MatrixSettings::default();
//! let prepared = Prepared::new(given, settings.scale)?;
//! let model = prepared.fit(EvaluatedMethod::Baseline(Method::GmmOtdaMap), &settings)?;
//! let found = model.label(target.view())?;
//! assert_eq!(prepared.classes().labels(&found.classes), labels);
//! # Ok::<(), rebearing_host::matrices::MatrixError>(())
//! ```
//!
//! Rows of a matrix have no time. So `guarded` carries labels or abstains here; the gate of
//! [`adapt`](crate::adapt) needs recordings.

mod check;
mod classes;
mod error;
mod guarded;
mod maps;
mod marks;
mod model;
mod prepared;
mod saved;
mod saved_json;
mod scale;
mod settings;

pub use check::{check_labels, check_source};
pub use classes::Classes;
pub use error::{MatrixError, Which};
pub use guarded::Guarded;
pub use maps::{MapKind, Mapped};
pub use marks::Marks;
pub use model::{Found, Model};
pub use prepared::{Given, Prepared};
pub use saved::{SavedLabels, SavedMixture};
pub use saved_json::SavedError;
pub use scale::{Scale, Scaling};
pub use settings::MatrixSettings;

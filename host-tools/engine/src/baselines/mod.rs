//! The methods to compare, with one interface: source and target features in, class posteriors out.
//!
//! | name | what it does |
//! |---|---|
//! | `source-only` | the source mixture's MAP classifier, unchanged |
//! | `gmm-otda-map` | target mixture with labels propagated along the plan between mixtures, MAP |
//! | `gmm-otda-t` | softmax on source samples carried over component by component |
//! | `otda-exact`, `otda-sinkhorn` | softmax on source samples moved to their plan's barycentre |
//! | `otda-affine`, `otda-affine-diag` | softmax on source samples under the Gaussian map |
//! | `hot-da` | classes matched to target clusters, then moved within each pair |
//! | `infoot`, `infoot-barycentric` | plan that also maximises mutual information |
//!
//! All except the first two end in the same one-layer softmax, so they differ only in the map. No
//! method sees a label of the target.

mod affine;
mod gmm;
mod hot;
mod infoot;
mod otda;
mod spectral;

use std::fmt;
use std::str::FromStr;
use std::time::Instant;

use ndarray::{Array1, Array2, ArrayRef1, ArrayRef2, ArrayView2};
use rand::{RngExt, SeedableRng};
use rand_xoshiro::Xoshiro256PlusPlus;
use thiserror::Error;

pub use affine::{affine_map, ledoit_wolf};
pub use hot::hierarchical_map;
pub use infoot::{InfoOt, InfoOtOptions};
pub use otda::barycentric;
pub use spectral::spectral_clusters;

use crate::adapt::maps::MapError;
use crate::adapt::plan::{PlanError, PlanSettings};
use crate::adapt::propagate::PropagateError;
use crate::adapt::softmax::{self, Softmax, SoftmaxError};
use crate::mixture::{CovarianceKind, InvalidMixture, MixtureError, Sample};
use crate::transport::TransportError;

/// A method by its `--method` name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Method {
    /// `source-only`
    SourceOnly,
    /// `gmm-otda-map`
    GmmOtdaMap,
    /// `gmm-otda-t`
    GmmOtdaT,
    /// `otda-exact` (Courty et al. 2017)
    OtdaExact,
    /// `otda-sinkhorn` (Courty et al. 2017)
    OtdaSinkhorn,
    /// `otda-affine` (Flamary et al. 2019)
    OtdaAffine,
    /// `otda-affine-diag`
    OtdaAffineDiagonal,
    /// `hot-da` (El Hamri et al. 2022)
    HotDa,
    /// `infoot`, with the conditional map (Chuang et al. 2023)
    InfoOt,
    /// `infoot-barycentric`
    InfoOtBarycentric,
}

impl Method {
    /// All methods, in the order of the table above.
    pub const ALL: [Self; 10] = [
        Self::SourceOnly,
        Self::GmmOtdaMap,
        Self::GmmOtdaT,
        Self::OtdaExact,
        Self::OtdaSinkhorn,
        Self::OtdaAffine,
        Self::OtdaAffineDiagonal,
        Self::HotDa,
        Self::InfoOt,
        Self::InfoOtBarycentric,
    ];

    /// The name on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::SourceOnly => "source-only",
            Self::GmmOtdaMap => "gmm-otda-map",
            Self::GmmOtdaT => "gmm-otda-t",
            Self::OtdaExact => "otda-exact",
            Self::OtdaSinkhorn => "otda-sinkhorn",
            Self::OtdaAffine => "otda-affine",
            Self::OtdaAffineDiagonal => "otda-affine-diag",
            Self::HotDa => "hot-da",
            Self::InfoOt => "infoot",
            Self::InfoOtBarycentric => "infoot-barycentric",
        }
    }

    /// Adapts with this method and returns the class posterior of each test row.
    pub fn predict<T: Sample>(
        self,
        task: &Task<'_, T>,
        settings: &Settings,
    ) -> Result<Prediction, BaselineError> {
        task.check()?;
        match self {
            Self::SourceOnly => gmm::source_only(task, settings),
            Self::GmmOtdaMap => gmm::map(task, settings),
            Self::GmmOtdaT => gmm::carried(task, settings),
            Self::OtdaExact => with_softmax(task, settings, otda::exact),
            Self::OtdaSinkhorn => with_softmax(task, settings, otda::sinkhorn),
            Self::OtdaAffine => with_softmax(task, settings, affine::full),
            Self::OtdaAffineDiagonal => with_softmax(task, settings, affine::diagonal),
            Self::HotDa => with_softmax(task, settings, hot::carry),
            Self::InfoOt => with_softmax(task, settings, infoot::conditional),
            Self::InfoOtBarycentric => with_softmax(task, settings, infoot::barycentric),
        }
    }
}

impl fmt::Display for Method {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The error for a name that is not a method.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no method '{0}'; the methods are {list}", list = Method::ALL.map(Method::name).join(", "))]
pub struct UnknownMethod(String);

impl FromStr for Method {
    type Err = UnknownMethod;

    fn from_str(name: &str) -> Result<Self, Self::Err> {
        Self::ALL
            .into_iter()
            .find(|method| method.name() == name)
            .ok_or_else(|| UnknownMethod(name.to_owned()))
    }
}

/// The input of a method.
#[derive(Debug, Clone, Copy)]
pub struct Task<'a, T: Sample> {
    /// Source features, one row per window.
    pub source: ArrayView2<'a, T>,
    /// Class index of each source row.
    pub labels: &'a [usize],
    /// Number of classes.
    pub classes: usize,
    /// Target features to adapt to.
    pub pool: ArrayView2<'a, T>,
    /// Target features to classify.
    pub test: ArrayView2<'a, T>,
}

impl<T: Sample> Task<'_, T> {
    fn check(&self) -> Result<(), BaselineError> {
        let dims = self.source.ncols();
        for (what, x) in [("source", &self.source), ("pool", &self.pool), ("test", &self.test)] {
            if x.nrows() == 0 || x.ncols() == 0 || x.ncols() != dims {
                let (rows, columns) = x.dim();
                return Err(BaselineError::Shape { what, rows, columns, dims });
            }
            for ((row, column), &value) in x.indexed_iter() {
                let value: f64 = value.into();
                if !value.is_finite() {
                    return Err(BaselineError::NotFinite { what, row, column, value });
                }
            }
        }
        if self.labels.len() != self.source.nrows() {
            let (labels, rows) = (self.labels.len(), self.source.nrows());
            return Err(BaselineError::Labels { labels, rows });
        }
        for class in 0..self.classes {
            if !self.labels.contains(&class) {
                return Err(BaselineError::AbsentClass { class });
            }
        }
        match self.labels.iter().enumerate().find(|(_, label)| **label >= self.classes) {
            Some((row, &label)) => Err(BaselineError::Label { row, label, classes: self.classes }),
            None => Ok(()),
        }
    }
}

/// Settings of all methods.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// Seed of everything random.
    pub seed: u64,
    /// Source components per class.
    pub components_per_class: usize,
    /// Target components; twice the number of classes if `None`, at most one per pool row.
    pub target_components: Option<usize>,
    /// Shape of the covariances.
    pub covariance: CovarianceKind,
    /// Smallest variance of a component.
    pub variance_floor: f64,
    /// Number of starts of each EM.
    pub restarts: usize,
    /// Settings of the plan between mixtures.
    pub plan: PlanSettings,
    /// Epsilon of `otda-sinkhorn` and `hot-da`, relative to the largest cost.
    pub epsilon: f64,
    /// Largest number of samples of each domain in a plan between samples, because the cost grows
    /// with the product of both numbers. More samples are thinned, evenly in time and within each
    /// class of the source.
    pub max_samples: usize,
    /// Settings of `infoot`.
    pub infoot: InfoOtOptions,
    /// Settings of the classifier.
    pub softmax: softmax::Options,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            seed: 0,
            components_per_class: 2,
            target_components: None,
            covariance: CovarianceKind::Diagonal,
            variance_floor: 0.01,
            restarts: 3,
            plan: PlanSettings::default(),
            epsilon: 1e-2,
            max_samples: 1000,
            infoot: InfoOtOptions::default(),
            softmax: softmax::Options::default(),
        }
    }
}

/// The result of a method.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Class posterior of each test row, n × C; rows sum to one.
    pub posterior: Array2<f64>,
    /// The time spent.
    pub seconds: Seconds,
}

/// Seconds spent in each step of a method.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct Seconds {
    /// Time for the source mixture, or for the classifier on the carried samples.
    pub fit_source: f64,
    /// Time for the target mixture or clusters.
    pub fit_target: f64,
    /// Time for cost, plan and map.
    pub transport: f64,
}

/// Why a method gave no prediction.
#[derive(Debug, Clone, PartialEq, Error)]
pub enum BaselineError {
    /// A feature matrix is empty or does not have the source's number of columns.
    #[error(
        "the {what} features are {rows} × {columns}; they need at least one row and {dims} columns, as the source has"
    )]
    Shape {
        /// `source`, `pool` or `test`.
        what: &'static str,
        /// Number of rows.
        rows: usize,
        /// Number of columns.
        columns: usize,
        /// Number of columns of the source.
        dims: usize,
    },
    /// A feature is infinite or not a number.
    #[error(
        "{what} feature at row {row}, column {column} is {value}; remove the row or repair the recording it comes from"
    )]
    NotFinite {
        /// `source`, `pool` or `test`.
        what: &'static str,
        /// Row, counted from 0.
        row: usize,
        /// Column, counted from 0.
        column: usize,
        /// The value.
        value: f64,
    },
    /// The number of labels differs from the number of source rows.
    #[error("{labels} labels for {rows} source rows; there must be one for each")]
    Labels {
        /// Number of labels.
        labels: usize,
        /// Number of source rows.
        rows: usize,
    },
    /// A label is not the index of a class.
    #[error(
        "source row {row} has label {label}, but there are {classes} classes (labels count from zero)"
    )]
    Label {
        /// Row, counted from 0.
        row: usize,
        /// The label.
        label: usize,
        /// Number of classes.
        classes: usize,
    },
    /// A class has no source row.
    #[error("class {class} has no source row; leave it out or bring recordings of it")]
    AbsentClass {
        /// Class, counted from 0.
        class: usize,
    },
    /// The target pool is too small to be clustered.
    #[error("{samples} pool rows for {clusters} clusters; bring at least one row for each class")]
    TooFew {
        /// Number of rows in the pool.
        samples: usize,
        /// Required number of clusters.
        clusters: usize,
    },
    /// A setting is outside its range.
    #[error("{name} is {value}; it must be {allowed}")]
    Setting {
        /// Name of the setting.
        name: &'static str,
        /// The given value.
        value: f64,
        /// The allowed values.
        allowed: &'static str,
    },
    /// The source covariance allows no affine map.
    #[error(
        "the source covariance is singular even when shrunk: two samples, or no spread at all; bring more source samples, or use otda-affine-diag"
    )]
    NoSpread,
    /// Fitting a mixture failed.
    #[error(transparent)]
    Fit(#[from] MixtureError),
    /// Evaluating a mixture failed.
    #[error(transparent)]
    Mixture(#[from] InvalidMixture),
    /// Computing the component costs or the plan failed.
    #[error(transparent)]
    Plan(#[from] PlanError),
    /// Transport failed.
    #[error(transparent)]
    Transport(#[from] TransportError),
    /// Propagating labels failed.
    #[error(transparent)]
    Propagate(#[from] PropagateError),
    /// Mapping samples failed.
    #[error(transparent)]
    Map(#[from] MapError),
    /// Training the classifier failed.
    #[error(transparent)]
    Softmax(#[from] SoftmaxError),
}

/// Source samples with labels and target samples, in f64 and thinned.
struct Samples {
    source: Array2<f64>,
    labels: Vec<usize>,
    pool: Array2<f64>,
    classes: usize,
}

/// Source samples carried over to the target, and the time for finding the target's structure.
type Carried = Result<(Array2<f64>, f64), BaselineError>;

/// Carries the source samples over, trains a softmax on them, and applies it to the test rows.
fn with_softmax<T: Sample>(
    task: &Task<'_, T>,
    settings: &Settings,
    carry: impl Fn(&Samples, &Settings) -> Carried,
) -> Result<Prediction, BaselineError> {
    if settings.max_samples == 0 {
        let (name, allowed) = ("max_samples", "at least 1");
        return Err(BaselineError::Setting { name, value: 0.0, allowed });
    }
    let samples = samples(task, settings);
    let start = Instant::now();
    let (carried, fit_target) = carry(&samples, settings)?;
    let transport = start.elapsed().as_secs_f64() - fit_target;
    let start = Instant::now();
    let weights = vec![1.0; samples.labels.len()];
    let softmax =
        Softmax::train(&carried, &samples.labels, &weights, task.classes, &settings.softmax)?;
    let posterior = softmax.posterior(&to_f64(&task.test, None));
    let fit_source = start.elapsed().as_secs_f64();
    Ok(Prediction { posterior, seconds: Seconds { fit_source, fit_target, transport } })
}

fn samples<T: Sample>(task: &Task<'_, T>, settings: &Settings) -> Samples {
    let (n, limit) = (task.labels.len(), settings.max_samples);
    let mut rng = Xoshiro256PlusPlus::seed_from_u64(settings.seed);
    let mut chosen = Vec::with_capacity(n.min(limit));
    for class in 0..task.classes {
        let members: Vec<usize> = (0..n).filter(|&row| task.labels[row] == class).collect();
        // At least one row of every class stays.
        let share = (members.len() * limit / n).max(1);
        chosen.extend(thinned(members.len(), share, &mut rng).into_iter().map(|i| members[i]));
    }
    chosen.sort_unstable();
    let pool = thinned(task.pool.nrows(), limit, &mut rng);
    Samples {
        source: to_f64(&task.source, Some(&chosen)),
        labels: chosen.iter().map(|&row| task.labels[row]).collect(),
        pool: to_f64(&task.pool, Some(&pool)),
        classes: task.classes,
    }
}

/// At most `limit` of the indices `0..len`: a random one from each of `limit` equal stretches. Even
/// steps could coincide with a period in the rows.
fn thinned(len: usize, limit: usize, rng: &mut Xoshiro256PlusPlus) -> Vec<usize> {
    let count = len.min(limit);
    (0..count).map(|i| rng.random_range(i * len / count..(i + 1) * len / count)).collect()
}

/// The rows (all of them if `None`) in f64.
fn to_f64<T: Sample>(x: &ArrayRef2<T>, rows: Option<&[usize]>) -> Array2<f64> {
    let count = rows.map_or(x.nrows(), <[usize]>::len);
    Array2::from_shape_fn((count, x.ncols()), |(i, j)| {
        x[[rows.map_or(i, |rows| rows[i]), j]].into()
    })
}

/// Equal weights.
fn uniform(len: usize) -> Vec<f64> {
    vec![1.0 / len as f64; len]
}

/// Mean of each column.
fn column_means(x: &ArrayRef2<f64>) -> Array1<f64> {
    x.sum_axis(ndarray::Axis(0)) / x.nrows() as f64
}

/// Rows minus a vector.
fn centred(x: &ArrayRef2<f64>, mean: &ArrayRef1<f64>) -> Array2<f64> {
    &x.view() - &mean.view().insert_axis(ndarray::Axis(0))
}

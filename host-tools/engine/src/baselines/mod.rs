//! The methods to compare, with one interface: source and target features in, a classifier for the
//! target out.
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
mod classifier;
mod error;
mod gmm;
mod hot;
mod infoot;
mod nearest;
mod otda;
mod samples;
mod settings;
mod spectral;
mod target_mixture;
mod task;

use std::fmt;
use std::str::FromStr;

use thiserror::Error;

pub use affine::{affine_map, ledoit_wolf};
pub use classifier::{Classifier, Fitted, Seconds};
pub use error::BaselineError;
pub use gmm::Joined;
pub use hot::hierarchical_map;
pub use infoot::{InfoOt, InfoOtOptions};
pub use nearest::Nearest;
pub use otda::barycentric;
pub use settings::{ClassifierKind, Settings};
pub use spectral::spectral_clusters;
pub use task::Task;

use crate::mixture::Sample;
use samples::{Carried, Samples, centred, column_means, uniform, with_classifier};

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

    /// Adapts with this method and returns a classifier for rows of the target.
    pub fn fit<T: Sample>(
        self,
        task: &Task<'_, T>,
        settings: &Settings,
    ) -> Result<Fitted, BaselineError> {
        task.check()?;
        match self {
            Self::SourceOnly => gmm::source_only(task, settings),
            Self::GmmOtdaMap => Joined::new(task, settings)?.map(),
            Self::GmmOtdaT => Joined::new(task, settings)?.carried(task, settings),
            Self::OtdaExact => with_classifier(task, settings, otda::exact),
            Self::OtdaSinkhorn => with_classifier(task, settings, otda::sinkhorn),
            Self::OtdaAffine => with_classifier(task, settings, affine::full),
            Self::OtdaAffineDiagonal => with_classifier(task, settings, affine::diagonal),
            Self::HotDa => with_classifier(task, settings, hot::carry),
            Self::InfoOt => with_classifier(task, settings, infoot::conditional),
            Self::InfoOtBarycentric => with_classifier(task, settings, infoot::barycentric),
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

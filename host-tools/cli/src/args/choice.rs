//! Names and help of the library's settings that a user chooses by name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rebearing::Encoding;
use rebearing_host::adapt::plan::Solver;
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::baselines::Method;
use rebearing_host::device::emulator::SampleKind;
use rebearing_host::evaluate::EvaluatedMethod::{self, Baseline, Guarded};
use rebearing_host::matrices::{MapKind, Scale};
use rebearing_host::mixture::CovarianceKind;
use rebearing_host::simulate::FileFormat;

/// A setting with a few values, each with a name and a line of help.
pub(crate) trait Choice: Copy + PartialEq + Send + Sync + 'static {
    /// Every value, its name and its help, in the order of the help.
    const ALL: &'static [(Self, &'static str, &'static str)];

    /// The name of this value, as a user writes it.
    fn choice_name(self) -> &'static str {
        Self::ALL.iter().find(|(value, ..)| *value == self).map_or("", |(_, name, _)| name)
    }
}

/// Returns a parser that takes the names of a setting's values, and nothing else.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|given| {
        let found = T::ALL.iter().find(|(_, name, _)| *name == given);
        found.map(|(value, ..)| *value).ok_or("no such value")
    })
}

/// One value of a setting, or all of them.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) enum OneOrAll<T> {
    One(T),
    All,
}

/// Returns a parser that takes the names of a setting's values, and `all`.
pub(crate) fn choice_or_all<T: Choice>() -> impl TypedValueParser<Value = OneOrAll<T>> {
    let values = T::ALL.iter().map(|(_, name, help)| PossibleValue::new(name).help(help));
    let all = PossibleValue::new("all").help("Each of them");
    PossibleValuesParser::new(values.chain([all])).try_map(|given| {
        let found = T::ALL.iter().find(|(_, name, _)| *name == given);
        match found {
            Some((value, ..)) => Ok(OneOrAll::One(*value)),
            None if given == "all" => Ok(OneOrAll::All),
            None => Err("no such value"),
        }
    })
}

impl Choice for Scale {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::None, "none", "Not at all"),
        (Self::Source, "source", "Both by mean and standard deviation of the source's columns"),
        (Self::Each, "each", "Each by its own mean and standard deviation"),
    ];
}

impl Choice for MapKind {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Weight, "weight", "To every component that the plan joins with the row's own"),
        (Self::Mean, "mean", "To the mean over all pairs of components"),
        (Self::Rand, "rand", "Along one pair of components, drawn at random"),
    ];
}

impl Choice for CovarianceKind {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Diagonal, "diag", "A variance per component and feature"),
        (Self::Full, "full", "A matrix per component"),
        (Self::Spherical, "spherical", "A variance per component"),
        (Self::Tied, "tied", "One matrix for all components"),
    ];
}

impl Choice for Pool {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::All, "all", "Every class of the source is in the recordings"),
        (Self::Healthy, "healthy", "The machine was healthy throughout"),
        (Self::Unknown, "unknown", "Nothing is known"),
    ];
}

impl Choice for Solver {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Exact, "exact", "Linear program; both marginals are kept"),
        (Self::Sinkhorn, "sinkhorn", "Entropic; both marginals are kept"),
        (
            Self::Relaxed,
            "relaxed",
            "Entropic; the target's shares are kept, the source's class shares may change",
        ),
    ];
}

impl Choice for EvaluatedMethod {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Guarded, "guarded", "What `rebearing adapt` does: adapt, keep or abstain"),
        (
            Baseline(Method::GmmOtdaMap),
            "gmm-otda-map",
            "The target's mixture, labelled along the plan between mixtures",
        ),
        (
            Baseline(Method::GmmOtdaT),
            "gmm-otda-t",
            "Softmax on source windows that are moved component by component",
        ),
        (Baseline(Method::SourceOnly), "source-only", "The source's mixture as it is"),
        (
            Baseline(Method::OtdaExact),
            "otda-exact",
            "Softmax on source windows that are moved along the exact plan",
        ),
        (
            Baseline(Method::OtdaSinkhorn),
            "otda-sinkhorn",
            "Softmax on source windows that are moved along the entropic plan",
        ),
        (
            Baseline(Method::OtdaAffine),
            "otda-affine",
            "Softmax on source windows under the affine map between two Gaussians",
        ),
        (
            Baseline(Method::OtdaAffineDiagonal),
            "otda-affine-diag",
            "The same with diagonal covariances",
        ),
        (
            Baseline(Method::HotDa),
            "hot-da",
            "Matches classes to target clusters, then moves windows within each pair",
        ),
        (
            Baseline(Method::InfoOt),
            "infoot",
            "Plan that also maximises mutual information; its conditional map moves the windows",
        ),
        (
            Baseline(Method::InfoOtBarycentric),
            "infoot-barycentric",
            "The same plan; windows are moved to their barycentre",
        ),
    ];
}

impl Choice for Encoding {
    const ALL: &'static [(Self, &'static str, &'static str)] =
        &[(Self::F32, "f32", "32-bit floats"), (Self::I16, "i16", "16-bit integers")];
}

impl Choice for SampleKind {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::F32, "f32", "32-bit floats, any value"),
        (Self::I16, "i16", "16-bit counts; the recording must hold whole numbers in their range"),
    ];
}

impl Choice for FileFormat {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Wav, "wav", "32-bit floats; carries the rate"),
        (
            Self::Csv,
            "csv",
            "A column of time in seconds and one for each axis, as data loggers write them",
        ),
    ];
}

#[cfg(test)]
mod tests {
    use serde_json::to_value;

    use super::*;

    #[test]
    fn a_value_has_one_name_on_the_command_line_and_in_json() {
        let names = |all: &[(serde_json::Value, &'static str)]| {
            for (json, name) in all {
                assert_eq!(json, name);
            }
        };
        names(&Pool::ALL.iter().map(|(v, n, _)| (to_value(v).unwrap(), *n)).collect::<Vec<_>>());
        names(&Solver::ALL.iter().map(|(v, n, _)| (to_value(v).unwrap(), *n)).collect::<Vec<_>>());
        names(
            &FileFormat::ALL.iter().map(|(v, n, _)| (to_value(v).unwrap(), *n)).collect::<Vec<_>>(),
        );
    }

    #[test]
    fn every_method_can_be_chosen_by_its_own_name() {
        assert_eq!(EvaluatedMethod::ALL.len(), Method::ALL.len() + 1);
        for (method, name, _) in EvaluatedMethod::ALL {
            assert_eq!(method.name(), *name);
        }
    }
}

//! Settings of the library that a user chooses by name.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use rebearing::Encoding;
use rebearing_host::adapt::plan::Solver;
use rebearing_host::adapt::verdict::Pool;
use rebearing_host::baselines::Method;
use rebearing_host::device::emulator::SampleKind;
use rebearing_host::evaluate::EvaluatedMethod::{self, Baseline, Guarded};
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

/// Takes the names of a setting's values, and no other.
pub(crate) fn choice<T: Choice>() -> impl TypedValueParser<Value = T> {
    let values = T::ALL.iter().map(|(_, name, help)| PossibleValue::new(name).help(help));
    PossibleValuesParser::new(values).try_map(|given| {
        let found = T::ALL.iter().find(|(_, name, _)| *name == given);
        found.map(|(value, ..)| *value).ok_or("no such value")
    })
}

impl Choice for Pool {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::All, "all", "Every class of the source is in them"),
        (Self::Healthy, "healthy", "The machine was healthy throughout"),
        (Self::Unknown, "unknown", "Nothing is known"),
    ];
}

impl Choice for Solver {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Self::Exact, "exact", "Linear program, both marginals held"),
        (Self::Sinkhorn, "sinkhorn", "Entropic, both marginals held"),
        (
            Self::Relaxed,
            "relaxed",
            "Entropic, the target held; the source's class shares may give way to the target's",
        ),
    ];
}

impl Choice for EvaluatedMethod {
    const ALL: &'static [(Self, &'static str, &'static str)] = &[
        (Guarded, "guarded", "What `rebearing adapt` does: adapt, keep or abstain"),
        (
            Baseline(Method::GmmOtdaMap),
            "gmm-otda-map",
            "Target mixture, labelled along the plan between mixtures",
        ),
        (
            Baseline(Method::GmmOtdaT),
            "gmm-otda-t",
            "Softmax on source windows carried over component by component",
        ),
        (Baseline(Method::SourceOnly), "source-only", "The source's mixture as it is"),
        (
            Baseline(Method::OtdaExact),
            "otda-exact",
            "Softmax on source windows moved along the exact plan",
        ),
        (
            Baseline(Method::OtdaSinkhorn),
            "otda-sinkhorn",
            "Softmax on source windows moved along the entropic plan",
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
            "Classes matched to target clusters, then moved within each pair",
        ),
        (
            Baseline(Method::InfoOt),
            "infoot",
            "Plan that also maximises mutual information; windows moved by its conditional map",
        ),
        (
            Baseline(Method::InfoOtBarycentric),
            "infoot-barycentric",
            "The same plan; windows moved to their barycentre",
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

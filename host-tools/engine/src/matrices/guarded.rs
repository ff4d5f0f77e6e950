//! `guarded` on matrices: carries the labels along the plan, and uses them only if the predicted
//! accuracy keeps the promise.

use std::time::Instant;

use ndarray::{Array2, ArrayView2};

use super::prepared::{Known, Prepared, since};
use super::{MatrixError, MatrixSettings};
use crate::adapt::adaptation::Verdict;
use crate::adapt::curve::Prediction;
use crate::adapt::judgement::Judgement;
use crate::adapt::plausible;
use crate::adapt::reasons;
use crate::adapt::reference::Reference;
use crate::adapt::settings::Pool;
use crate::adapt::target::TargetMixture;
use crate::adapt::transfer::{Support, carry};
use crate::baselines::{self, Classifier, Seconds};
use crate::data::domain::healthy_class;
use crate::mixture::{
    ComponentCount, Covariance, CovarianceKind, LabelledMixture, Mixture, Sample, fit_conditional,
};
use crate::source::{Parts, SourceSettings};
use crate::words::plural;

/// The verdict of `guarded`, and the reasons for it.
#[derive(Debug, Clone)]
pub struct Guarded {
    /// The verdict: adapt or abstain.
    pub verdict: Verdict,
    /// Whether classes are named although the verdict is to abstain.
    pub forced: bool,
    /// The judgement on the carried labels: the predicted accuracy, and what contradicts it.
    pub judgement: Judgement,
    /// The evidence for the carried labels.
    pub support: Support,
    /// The reasons, in words and figures.
    pub reasons: Vec<String>,
    /// Contradictions between the rows and what was said about them.
    pub warnings: Vec<String>,
}

impl Guarded {
    /// Whether classes are named.
    pub fn names_classes(&self) -> bool {
        self.verdict == Verdict::Adapt || self.forced
    }
}

/// Carries the labels and judges them. The classifier is that of the carried labels, whatever the
/// verdict.
pub(super) fn guarded<T: Sample>(
    prepared: &Prepared<'_, T>,
    settings: &MatrixSettings,
    own: &baselines::Settings,
) -> Result<(baselines::Fitted, Guarded), MatrixError> {
    if own.covariance != CovarianceKind::Diagonal {
        return Err(MatrixError::Setting {
            name: "covariance",
            value: own.covariance.name().into(),
            problem: "guarded compares diagonal covariances; choose diag, or another method",
        });
    }
    // The promise was measured on features in nats, that is, in one unit for all columns.
    let unit = prepared.mean_variance().sqrt();
    let em = SourceSettings {
        components: own.components_per_class,
        variance_floor: settings.methods.variance_floor,
        restarts: own.restarts,
        seed: own.seed,
        healthy: None,
    };
    let start = Instant::now();
    let names = prepared.classes().names();
    let source = match &prepared.source {
        Known::Rows { x, labels } => {
            let x = in_units(x.view(), unit);
            let count = ComponentCount::PerClass(em.components);
            let em = em.em(em.components);
            fit_conditional(x.view(), labels, &names, None, &count, &em, &|_| ())?.mixture
        }
        Known::Mixture(source) => {
            if source.mixture.covariance.kind() != CovarianceKind::Diagonal {
                return Err(MatrixError::Setting {
                    name: "source_mixture",
                    value: source.mixture.covariance.kind().name().into(),
                    problem: "guarded compares diagonal covariances; fit it with diag, or choose another method",
                });
            }
            rescaled(source, unit.recip())
        }
    };
    let fit_source = since(start);
    let x = in_units(prepared.target.view(), unit);
    let components = own.target_components.unwrap_or(own.components_per_class * names.len());
    let target = TargetMixture::fit_at_most(&x, 1.0, components, &em)?;
    let dims = x.ncols();
    let (shift, scale) = (vec![0.0; dims], vec![1.0; dims]);
    let healthy = healthy_class(&names, None).ok().flatten();
    let parts = Parts { mixture: &source, shift: &shift, scale: &scale, healthy };
    let carried = carry(parts, &x, &target, &own.plan)?;
    let reference = Reference::of(parts)?;
    let plausibility = plausible::judge(
        std::slice::from_ref(&reference),
        &reference,
        &target.mixture,
        &carried.mixture.labels,
    );
    let prediction = Prediction::fixed(carried.support.quality, names.len());
    let judgement = Judgement::new(prediction, plausibility, settings.pool_is, settings.promise);
    let seconds = Seconds {
        fit_source,
        fit_target: carried.fit_seconds,
        transport: carried.transport_seconds,
    };
    let mut reasons = Vec::new();
    if settings.pool_is == Pool::All {
        reasons.push("the target was declared to hold every class".into());
    }
    reasons.push(judgement.predicted());
    reasons.extend(judgement.contradictions());
    reasons.push(reasons::agreement(&carried.support));
    reasons.push(format!(
        "{} from {}",
        plural(target.mixture.components(), "target component", "target components"),
        plural(x.nrows(), "row", "rows")
    ));
    if carried.plan.fell_back {
        reasons.push("the entropic plan did not converge: the exact one was taken".into());
    }
    let kept = judgement.kept();
    let forced = !kept && settings.force;
    if !kept {
        reasons.push(if forced {
            "FORCED: classes are named although the promise is not kept; expect wrong names".into()
        } else {
            "nothing is named: every row is unknown (`force` names classes all the same; a lower `promise` accepts more)"
                .into()
        });
    }
    let verdict = if kept { Verdict::Adapt } else { Verdict::Abstain };
    let fitted = baselines::Fitted {
        classifier: Classifier::Mixture(rescaled(&carried.mixture, unit)),
        seconds,
    };
    let (support, warnings) = (carried.support, judgement.warnings());
    Ok((fitted, Guarded { verdict, forced, judgement, support, reasons, warnings }))
}

/// The rows in single precision, in units of `unit`.
fn in_units<T: Sample>(x: ArrayView2<'_, T>, unit: f64) -> Array2<f32> {
    x.mapv(|x| (x.into() / unit) as f32)
}

/// The mixture of `factor · x`.
fn rescaled(labelled: &LabelledMixture, factor: f64) -> LabelledMixture {
    let LabelledMixture { mixture, labels } = labelled;
    let covariance = match &mixture.covariance {
        Covariance::Diagonal(variances) => Covariance::Diagonal(variances * (factor * factor)),
        // The mixtures of `guarded` are diagonal.
        other => other.clone(),
    };
    let mixture =
        Mixture { weights: mixture.weights.clone(), means: &mixture.means * factor, covariance };
    LabelledMixture { mixture, labels: labels.clone() }
}

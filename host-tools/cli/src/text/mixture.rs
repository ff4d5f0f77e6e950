//! A fitted mixture, as text and as the JSON that is saved.

use std::fmt::Write as _;
use std::path::Path;

use rebearing_host::matrices::SavedMixture;
use rebearing_host::mixture::{ClassFit, EmSettings, Fit};
use rebearing_host::words::plural;
use serde_json::{Map, Value, json};

/// The course of a fit: of one mixture, or of one for each class.
pub(crate) enum Course {
    One(Box<Fit>),
    Classes(Vec<ClassFit>),
}

/// A fitted mixture with everything that is told about it.
pub(crate) struct Fitted<'a> {
    pub(crate) saved: &'a SavedMixture,
    pub(crate) course: &'a Course,
    /// Mean log-likelihood of the samples under the saved parameters.
    pub(crate) log_likelihood: f64,
    pub(crate) samples: usize,
    pub(crate) settings: &'a EmSettings,
    pub(crate) data: &'a Path,
    pub(crate) out: &'a Path,
}

impl Fitted<'_> {
    pub(crate) fn text(&self) -> String {
        let mixture = &self.saved.mixture;
        let mut text = format!(
            "{} ({}) of {} × {} -> {}\nmean log-likelihood {:.6}",
            plural(mixture.components(), "component", "components"),
            self.settings.covariance.name(),
            plural(self.samples, "sample", "samples"),
            plural(mixture.dimensions(), "feature", "features"),
            self.out.display(),
            self.log_likelihood,
        );
        let converged = match self.course {
            Course::One(fit) => {
                let iterations = plural(fit.iterations, "iteration", "iterations");
                let _ = write!(text, " after {iterations}");
                fit.converged
            }
            Course::Classes(classes) => {
                let _ = write!(text, ", {}", plural(classes.len(), "class", "classes"));
                classes.iter().all(|class| class.converged)
            }
        };
        if !converged {
            text.push_str("; the tolerance was not reached: raise --max-iterations");
        }
        let Course::One(fit) = self.course else { return text };
        if fit.reseeded > 0 {
            let times = plural(fit.reseeded, "time", "times");
            let _ = write!(text, "\n{times} a component without samples got a new mean");
        }
        if !fit.constant_columns.is_empty() {
            let _ = write!(
                text,
                "\nconstant features, with --variance-floor as their only variance: {:?}",
                fit.constant_columns
            );
        }
        text
    }

    /// The saved file. `log_likelihood` is that of the parameters in it. `lower_bound` is that of the
    /// last E-step, as scikit-learn's `lower_bound_`.
    pub(crate) fn to_json(&self) -> Value {
        let mixture = &self.saved.mixture;
        let mut json = json!({
            "data": self.data.display().to_string(),
            "samples": self.samples,
            "features": mixture.dimensions(),
            "components": mixture.components(),
            "seed": self.settings.seed,
            "variance_floor": self.settings.variance_floor,
            "tolerance": self.settings.tolerance,
            "log_likelihood": self.log_likelihood,
        });
        let more = match self.course {
            Course::One(fit) => json!({
                "restart": fit.restart,
                "iterations": fit.iterations,
                "converged": fit.converged,
                "reseeded": fit.reseeded,
                "constant_features": fit.constant_columns,
                "lower_bound": fit.log_likelihood,
            }),
            Course::Classes(classes) => json!({
                "converged": classes.iter().all(|class| class.converged),
                "class_fits": classes.iter().map(class_fit).collect::<Vec<_>>(),
            }),
        };
        let mut add = |fields: Map<String, Value>| {
            if let Value::Object(own) = &mut json {
                own.extend(fields);
            }
        };
        if let Value::Object(more) = more {
            add(more);
        }
        add(self.saved.to_json());
        json
    }
}

fn class_fit(fit: &ClassFit) -> Value {
    json!({
        "class": fit.class,
        "samples": fit.samples,
        "components": fit.components,
        "iterations": fit.iterations,
        "converged": fit.converged,
        "reseeded": fit.reseeded,
        "lower_bound": fit.log_likelihood,
    })
}

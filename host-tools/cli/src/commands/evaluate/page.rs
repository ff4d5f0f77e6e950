//! Writes the page about an evaluation.

use std::path::Path;

use anyhow::Result;
use rebearing_host::evaluate::Run;
use rebearing_host::files::output;
use rebearing_host::report::{EvaluationContents, NotEvaluated, evaluation};

use super::{EvaluateArgs, Missing};
use crate::text::command_line::{manifest_file, origin};
use crate::text::evaluation::PairScores;
use crate::text::printable::printable;

pub(super) fn write(
    path: &Path,
    args: &EvaluateArgs,
    scores: &[PairScores<'_>],
    missing: &[Missing],
) -> Result<()> {
    let pairs: Vec<&[Run]> = scores.iter().map(|pair| pair.runs).collect();
    let missing: Vec<NotEvaluated> = missing
        .iter()
        .map(|one| NotEvaluated {
            source: one.source.clone(),
            target: one.target.clone(),
            reason: one.reason.clone(),
        })
        .collect();
    let page = evaluation(&EvaluationContents {
        data: &args.manifest.display().to_string(),
        pairs: &pairs,
        missing: &missing,
        promise: args.promise,
        origin: &origin(vec![manifest_file(&args.manifest)?]),
    })?;
    Ok(output::write(path, printable(&page.html).as_bytes())?)
}

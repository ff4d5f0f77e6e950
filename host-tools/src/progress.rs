//! Progress on standard error: a spinner or a bar on a terminal, nothing elsewhere.

use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// A spinner that says what is being done; it vanishes when dropped.
pub struct Step {
    bar: ProgressBar,
}

impl Step {
    /// Starts to show `what`.
    pub fn start(what: impl Into<String>) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        // A fixed template that indicatif knows; the default serves if it ever did not.
        if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
            bar.set_style(style);
        }
        bar.set_message(what.into());
        bar.enable_steady_tick(Duration::from_millis(120));
        Self { bar }
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

/// A bar that fills as parts of the work are done; it vanishes when dropped.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Starts to show `what`.
    pub fn start(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        if let Ok(style) = ProgressStyle::with_template("{msg} {bar:30} {pos}/{len} ({eta} left)") {
            bar.set_style(style);
        }
        bar.set_message(what);
        Self { bar }
    }

    /// Shows that `done` of `total` parts are done.
    pub fn at(&self, done: usize, total: usize) {
        self.bar.set_length(total as u64);
        self.bar.set_position(done as u64);
    }
}

impl Drop for Bar {
    fn drop(&mut self) {
        self.bar.finish_and_clear();
    }
}

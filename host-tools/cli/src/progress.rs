//! Shows progress on standard error: the step, how much of it is done, and the time left. It prints
//! only on a terminal.
//!
//! There is one terminal, so there is one step at a time. A command starts a [`Step`]. The library
//! reports its progress, and [`show`] makes it appear here.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use rebearing_host::progress::{self, Listener};

use crate::text::printable::one_line;

/// Templates for indicatif. The message is shortened if the terminal is narrow.
const UNCOUNTED: &str = "{spinner} {wide_msg} {elapsed}";
const COUNTED: &str = "{spinner} {wide_msg} {bar:20} {human_pos}/{human_len}, {eta} left";
const TICK: Duration = Duration::from_millis(120);

/// The step on the terminal.
static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);
/// True while a step is on a visible terminal. Without one, work need not take the lock.
static WATCHED: AtomicBool = AtomicBool::new(false);

struct Shown {
    bar: ProgressBar,
    what: String,
}

/// A step of a command; it vanishes from the terminal when dropped.
#[must_use = "it is shown until it is dropped"]
pub struct Step(());

impl Step {
    /// Starts to show `what` and the time since this call.
    pub fn start(what: impl Into<String>) -> Self {
        let what = one_line(&what.into()).into_owned();
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        style(&bar, UNCOUNTED);
        bar.set_message(what.clone());
        bar.enable_steady_tick(TICK);
        WATCHED.store(!bar.is_hidden(), Ordering::Relaxed);
        *lock() = Some(Shown { bar, what });
        Self(())
    }
}

impl Drop for Step {
    fn drop(&mut self) {
        WATCHED.store(false, Ordering::Relaxed);
        if let Some(shown) = lock().take() {
            shown.bar.finish_and_clear();
        }
    }
}

/// Shows the library's progress within the step on the terminal.
pub fn show() {
    progress::listen(&Terminal);
}

/// The terminal, as the library's listener.
struct Terminal;

impl Listener for Terminal {
    fn stage(&self, what: &str, parts: usize) {
        tell(|shown| {
            shown.bar.set_message(one_line(what).into_owned());
            style(&shown.bar, COUNTED);
            shown.bar.set_position(0);
            shown.bar.set_length(parts as u64);
            shown.bar.reset_eta();
        });
    }

    fn stage_over(&self) {
        tell(|shown| {
            style(&shown.bar, UNCOUNTED);
            shown.bar.set_message(shown.what.clone());
            shown.bar.unset_length();
            shown.bar.set_position(0);
        });
    }

    /// Shows a bar, and the time that is left.
    fn expect(&self, parts: usize) {
        tell(|shown| {
            if shown.bar.length().is_none() {
                style(&shown.bar, COUNTED);
                shown.bar.set_length(0);
            }
            shown.bar.inc_length(parts as u64);
        });
    }

    fn done(&self, parts: usize) {
        tell(|shown| shown.bar.inc(parts as u64));
    }

    fn spared(&self, parts: usize) {
        tell(|shown| shown.bar.dec_length(parts as u64));
    }
}

fn lock() -> std::sync::MutexGuard<'static, Option<Shown>> {
    // A panic cannot leave the bar in a wrong state.
    SHOWN.lock().unwrap_or_else(PoisonError::into_inner)
}

fn tell(tell: impl FnOnce(&Shown)) {
    if WATCHED.load(Ordering::Relaxed)
        && let Some(shown) = &*lock()
    {
        tell(shown);
    }
}

fn style(bar: &ProgressBar, template: &str) {
    // If indicatif does not know the template, the default stays.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

/// A bar with parts that its owner counts. The library's own progress is not shown in it.
pub struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Starts to show `what`.
    pub fn start(what: &'static str) -> Self {
        let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
        style(&bar, COUNTED);
        bar.set_message(what);
        bar.enable_steady_tick(TICK);
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

#[cfg(test)]
mod tests {
    use super::{COUNTED, Step, UNCOUNTED, show};
    use indicatif::ProgressStyle;
    use rebearing_host::progress::{done, expect, spared, stage};

    #[test]
    fn indicatif_knows_the_templates() {
        for template in [COUNTED, UNCOUNTED] {
            ProgressStyle::with_template(template).unwrap();
        }
    }

    #[test]
    fn what_nobody_watches_may_be_told_all_the_same() {
        show();
        done(1);
        let _step = Step::start("working");
        expect(3);
        done(1);
        spared(2);
        let _stage = stage("a part of it", 5);
        done(5);
    }
}

//! Progress on standard error: what is done, how much of it, and how long the rest will take. On a
//! terminal only; elsewhere nothing is printed.
//!
//! There is one terminal, and so one step at a time. Whoever does the work of a step tells it by
//! [`stage`], [`expect`] and [`done`], wherever in the library that is and on whatever thread: the
//! functions that do the work need no argument for who is watching, and where nobody is they cost
//! an atomic load.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

/// Templates that indicatif knows; the message gives way where the terminal is narrow.
const UNCOUNTED: &str = "{spinner} {wide_msg} {elapsed}";
const COUNTED: &str = "{spinner} {wide_msg} {bar:20} {human_pos}/{human_len}, {eta} left";
const TICK: Duration = Duration::from_millis(120);

/// The step that is on the terminal.
static SHOWN: Mutex<Option<Shown>> = Mutex::new(None);
/// Whether there is one, so that work that nobody watches need not lock.
static WATCHED: AtomicBool = AtomicBool::new(false);

struct Shown {
    bar: ProgressBar,
    what: String,
}

/// A step of a command; it vanishes from the terminal when dropped.
#[must_use = "it is shown until it is dropped"]
pub struct Step(());

impl Step {
    /// Starts to show `what`, and for how long it has been done.
    pub fn start(what: impl Into<String>) -> Self {
        let what = what.into();
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

/// A part of a step with a name of its own; the step's comes back when it is dropped.
#[must_use = "it is shown until it is dropped"]
pub struct Stage(());

/// Begins `what`, which has so many parts.
pub fn stage(what: &str, parts: usize) -> Stage {
    tell(|shown| {
        shown.bar.set_message(what.to_owned());
        style(&shown.bar, COUNTED);
        shown.bar.set_position(0);
        shown.bar.set_length(parts as u64);
        shown.bar.reset_eta();
    });
    Stage(())
}

impl Drop for Stage {
    fn drop(&mut self) {
        tell(|shown| {
            style(&shown.bar, UNCOUNTED);
            shown.bar.set_message(shown.what.clone());
            shown.bar.unset_length();
            shown.bar.set_position(0);
        });
    }
}

/// There are so many parts more to be done: shows a bar, and the time that is left.
pub fn expect(parts: usize) {
    tell(|shown| {
        if shown.bar.length().is_none() {
            style(&shown.bar, COUNTED);
            shown.bar.set_length(0);
        }
        shown.bar.inc_length(parts as u64);
    });
}

/// So many parts are done.
pub fn done(parts: usize) {
    tell(|shown| shown.bar.inc(parts as u64));
}

/// So many of the expected parts need not be done.
pub fn spared(parts: usize) {
    tell(|shown| shown.bar.dec_length(parts as u64));
}

fn lock() -> std::sync::MutexGuard<'static, Option<Shown>> {
    // A bar is as good after a panic as before.
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
    // The default serves if indicatif ever did not know the template.
    if let Ok(style) = ProgressStyle::with_template(template) {
        bar.set_style(style.progress_chars("=> "));
    }
}

/// A bar whose parts its owner counts; what the library says of its own parts is not shown.
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
    use super::{COUNTED, Step, UNCOUNTED, done, expect, spared, stage};
    use indicatif::ProgressStyle;

    #[test]
    fn indicatif_knows_the_templates() {
        for template in [COUNTED, UNCOUNTED] {
            ProgressStyle::with_template(template).unwrap();
        }
    }

    #[test]
    fn what_nobody_watches_may_be_told_all_the_same() {
        done(1);
        let _step = Step::start("working");
        expect(3);
        done(1);
        spared(2);
        let _stage = stage("a part of it", 5);
        done(5);
    }
}

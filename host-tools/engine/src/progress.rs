//! Progress of long work, for an application that wants to show it, and an end of the work before it
//! is done.
//!
//! The code that does the work calls [`stage`], [`expect`], [`done`] and [`pulse`], anywhere in the
//! library and on any thread. Its functions need no argument for the listener.
//!
//! There are two ways to listen:
//!
//! - A process that does one thing at a time, such as the command, has one listener for all threads:
//!   [`listen`]. If nobody listens, each call costs one thread-local read and one atomic load.
//! - A process that does several things at once, such as a Python interpreter, gives each piece of
//!   work its own [`Work`]. Every thread that takes part runs [`within`] it. Only such work can be
//!   stopped.
//!
//! ```
//! use std::panic::{AssertUnwindSafe, catch_unwind};
//! use std::sync::Arc;
//! use rebearing_host::progress::{Stopped, Work, pulse, within};
//!
//! let work = Arc::new(Work::default());
//! work.stop();
//! let result = catch_unwind(AssertUnwindSafe(|| within(&work, || loop { pulse() })));
//! assert!(result.is_err_and(|payload| payload.is::<Stopped>()));
//! ```

use std::cell::RefCell;
use std::panic::RefUnwindSafe;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, OnceLock};

/// An application that shows progress. Every worker thread may call it.
pub trait Listener: Sync {
    /// A named stage of the work begins, with the given number of parts.
    fn stage(&self, what: &str, parts: usize);
    /// The current stage is over.
    fn stage_over(&self);
    /// The given number of parts is added to the work.
    fn expect(&self, parts: usize);
    /// The given number of parts is done.
    fn done(&self, parts: usize);
    /// The given number of expected parts need not be done.
    fn spared(&self, parts: usize);
}

static LISTENER: OnceLock<&'static dyn Listener> = OnceLock::new();

thread_local! {
    /// The work that this thread takes part in.
    static WORK: RefCell<Option<Arc<Work>>> = const { RefCell::new(None) };
}

/// Reports progress to `listener` from now on. A process has one listener; the first one stays.
pub fn listen(listener: &'static dyn Listener) {
    let _ = LISTENER.set(listener);
}

/// One piece of work on threads of its own, with its own listener. It can be stopped.
#[derive(Default)]
pub struct Work {
    stop: AtomicBool,
    listener: Option<Box<dyn Listener + Send>>,
}

/// A listener that is told of work which then unwinds keeps nothing half done.
impl RefUnwindSafe for Work {}

impl Work {
    /// Returns work that reports its progress to `listener`.
    pub fn new(listener: Box<dyn Listener + Send>) -> Self {
        Self { stop: AtomicBool::new(false), listener: Some(listener) }
    }

    /// Ends the work at the next [`pulse`] of each of its threads.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}

/// The payload of the unwinding that ends stopped work.
///
/// It is thrown without the panic hook, so nothing is printed. Whoever called [`within`] catches it
/// with [`catch_unwind`](std::panic::catch_unwind).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stopped;

/// Runs `part` as a part of `work` on this thread.
pub fn within<R>(work: &Arc<Work>, part: impl FnOnce() -> R) -> R {
    /// Puts back the work that the thread had before, also if the part unwinds.
    struct Before(Option<Arc<Work>>);
    impl Drop for Before {
        fn drop(&mut self) {
            WORK.set(self.0.take());
        }
    }
    let _before = Before(WORK.replace(Some(Arc::clone(work))));
    part()
}

/// Ends the work of this thread if it was stopped. Loops that can take long call it in each round.
///
/// It unwinds with [`Stopped`]. Outside of [`Work`] it does nothing and costs one thread-local read.
pub fn pulse() {
    WORK.with_borrow(|work| {
        if work.as_ref().is_some_and(|work| work.stop.load(Ordering::Relaxed)) {
            std::panic::resume_unwind(Box::new(Stopped));
        }
    });
}

fn tell(tell: impl FnOnce(&(dyn Listener + 'static))) {
    WORK.with_borrow(|work| match work {
        Some(work) => {
            if let Some(listener) = &work.listener {
                tell(&**listener);
            }
        }
        None => {
            if let Some(listener) = LISTENER.get() {
                tell(*listener);
            }
        }
    });
}

/// A named stage of the work. It ends when it is dropped.
#[must_use = "it is over when it is dropped"]
pub struct Stage(());

/// Begins the stage `what`, with the given number of parts.
pub fn stage(what: &str, parts: usize) -> Stage {
    tell(|listener| listener.stage(what, parts));
    Stage(())
}

impl Drop for Stage {
    fn drop(&mut self) {
        tell(Listener::stage_over);
    }
}

/// Adds the given number of parts to the work.
pub fn expect(parts: usize) {
    tell(|listener| listener.expect(parts));
}

/// Reports that the given number of parts is done.
pub fn done(parts: usize) {
    tell(|listener| listener.done(parts));
}

/// Reports that the given number of expected parts need not be done.
pub fn spared(parts: usize) {
    tell(|listener| listener.spared(parts));
}

#[cfg(test)]
mod tests {
    use std::panic::{AssertUnwindSafe, catch_unwind};
    use std::sync::atomic::AtomicUsize;

    use super::*;

    /// Counts the parts that are done.
    struct Count(Arc<AtomicUsize>);

    impl Listener for Count {
        fn stage(&self, _: &str, _: usize) {}
        fn stage_over(&self) {}
        fn expect(&self, _: usize) {}
        fn done(&self, parts: usize) {
            self.0.fetch_add(parts, Ordering::Relaxed);
        }
        fn spared(&self, _: usize) {}
    }

    #[test]
    fn each_piece_of_work_has_its_own_listener() {
        let counts = [(); 2].map(|()| Arc::new(AtomicUsize::new(0)));
        let works =
            counts.clone().map(|count| Arc::new(Work::new(Box::new(Count(count)) as Box<_>)));
        within(&works[0], || {
            done(1);
            within(&works[1], || done(10));
            done(2);
        });
        done(100);
        assert_eq!(counts.map(|count| count.load(Ordering::Relaxed)), [3, 10]);
    }

    #[test]
    fn only_stopped_work_ends_at_a_pulse() {
        let (stopped, other) = (Arc::new(Work::default()), Arc::new(Work::default()));
        stopped.stop();
        pulse();
        within(&other, pulse);
        let result = catch_unwind(AssertUnwindSafe(|| within(&stopped, pulse)));
        assert!(result.is_err_and(|payload| payload.is::<Stopped>()));
        // The thread has left the work.
        pulse();
    }

    #[test]
    fn a_fit_of_stopped_work_ends() {
        use crate::mixture::{EmSettings, fit};
        let work = Arc::new(Work::default());
        work.stop();
        let x = ndarray::Array2::from_shape_fn((64, 2), |(i, j)| ((i * 7 + j * 3) % 11) as f64);
        let wrapper = |thread: rayon::ThreadBuilder| within(&work, || thread.run());
        let pool = rayon::ThreadPoolBuilder::new().num_threads(2);
        let result = pool.build_scoped(wrapper, |pool| {
            catch_unwind(AssertUnwindSafe(|| {
                pool.install(|| fit(x.view(), None, &EmSettings::new(2), &|_| ()).is_ok())
            }))
        });
        assert!(result.unwrap().is_err_and(|payload| payload.is::<Stopped>()));
    }
}

//! Runs the engine away from the interpreter.
//!
//! Each call has a pool of threads of its own, which ends before the call returns. So no thread of
//! ours is alive when a program forks, and two calls never wait for each other. While the pool works,
//! the calling thread is detached from the interpreter. It comes back a few times a second to look
//! for signals such as Ctrl-C, and to report progress.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use pyo3::exceptions::{PyKeyboardInterrupt, PyRuntimeError};
use pyo3::prelude::*;
use rayon::ThreadPoolBuilder;
use rebearing_host::progress::{Listener, Stopped, Work, within};

use crate::error::Failed;

/// Time between two looks at signals and progress.
const PERIOD: Duration = Duration::from_millis(50);

/// Runs `work` on threads of its own, and returns its result or raises its error.
///
/// `progress` is called as `progress(stage, done, total)` on the calling thread. An exception from
/// it, or from a signal handler, stops the work and is raised.
pub(crate) fn run<R: Send, E: Send + Into<Failed>>(
    py: Python<'_>,
    progress: Option<Py<PyAny>>,
    work: impl FnOnce() -> Result<R, E> + Send,
) -> PyResult<R> {
    let shown = Shown::default();
    let token = Arc::new(Work::new(Box::new(shown.clone())));
    let mut interruption = None;
    let result = py.detach(|| {
        let look = || {
            let look = Python::attach(|py| look(py, &shown, progress.as_ref()));
            if let Err(error) = look
                && interruption.is_none()
            {
                interruption = Some(error);
                token.stop();
            }
        };
        let pool = ThreadPoolBuilder::new().thread_name(|index| format!("rebearing-{index}"));
        pool.build_scoped(
            |thread| within(&token, || thread.run()),
            |pool| {
                pool.in_place_scope(|scope| {
                    let (send, receive) = mpsc::channel();
                    scope.spawn(move |_| {
                        // The receiver waits for it, so it is there.
                        let _ = send.send(catch_unwind(AssertUnwindSafe(work)));
                    });
                    wait(&receive, look)
                })
            },
        )
    });
    drop(progress);
    let result = result.map_err(|error| {
        PyRuntimeError::new_err(format!("the threads could not be started: {error}"))
    })?;
    if let Some(interruption) = interruption {
        return Err(interruption);
    }
    match result {
        Ok(result) => result.map_err(|error| error.into().into()),
        Err(payload) => Err(from_panic(payload.as_ref())),
    }
}

/// Runs work that needs no threads, on the calling thread. A panic becomes an exception.
pub(crate) fn guarded<R>(work: impl FnOnce() -> PyResult<R>) -> PyResult<R> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or_else(|payload| Err(from_panic(payload.as_ref())))
}

/// Waits for the result, and looks around from time to time.
fn wait<R>(
    receive: &mpsc::Receiver<std::thread::Result<R>>,
    mut look: impl FnMut(),
) -> std::thread::Result<R> {
    loop {
        match receive.recv_timeout(PERIOD) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => look(),
            Err(RecvTimeoutError::Disconnected) => {
                return Err(Box::new("the work ended without a result"));
            }
        }
    }
}

/// Lets signal handlers run and reports the progress, if there is news.
fn look(py: Python<'_>, shown: &Shown, progress: Option<&Py<PyAny>>) -> PyResult<()> {
    py.check_signals()?;
    if let Some(progress) = progress
        && let Some((stage, done, total)) = shown.news()
    {
        progress.call1(py, (stage, done, total))?;
    }
    Ok(())
}

/// The exception for a panic.
fn from_panic(payload: &(dyn Any + Send)) -> PyErr {
    if payload.is::<Stopped>() {
        return PyKeyboardInterrupt::new_err(());
    }
    let text = payload.downcast_ref::<&str>().map(|text| (*text).to_owned());
    let text = text.or_else(|| payload.downcast_ref::<String>().cloned());
    let text = text.unwrap_or_else(|| "no message".into());
    PyRuntimeError::new_err(format!("a bug in rebearing: {text}; please report it"))
}

/// The progress of the work: the stage, and how much of it is done.
#[derive(Clone, Default)]
struct Shown(Arc<Mutex<State>>);

#[derive(Default)]
struct State {
    stage: String,
    done: usize,
    total: usize,
    changed: bool,
}

impl Shown {
    fn change(&self, change: impl FnOnce(&mut State)) {
        // A panic cannot leave these numbers in a wrong state.
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        state.changed = true;
    }

    /// The stage, the parts done and all parts, if they changed since the last call.
    fn news(&self) -> Option<(String, usize, usize)> {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let State { stage, done, total, .. } = &*state;
        let news = state.changed.then(|| (stage.clone(), *done, *total));
        state.changed = false;
        news
    }
}

impl Listener for Shown {
    fn stage(&self, what: &str, parts: usize) {
        self.change(|state| {
            *state = State { stage: what.to_owned(), done: 0, total: parts, changed: true };
        });
    }

    fn stage_over(&self) {
        self.change(|state| *state = State::default());
    }

    fn expect(&self, parts: usize) {
        self.change(|state| state.total += parts);
    }

    fn done(&self, parts: usize) {
        self.change(|state| state.done += parts);
    }

    fn spared(&self, parts: usize) {
        self.change(|state| state.total = state.total.saturating_sub(parts));
    }
}

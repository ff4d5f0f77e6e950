//! Progress of long work, for an application that wants to show it.
//!
//! The code that does the work calls [`stage`], [`expect`] and [`done`], anywhere in the library
//! and on any thread. Its functions need no argument for the listener. If nobody [listens](listen),
//! each call costs one atomic load.

use std::sync::OnceLock;

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

/// Reports progress to `listener` from now on. A process has one listener; the first one stays.
pub fn listen(listener: &'static dyn Listener) {
    let _ = LISTENER.set(listener);
}

fn tell(tell: impl FnOnce(&'static dyn Listener)) {
    if let Some(listener) = LISTENER.get() {
        tell(*listener);
    }
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

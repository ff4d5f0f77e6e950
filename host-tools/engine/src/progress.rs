//! How far long work has come, for whoever wants to show it.
//!
//! Whoever does the work tells it by [`stage`], [`expect`] and [`done`], wherever in the library
//! that is and on whatever thread: the functions that do the work need no argument for who is
//! watching. Where nobody [listens](listen), telling costs an atomic load.

use std::sync::OnceLock;

/// An application that shows progress. It is called from every thread that works.
pub trait Listener: Sync {
    /// A part of the work with a name of its own begins, and has so many parts.
    fn stage(&self, what: &str, parts: usize);
    /// That part of the work is over.
    fn stage_over(&self);
    /// There are so many parts more to be done.
    fn expect(&self, parts: usize);
    /// So many parts are done.
    fn done(&self, parts: usize);
    /// So many of the expected parts need not be done.
    fn spared(&self, parts: usize);
}

static LISTENER: OnceLock<&'static dyn Listener> = OnceLock::new();

/// Tells `listener` from now on. A process has one listener; the first one stays.
pub fn listen(listener: &'static dyn Listener) {
    let _ = LISTENER.set(listener);
}

fn tell(tell: impl FnOnce(&'static dyn Listener)) {
    if let Some(listener) = LISTENER.get() {
        tell(*listener);
    }
}

/// A part of the work with a name of its own; it is over when dropped.
#[must_use = "it is over when it is dropped"]
pub struct Stage(());

/// Begins `what`, which has so many parts.
pub fn stage(what: &str, parts: usize) -> Stage {
    tell(|listener| listener.stage(what, parts));
    Stage(())
}

impl Drop for Stage {
    fn drop(&mut self) {
        tell(Listener::stage_over);
    }
}

/// There are so many parts more to be done.
pub fn expect(parts: usize) {
    tell(|listener| listener.expect(parts));
}

/// So many parts are done.
pub fn done(parts: usize) {
    tell(|listener| listener.done(parts));
}

/// So many of the expected parts need not be done.
pub fn spared(parts: usize) {
    tell(|listener| listener.spared(parts));
}

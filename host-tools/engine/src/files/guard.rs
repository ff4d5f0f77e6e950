//! Turns a library's panics on damaged files into errors.

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    /// Whether a panic on this thread is expected; then it is not printed.
    static EXPECTED: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`; returns `None` if it panicked. The data it worked on must not be used again.
pub(crate) fn guarded<T>(work: impl FnOnce() -> T) -> Option<T> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |panic| {
            if !EXPECTED.get() {
                before(panic);
            }
        }));
    });
    let outer = EXPECTED.replace(true);
    let result = catch_unwind(AssertUnwindSafe(work)).ok();
    EXPECTED.set(outer);
    result
}

#[cfg(test)]
mod tests {
    use super::guarded;

    #[test]
    fn a_panic_is_caught_and_a_result_handed_on() {
        assert_eq!(guarded(|| 5), Some(5));
        let empty: Vec<u8> = Vec::new();
        assert_eq!(guarded(|| empty[std::hint::black_box(0)]), None);
        assert_eq!(guarded(|| guarded(|| 6)), Some(Some(6)));
    }
}

//! Power fails at every byte of everything that a store writes. Afterwards the device is exactly in
//! the old state or exactly in the new one.

use crate::keys::{GATE, GOLDEN, NEWER, OLDER, Store, commissioned, restart, send, signed};
use crate::simulated_flash::SimulatedFlash;
use rebearing::update::{DeviceId, Outcome, Receiver, Refusal, Standing};

/// The state of a device after a restart, as seen from outside.
#[derive(Debug, Clone, PartialEq)]
struct Seen {
    model: Option<Vec<u8>>,
    standing: Standing,
    floor: u32,
    outcome: Outcome,
    alarm: u32,
    /// How the device answers to a newer model by the older key.
    older_key: Result<u32, Refusal>,
}

fn seen<const WRITE: usize>(flash: &SimulatedFlash<WRITE>) -> Seen {
    let mut flash = SimulatedFlash { power: None, ..flash.clone() };
    let (run, mut store) = restart(&mut flash);
    let status = store.status();
    let next = signed(GOLDEN, OLDER, 1_000_000, DeviceId::ANY);
    let (older_key, alarm) = (store.begin(next.last_chunk().unwrap()), store.kept_alarm());
    let (standing, floor, outcome) = (status.standing, status.floor, status.outcome);
    Seen { model: run.ok().map(|run| run.model), standing, floor, outcome, alarm, older_key }
}

/// Cuts the power at every byte of `action`, which starts with the device as `before` has it.
fn cut_everywhere<const WRITE: usize>(
    name: &str,
    before: &SimulatedFlash<WRITE>,
    action: impl Fn(&mut SimulatedFlash<WRITE>),
) {
    const PLENTY: usize = 1 << 20;
    let old = seen(before);
    let mut flash = SimulatedFlash { power: Some(PLENTY), ..before.clone() };
    action(&mut flash);
    let cost = PLENTY - flash.power.expect("a count");
    let new = seen(&flash);
    assert!(cost > 0, "{name}: nothing was written");
    for power in 0..=cost {
        for noise in 0..3 {
            let mut flash = SimulatedFlash { power: Some(power), noise, ..before.clone() };
            action(&mut flash);
            flash.power = None;
            let found = seen(&flash);
            let what = format!("{name}, words of {WRITE}: cut at {power} of {cost}, noise {noise}");
            assert!(
                found == old || found == new,
                "{what}: {found:?} is neither\n{old:?} nor\n{new:?}"
            );
            assert!(found.floor >= old.floor, "{what}: the floor sank");
            assert!(power < cost || found == new, "{what}: nothing was cut");
            // And the device is not stuck: the same action then gets through, if it still applies.
            action(&mut flash);
            assert_eq!(seen(&flash), new, "{what}: once more");
        }
    }
}

/// Does something with the store of a device that has just started.
fn on_store<const WRITE: usize>(
    work: impl Fn(&mut Store<'_, WRITE>) -> Result<(), Refusal>,
) -> impl Fn(&mut SimulatedFlash<WRITE>) {
    move |flash| {
        let (_, mut store) = restart(flash);
        // A cut makes it fail, and so does a second time.
        let _ = work(&mut store);
    }
}

/// A device with a confirmed model and one on trial that was not started yet.
fn with_trial<const WRITE: usize>(key: u32) -> SimulatedFlash<WRITE> {
    let mut flash = commissioned(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    send(&mut store, &signed(GATE, key, 7, DeviceId::ANY), 100).expect("an update");
    flash
}

fn all_with_words_of<const WRITE: usize>() {
    let update = signed(GATE, NEWER, 7, DeviceId::ANY);
    let before = commissioned::<WRITE>(GOLDEN, 3);
    cut_everywhere("update", &before, on_store(|store| send(store, &update, 100)));
    cut_everywhere("latched alarm", &before, on_store(|store| store.keep_alarm(0x5a5a)));
    // Floor, retired key and confirmed slot change together.
    let before = with_trial::<WRITE>(NEWER);
    assert_eq!(seen(&before).standing, Standing::OnTrial);
    cut_everywhere("confirm, retiring a key", &before, on_store(|store| store.confirm()));
    cut_everywhere("reject", &before, on_store(|store| store.reject()));
    let before = with_trial::<WRITE>(OLDER);
    cut_everywhere("confirm, raising the floor", &before, on_store(|store| store.confirm()));
    let mut before = with_trial::<WRITE>(OLDER);
    for _ in 0..2 {
        let _ = restart(&mut before);
    }
    cut_everywhere("the last start of a trial", &before, |flash| drop(restart(flash)));
}

#[test]
fn a_cut_at_every_byte_leaves_the_old_state_or_the_new_one() {
    all_with_words_of::<1>();
    all_with_words_of::<4>();
    all_with_words_of::<8>();
    all_with_words_of::<32>();
    all_with_words_of::<256>();
}

#[test]
fn a_cut_while_the_ledger_changes_halves_loses_nothing() {
    // A half holds 21 records of 48 bytes: more than two halves, so that both are erased once.
    let mut flash = commissioned::<4>(GOLDEN, 3);
    for alarm in 1..50 {
        cut_everywhere("alarm", &flash, on_store(|store| store.keep_alarm(alarm)));
        let (_, mut store) = restart(&mut flash);
        store.keep_alarm(alarm).expect("a record");
    }
    assert_eq!(seen(&flash).floor, 3);
}

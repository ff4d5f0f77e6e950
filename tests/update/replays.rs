//! What an attacker or an accident may send, and what becomes of it.

use crate::keys::{
    DEVICE, GATE, GOLDEN, NEWER, OLDER, ORDERS, commissioned, layout, restart, seal, send, signed,
    signed_for,
};
use crate::simulated_flash::SimulatedFlash;
use rebearing::update::{DeviceId, Envelope, FlashOnly, ModelStore, Receiver, Refusal, Unsigned};
use rebearing::{Encoding, Model};

const PIECE: usize = 64;

/// Sends `file` to a device, and returns the answer and the model that runs after a restart.
fn sent(flash: &mut SimulatedFlash<4>, file: &[u8]) -> (Result<(), Refusal>, Vec<u8>) {
    let (_, mut store) = restart(flash);
    let answer = send(&mut store, file, PIECE);
    (answer, runs(flash))
}

fn runs(flash: &mut SimulatedFlash<4>) -> Vec<u8> {
    restart(flash).0.expect("a model").model
}

fn envelope(model: &[u8], counter: u32) -> Envelope {
    Envelope::of_model(&Model::parse(model).unwrap(), OLDER, counter, DeviceId::ANY)
}

#[test]
fn each_replay_ends_in_the_right_state() {
    let good = envelope(GATE, 7);
    let flipped = |at: usize| {
        let mut file = signed(GATE, OLDER, 7, DeviceId::ANY);
        file[at] ^= 1;
        file
    };
    let rate = |hz| {
        let mut other = good;
        other.front_end.rate_hz = hz;
        other
    };
    let refused = [
        ("an older counter", signed(GATE, OLDER, 2, DeviceId::ANY), Refusal::OldCounter),
        ("the same counter", signed(GATE, OLDER, 3, DeviceId::ANY), Refusal::OldCounter),
        ("another device", signed(GATE, OLDER, 7, DeviceId([9; 16])), Refusal::OtherDevice),
        ("another key", signed(GATE, 33, 7, DeviceId::ANY), Refusal::UnknownKey),
        (
            "the other encoding",
            seal(GATE, &Envelope { encoding: Encoding::I16, ..good }),
            Refusal::OtherEncoding,
        ),
        ("another front end", seal(GATE, &rate(48_000.0)), Refusal::OtherFrontEnd),
        (
            "a length beyond the slot",
            seal(GATE, &Envelope { model_len: 4096, ..good }),
            Refusal::TooLong,
        ),
        (
            "a length that overflows",
            seal(GATE, &Envelope { model_len: u32::MAX, ..good }),
            Refusal::TooLong,
        ),
        ("a model with a bit flipped", flipped(100), Refusal::BadSignature),
        ("a signature with a bit flipped", flipped(GATE.len() + 100), Refusal::BadSignature),
        (
            "an unsigned model",
            [GATE, &Envelope { key_id: 0, ..good }.to_bytes(&[0; 64])].concat(),
            Refusal::UnknownKey,
        ),
    ];
    println!("{:<34} | {:<14} | runs afterwards", "sent", "answer");
    for (name, file, refusal) in refused {
        let mut flash = commissioned(GOLDEN, 3);
        assert_eq!(sent(&mut flash, &file), (Err(refusal), GOLDEN.to_vec()), "{name}");
        println!("{name:<34} | {:<14} | the confirmed model", format!("{refusal:?}"));
    }
    let taken = [
        ("a newer model", signed(GATE, OLDER, 7, DeviceId::ANY)),
        ("one for this device", signed(GATE, OLDER, 4, DEVICE)),
        ("one of the newer key", signed(GATE, NEWER, 4, DEVICE)),
    ];
    for (name, file) in taken {
        let mut flash = commissioned(GOLDEN, 3);
        assert_eq!(sent(&mut flash, &file), (Ok(()), GATE.to_vec()), "{name}");
        println!("{name:<34} | {:<14} | the new model, on trial", "taken");
    }
}

#[test]
fn a_file_cut_short_is_incomplete_and_goes_on_where_it_stopped() {
    let file = signed(GATE, OLDER, 7, DeviceId::ANY);
    let envelope = file.last_chunk().unwrap();
    let mut flash = commissioned(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    for cut in [1, 63, 255, 256, 257, file.len() - 129, file.len() - 1] {
        let at = store.begin(envelope).expect("the same envelope") as usize;
        assert_eq!(store.write(at as u32, &file[at..cut]), Ok(cut as u32));
        assert_eq!(store.finish(), Err(Refusal::Incomplete), "{cut} bytes");
        // Bytes that were sent before may be sent again, if they are the same.
        let from = cut.saturating_sub(300);
        assert_eq!(store.write(from as u32, &file[from..cut]), Ok(cut as u32));
        let mut other = file[from..cut].to_vec();
        *other.last_mut().unwrap() ^= 1;
        assert_eq!(store.write(from as u32, &other), Err(Refusal::Differs));
        assert_eq!(store.write(cut as u32 + 1, &[0]), Err(Refusal::Gap));
        assert_eq!(store.write(u32::MAX, &file), Err(Refusal::Gap));
    }
    assert_eq!(send(&mut store, &file, PIECE), Ok(()));
    assert_eq!(store.finish(), Ok(()), "asked twice");
    assert_eq!(runs(&mut flash), GATE);
}

#[test]
fn a_restart_on_the_way_starts_from_the_beginning() {
    let file = signed(GATE, OLDER, 7, DeviceId::ANY);
    let mut flash = commissioned(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    assert_eq!(store.begin(file.last_chunk().unwrap()), Ok(0));
    assert_eq!(store.write(0, &file[..300]), Ok(300));
    let (run, mut store) = restart(&mut flash);
    assert_eq!(run.expect("a model").model, GOLDEN);
    assert_eq!(store.write(300, &file[300..]), Err(Refusal::NotBegun));
    assert_eq!(store.begin(file.last_chunk().unwrap()), Ok(0));
    assert_eq!(send(&mut store, &file, PIECE), Ok(()));
    assert_eq!(runs(&mut flash), GATE);
}

#[test]
fn two_senders_at_once_do_not_mix_their_models() {
    let (one, two) =
        (signed(GATE, OLDER, 7, DeviceId::ANY), signed(ORDERS, OLDER, 8, DeviceId::ANY));
    let mut flash = commissioned(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    assert_eq!(store.begin(one.last_chunk().unwrap()), Ok(0));
    assert_eq!(store.write(0, &one[..200]), Ok(200));
    assert_eq!(send(&mut store, &two, PIECE), Err(Refusal::Busy));
    // Two senders of the same file share the work.
    assert_eq!(store.begin(one.last_chunk().unwrap()), Ok(200));
    assert_eq!(store.write(100, &one[100..300]), Ok(300));
    store.abandon();
    assert_eq!(send(&mut store, &two, PIECE), Ok(()));
    assert_eq!(runs(&mut flash), ORDERS);
}

#[test]
fn an_old_file_put_back_by_hand_is_below_the_floor() {
    let mut flash = commissioned::<4>(GOLDEN, 3);
    let (_, mut store) = restart(&mut flash);
    send(&mut store, &signed(GATE, OLDER, 7, DeviceId::ANY), PIECE).expect("an update");
    let (_, mut store) = restart(&mut flash);
    store.confirm().expect("a trial");
    // The newer slot is damaged: the older model is still there, and must not run.
    flash.spoil_slot_of(GATE);
    let (run, store) = restart(&mut flash);
    let none = run.expect_err("nothing at or above the floor");
    assert!(none.to_string().contains("counter is not above"), "{none}");
    assert_eq!((store.status().floor, store.status().counter), (7, 0));
}

#[test]
fn a_confirmed_model_of_the_newer_key_retires_the_older_key() {
    let mut flash = commissioned::<4>(GOLDEN, 3);
    let update = signed(GATE, NEWER, 7, DeviceId::ANY);
    assert_eq!(sent(&mut flash, &update).0, Ok(()));
    // On trial, the old model and its key are still good.
    let (_, mut store) = restart(&mut flash);
    store.reject().expect("a trial");
    assert_eq!(runs(&mut flash), GOLDEN);
    let next = signed(GATE, NEWER, 8, DeviceId::ANY);
    assert_eq!(sent(&mut flash, &next).0, Ok(()));
    let (_, mut store) = restart(&mut flash);
    store.confirm().expect("a trial");
    let older = signed(GOLDEN, OLDER, 9, DeviceId::ANY);
    assert_eq!(sent(&mut flash, &older), (Err(Refusal::RetiredKey), GATE.to_vec()));
}

#[test]
fn a_device_without_keys_takes_unsigned_models_alone_and_finds_damage() {
    let unsigned =
        [GOLDEN, &Envelope { key_id: 0, ..envelope(GOLDEN, 7) }.to_bytes(&[0; 64])].concat();
    let mut damaged = unsigned.clone();
    damaged[200] ^= 4;
    let signed = signed(GOLDEN, OLDER, 7, DeviceId::ANY);
    for (file, answer) in
        [(unsigned, Ok(())), (damaged, Err(Refusal::Damaged)), (signed, Err(Refusal::UnknownKey))]
    {
        let mut flash = SimulatedFlash::<4>::erased();
        let store = ModelStore::new(&mut flash, &layout(), Unsigned, FlashOnly, signed_for());
        assert_eq!(send(&mut store.expect("a layout"), &file, PIECE), answer);
    }
}

//! Every function with right and wrong requests.

use rebearing::bus::{Command, Request};
use rebearing::update::{Refusal, Standing};

use crate::plant::{IDENTITY, Plant, UNIT, busy, command, framed, write_file};

#[test]
fn both_functions_read_the_same_registers() {
    let mut plant = Plant::new();
    busy(&mut plant.registers);
    for (address, count) in [(0_u16, 48_u16), (5, 1), (16, 2), (100, 125)] {
        let [a, b] = address.to_be_bytes();
        let holding = plant.ask(&[3, a, b, 0, count as u8]);
        let input = plant.ask(&[4, a, b, 0, count as u8]);
        assert_eq!((holding[0], input[0]), (3, 4));
        assert_eq!(holding[1..], input[1..]);
        assert_eq!(input.len(), 2 + 2 * usize::from(count));
    }
}

#[test]
fn wrong_reads_are_refused() {
    let mut plant = Plant::new();
    for (request, exception) in [
        (&[4, 0, 0, 0, 0][..], 3),   // no register
        (&[4, 0, 100, 0, 126], 3),   // one too many
        (&[4, 0, 0, 1, 1], 3),       // 257
        (&[4, 0, 0, 0], 3),          // cut
        (&[4, 0, 0, 0, 1, 0], 3),    // a byte too many
        (&[4], 3),                   // no data
        (&[4, 0, 47, 0, 2], 2),      // one register behind the map
        (&[4, 0, 48, 0, 1], 2),      // behind the map
        (&[4, 0xff, 0xff, 0, 1], 2), // the last address
        (&[4, 0xff, 0xff, 0, 2], 2), // and the one behind it
        (&[4, 0x03, 0xe8, 0, 2], 2), // key and command cannot be read
        (&[3, 0, 0, 0, 200], 3),
    ] {
        assert_eq!(plant.ask(request), [request[0] | 0x80, exception], "{request:?}");
    }
}

#[test]
fn other_functions_are_refused() {
    let mut plant = Plant::new();
    let known = [3, 4, 8, 16, 21, 43];
    for function in (0..=u8::MAX).filter(|function| !known.contains(function)) {
        assert_eq!(plant.ask(&[function, 0, 0, 0, 1]), [function | 0x80, 1]);
    }
}

#[test]
fn a_loopback_returns_its_data() {
    let mut plant = Plant::new();
    for request in [&[8, 0, 0, 0xa5, 0x37][..], &[8, 0, 0, 1, 2, 3, 4]] {
        assert_eq!(plant.ask(request), request);
    }
    let longest = [&[8, 0, 0][..], &[0x5a; 250]].concat();
    assert_eq!(plant.ask(&longest), longest);
    assert_eq!(plant.ask(&[8, 0, 0]), [0x88, 3]);
    assert_eq!(plant.ask(&[8, 0, 0, 1]), [0x88, 3]);
    assert_eq!(plant.ask(&[8, 0, 4, 0, 0]), [0x88, 1], "listen only is not supported");
    assert_eq!(plant.ask(&[8]), [0x88, 1]);
}

#[test]
fn other_units_and_broadcasts_get_no_answer_and_change_nothing() {
    let mut plant = Plant::new();
    for unit in (0..=u8::MAX).filter(|unit| *unit != UNIT) {
        for request in [&[4, 0, 0, 0, 1][..], &command(Command::Restart)] {
            assert_eq!(plant.send(&framed(unit, request)), None, "unit {unit}");
        }
        let envelope = plant.receiver.genuine.last_chunk::<128>().unwrap().to_vec();
        assert_eq!(plant.send(&framed(unit, &write_file(1, 0, &envelope))), None);
        assert_eq!(plant.send(&framed(unit, &command(Command::Begin))), None);
    }
    assert_eq!(plant.server.take_request(), None);
    assert!(plant.receiver.envelope.is_none());
    assert_eq!(plant.ask(&command(Command::Begin)), [0x90, 4], "file 1 is still empty");
}

#[test]
fn a_command_needs_its_key_in_the_same_request() {
    let mut plant = Plant::new();
    for (request, exception) in [
        (&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x43, 0, 7][..], 3), // another key
        (&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42, 0, 0], 3),     // no such command
        (&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42, 0, 8], 3),
        (&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42, 1, 7], 3),
        (&[16, 0x03, 0xe9, 0, 1, 2, 0, 7], 2), // the command alone
        (&[16, 0x03, 0xe8, 0, 1, 2, 0x52, 0x42], 2), // the key alone
        (&[16, 0x03, 0xe8, 0, 3, 6, 0x52, 0x42, 0, 7, 0, 0], 2),
        (&[16, 0, 0, 0, 2, 4, 0x52, 0x42, 0, 7], 2), // elsewhere
        (&[16, 0x03, 0xe8, 0, 2, 5, 0x52, 0x42, 0, 7], 3), // wrong lengths
        (&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42, 0], 3),
        (&[16, 0x03, 0xe8, 0, 1, 4, 0x52, 0x42, 0, 7], 3),
        (&[16, 0x03, 0xe8, 0, 0, 0], 3),
        (&[16, 0x03], 3),
    ] {
        assert_eq!(plant.ask(request), [0x90, exception], "{request:x?}");
        assert_eq!(plant.server.take_request(), None);
    }
    // A single register has no room for the key.
    assert_eq!(plant.ask(&[6, 0x03, 0xe9, 0, 7]), [0x86, 1]);
    let restart = command(Command::Restart);
    assert_eq!(plant.ask(&restart), restart[..5]);
    assert_eq!(plant.server.take_request(), Some(Request::Restart));
    assert_eq!(plant.server.take_request(), None);
}

#[test]
fn the_application_is_asked_to_acknowledge_before_it_restarts() {
    let mut plant = Plant::new();
    plant.ask(&command(Command::Restart));
    plant.ask(&command(Command::Acknowledge));
    plant.ask(&command(Command::Acknowledge));
    assert_eq!(plant.server.take_request(), Some(Request::Acknowledge));
    assert_eq!(plant.server.take_request(), Some(Request::Restart));
    assert_eq!(plant.server.take_request(), None);
}

#[test]
fn a_trial_is_confirmed_and_a_refusal_has_its_reason_in_a_register() {
    let mut plant = Plant::new();
    assert_eq!(plant.ask(&command(Command::Confirm)), [0x90, 4]);
    assert_eq!(plant.read(47, 1), [u16::from(Refusal::NotOnTrial.code())]);
    assert_eq!(plant.ask(&command(Command::Reject)), [0x90, 4]);
    plant.receiver.status.standing = Standing::OnTrial;
    assert_eq!(plant.read(37, 1), [1]);
    plant.ask(&command(Command::Confirm));
    assert_eq!((plant.read(37, 1), plant.read(47, 1)), (vec![2], vec![0]));
}

/// The objects in an answer to function 43: number, text.
fn objects(answer: &[u8]) -> Vec<(u8, String)> {
    assert_eq!((answer[0], answer[1], answer[3]), (43, 14, 0x82));
    let (mut rest, mut objects) = (&answer[7..], Vec::new());
    while let Some((&[id, len], after)) = rest.split_first_chunk() {
        let (text, after) = after.split_at(usize::from(len));
        objects.push((id, String::from_utf8(text.to_vec()).unwrap()));
        rest = after;
    }
    assert_eq!(objects.len(), usize::from(answer[6]));
    objects
}

#[test]
fn a_device_says_who_it_is() {
    let mut plant = Plant::new();
    let basic = plant.ask(&[43, 14, 1, 0]);
    assert_eq!(basic[2..6], [1, 0x82, 0, 0], "nothing follows");
    let expected = [(0, "rebearing"), (1, "RB-1"), (2, "0.1.0")];
    assert_eq!(objects(&basic), expected.map(|(id, text)| (id, text.to_owned())));
    for code in [2, 3] {
        let regular = objects(&plant.ask(&[43, 14, code, 0]));
        assert_eq!(regular.len(), 7);
        assert_eq!(regular[6], (6, "motor-b".to_owned()));
    }
    assert_eq!(objects(&plant.ask(&[43, 14, 1, 2])).len(), 1, "from object 2 on");
    assert_eq!(objects(&plant.ask(&[43, 14, 1, 9])).len(), 3, "no such object: from the start");
    assert_eq!(objects(&plant.ask(&[43, 14, 4, 4])), [(4, IDENTITY.product.to_owned())]);
    for (request, exception) in [
        (&[43, 14, 4, 7][..], 2),
        (&[43, 14, 0, 0], 3),
        (&[43, 14, 5, 0], 3),
        (&[43, 14, 1], 3),
        (&[43, 14, 1, 0, 0], 3),
        (&[43], 3),
        (&[43, 13, 1, 0], 1),
    ] {
        assert_eq!(plant.ask(request), [0xab, exception], "{request:?}");
    }
}

#[test]
fn long_names_come_in_several_answers() {
    let long = &"ä".repeat(100)[..];
    let mut plant = Plant::new();
    let identity = &mut plant.registers.identity;
    *identity = rebearing::bus::Identity {
        vendor: long.to_owned().leak(),
        product_code: "p".repeat(64).leak(),
        revision: "r".repeat(64).leak(),
        url: "u".repeat(64).leak(),
        ..*identity
    };
    let (mut next, mut all, mut answers) = (0, Vec::new(), 0);
    loop {
        let answer = plant.ask(&[43, 14, 2, next]);
        all.extend(objects(&answer));
        answers += 1;
        if answer[4] == 0 {
            break;
        }
        next = answer[5];
    }
    assert_eq!(answers, 2);
    assert_eq!(all.iter().map(|(id, _)| *id).collect::<Vec<_>>(), [0, 1, 2, 3, 4, 5, 6]);
    assert_eq!(all[0].1, "ä".repeat(32), "cut to 64 bytes");
}

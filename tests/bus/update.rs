//! A model over the bus: begin, pieces, finish, and what goes wrong between.

use rebearing::bus::Command;
use rebearing::update::Refusal;

use crate::plant::{Plant, command, write_file};

/// The last 128 bytes of the genuine file.
fn envelope(plant: &Plant) -> Vec<u8> {
    plant.receiver.genuine.last_chunk::<128>().unwrap().to_vec()
}

fn begun() -> Plant {
    let mut plant = Plant::new();
    let envelope = envelope(&plant);
    let request = write_file(1, 0, &envelope);
    assert_eq!(plant.ask(&request), request);
    let begin = command(Command::Begin);
    assert_eq!(plant.ask(&begin), begin[..5]);
    plant
}

fn long(plant: &mut Plant, address: u16) -> u32 {
    plant.read(address, 2).iter().fold(0, |value, word| value << 16 | u32::from(*word))
}

fn refused(plant: &mut Plant, request: &[u8], refusal: Refusal) {
    assert_eq!(plant.ask(request), [request[0] | 0x80, 4]);
    assert_eq!(plant.read(47, 1), [u16::from(refusal.code())], "{refusal}");
}

#[test]
fn a_model_arrives_in_pieces_of_any_size() {
    for bytes in [2, 30, 128, 244] {
        let mut plant = begun();
        let file = plant.receiver.genuine.clone();
        assert_eq!(long(&mut plant, 44) as usize, file.len());
        for (at, piece) in file.chunks(bytes).enumerate() {
            let request = write_file(2, (at * bytes / 2) as u16, piece);
            assert_eq!(plant.ask(&request), request, "the answer is the request");
            assert_eq!(long(&mut plant, 42) as usize, (at * bytes + piece.len()));
        }
        assert_eq!(plant.read(46, 1), [0]);
        plant.ask(&command(Command::Finish));
        assert_eq!((plant.read(46, 1), plant.receiver.finished), (vec![1], 1));
    }
}

#[test]
fn pieces_in_one_request_and_an_envelope_in_halves() {
    let mut plant = Plant::new();
    let envelope = envelope(&plant);
    plant.ask(&write_file(1, 32, &envelope[64..]));
    refused(&mut plant, &command(Command::Begin), Refusal::NotAnEnvelope);
    plant.ask(&write_file(1, 0, &envelope[..64]));
    plant.ask(&command(Command::Begin));
    let file = plant.receiver.genuine.clone();
    let (first, second) = (write_file(2, 0, &file[..40]), write_file(2, 20, &file[40..80]));
    let mut both = [&first[..], &second[2..]].concat();
    both[1] = (both.len() - 2) as u8;
    assert_eq!(plant.ask(&both), both);
    assert_eq!(plant.receiver.stored, file[..80]);
}

#[test]
fn a_long_model_goes_on_in_the_next_file() {
    let mut plant = begun();
    plant.receiver.status.total = 1 << 16;
    plant.receiver.stored = vec![0; 20_000];
    plant.ask(&write_file(3, 0, &[1; 4]));
    assert_eq!(plant.receiver.stored[20_000..], [1; 4]);
    plant.ask(&write_file(3, 2, &[2; 4]));
    assert_eq!(plant.receiver.stored.len(), 20_008);
}

#[test]
fn an_interrupted_update_goes_on_where_it_stopped() {
    let mut plant = begun();
    let file = plant.receiver.genuine.clone();
    plant.ask(&write_file(2, 0, &file[..200]));
    // The same piece again, because its answer was lost; and a new start of the host.
    plant.ask(&write_file(2, 0, &file[..200]));
    plant.ask(&write_file(1, 0, &envelope(&plant)));
    plant.ask(&command(Command::Begin));
    assert_eq!(long(&mut plant, 42), 200);
}

#[test]
fn refusals_of_the_receiver_have_their_reason() {
    let mut plant = Plant::new();
    refused(&mut plant, &command(Command::Begin), Refusal::NotAnEnvelope);
    refused(&mut plant, &command(Command::Finish), Refusal::NotBegun);
    refused(&mut plant, &write_file(2, 0, &[0; 4]), Refusal::NotBegun);
    let mut plant = begun();
    refused(&mut plant, &write_file(2, 1, &[0; 4]), Refusal::Gap);
    refused(&mut plant, &command(Command::Finish), Refusal::Incomplete);
    plant.ask(&write_file(2, 0, &[1; 4]));
    assert_eq!(plant.read(47, 1), [0], "a piece that is taken clears the reason");
    refused(&mut plant, &write_file(2, 0, &[2; 4]), Refusal::Differs);
    refused(&mut plant, &write_file(0xffff, 0, &[2; 4]), Refusal::Gap);
    let mut other = envelope(&plant);
    other[70] ^= 1;
    plant.ask(&write_file(1, 0, &other));
    refused(&mut plant, &command(Command::Begin), Refusal::Busy);
    plant.ask(&command(Command::Abandon));
    assert_eq!(long(&mut plant, 44), 0);
    refused(&mut plant, &command(Command::Begin), Refusal::NotAnEnvelope);
}

#[test]
fn wrong_file_requests_are_refused_and_write_nothing() {
    let mut plant = begun();
    let right = write_file(2, 0, &[1; 4]);
    let with = |at: usize, byte: u8| {
        let mut request = right.clone();
        request[at] = byte;
        request
    };
    let double = |second: &[u8]| {
        let mut both = [&right[..], second].concat();
        both[1] = (both.len() - 2) as u8;
        both
    };
    for (request, exception) in [
        (vec![21], 3),
        (vec![21, 0], 3),
        (with(1, 10), 3), // length
        (with(2, 7), 3),  // type of reference
        (with(8, 0), 3),  // no word
        (with(8, 3), 3),  // more words than there are
        (with(7, 1), 3),
        (right[..12].to_vec(), 3),         // cut
        (write_file(0, 0, &[1; 4]), 2),    // no such file
        (write_file(1, 63, &[1; 4]), 2),   // behind the envelope
        (write_file(2, 9999, &[1; 4]), 2), // behind the file
        (write_file(2, 0xffff, &[1; 4]), 2),
        (double(&[6, 0, 2]), 3), // the second piece is cut
        (double(&write_file(1, 63, &[1; 4])[2..]), 2), // the second piece is wrong
    ] {
        assert_eq!(plant.ask(&request), [0x95, exception], "{request:?}");
    }
    assert!(plant.receiver.stored.is_empty());
}

#[test]
fn a_file_of_odd_length_ends_inside_a_word() {
    let mut plant = begun();
    plant.receiver.status.total = 5;
    plant.ask(&write_file(2, 0, &[1, 2, 3, 4, 5, 0]));
    assert_eq!(plant.receiver.stored, [1, 2, 3, 4, 5]);
}

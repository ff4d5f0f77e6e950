//! Bytes as a bad line or a bad neighbour sends them: nothing panics, nothing wrong is taken.

use rebearing::bus::Command;

use crate::plant::{Plant, UNIT, busy, command, framed, write_file};

/// A small generator, so that a failure repeats.
struct Random(u64);

impl Random {
    fn below(&mut self, end: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % end
    }
}

/// A request of every kind, those of a whole update included.
fn requests(plant: &Plant) -> Vec<Vec<u8>> {
    let file = &plant.receiver.genuine;
    let mut requests = vec![
        vec![3, 0, 0, 0, 48],
        vec![4, 0, 100, 0, 125],
        vec![8, 0, 0, 1, 2],
        vec![43, 14, 1, 0],
        vec![43, 14, 4, 6],
        write_file(1, 0, file.last_chunk::<128>().unwrap()),
    ];
    requests.extend(Command::ALL.map(command));
    requests.extend(file.chunks(244).zip(0..).map(|(piece, n)| write_file(2, 122 * n, piece)));
    requests
}

#[test]
fn a_frame_that_is_cut_or_merged_anywhere_gets_no_answer() {
    let mut plant = Plant::new();
    let right = framed(UNIT, &[4, 0, 0, 0, 48]);
    for end in 0..right.len() {
        assert_eq!(plant.send(&right[..end]), None, "cut after {end}");
        assert_eq!(plant.send(&right[end + 1..]), None, "begins after {end}");
        let merged = [&right[..], &right[..=end]].concat();
        assert_eq!(plant.send(&merged), None, "merged with {end} bytes");
        let lost = [&right[..end], &right[end + 1..]].concat();
        assert_eq!(plant.send(&lost), None, "byte {end} lost");
        for bit in 0..8 {
            let mut flipped = right.clone();
            flipped[end] ^= 1 << bit;
            assert_eq!(plant.send(&flipped), None, "bit {bit} of byte {end}");
        }
        for byte in &right {
            plant.server.push(*byte);
        }
        plant.server.damaged();
        assert_eq!(plant.send(&[]), None);
        assert!(plant.send(&right).is_some(), "the next frame is taken");
    }
    assert_eq!(plant.send(&[0x55; 10_000]), None);
    assert!(plant.send(&right).is_some());
}

#[test]
fn a_million_mutated_frames_never_panic_and_never_finish_another_model() {
    let mut random = Random(0x9e37_79b9_7f4a_7c15);
    let mut plant = Plant::new();
    busy(&mut plant.registers);
    let requests = requests(&plant);
    let (mut answered, mut taken, mut finished) = (0, 0, 0);
    for round in 0..1_000_000 {
        let mut request = requests[random.below(requests.len())].clone();
        if round % 8 == 0 {
            // A whole update from time to time, so that mutations meet every state of it.
            request.clone_from(&requests[5 + (round / 8) % (requests.len() - 5)]);
        } else {
            for _ in 0..=random.below(3) {
                mutate(&mut request, &mut random);
            }
        }
        let mut bytes = framed(UNIT, &request);
        let mended = random.below(2) == 0;
        if !mended {
            let at = random.below(bytes.len());
            bytes[at] ^= 1 << random.below(8);
        }
        let begun = plant.receiver.envelope.is_some();
        let (finished_before, asked_before) = (plant.receiver.finished, plant.receiver.asked);
        let answer = plant.send(&bytes);
        assert!(mended || answer.is_none(), "a damaged frame was taken: {bytes:x?}");
        if let Some(answer) = answer {
            answered += 1;
            taken += usize::from(answer[1] & 0x80 == 0);
            assert!(answer.len() <= 256 && answer[0] == UNIT, "{bytes:x?}");
            assert_eq!(answer[1] & 0x7f, request[0] & 0x7f, "{bytes:x?}");
        }
        while plant.server.take_request().is_some() {}
        // The receiver counts a model only if every byte of it is genuine.
        finished += plant.receiver.finished - finished_before;
        if plant.receiver.asked > asked_before {
            assert_eq!(request, command(Command::Finish), "finish without its exact request");
        }
        if !begun && plant.receiver.envelope.is_some() {
            assert_eq!(request, command(Command::Begin), "begin without its exact request");
        }
        assert!(plant.receiver.stored.len() <= plant.receiver.status.total as usize);
    }
    assert!(answered > 400_000 && taken > 40_000, "{answered} answered, {taken} taken");
    // Whole updates of the genuine file pass between the mutated frames, and nothing else does.
    assert!(finished > 0, "no update was whole: the mutations met too few states");
}

fn mutate(request: &mut Vec<u8>, random: &mut Random) {
    if request.is_empty() {
        request.push(0);
    }
    let at = random.below(request.len());
    match random.below(6) {
        0 => request[at] ^= 1 << random.below(8),
        1 => request[at] = random.below(256) as u8,
        2 => request[at] = [0, 1, 0x7f, 0x80, 0xff][random.below(5)],
        3 => request.truncate(at.max(1)),
        4 => request.insert(at, random.below(256) as u8),
        _ => {
            let more = request[at..].to_vec();
            request.extend(more);
            request.truncate(253);
        }
    }
}

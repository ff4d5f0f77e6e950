//! A deterministic fuzz run of the Modbus server: `mutate-bus [COUNT [SEED]]`.
//!
//! The inputs are sequences of right requests of every kind, with bytes flipped, inserted and left
//! out. Half of the frames get a right CRC.

use fastrand::Rng;
use rebearing_fuzz::{UNIT, bus};
use std::process::ExitCode;
use std::time::Instant;

const COUNT: u64 = 1_000_000;
const SEED: u64 = 1;
/// At least one frame in this many must be taken. Otherwise the run tested too little.
const TAKEN_SHARE: u64 = 20;

fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse());
    let (Ok(count), Ok(seed)) = (number(COUNT), number(SEED)) else {
        eprintln!("usage: mutate-bus [COUNT [SEED]]");
        return ExitCode::from(2);
    };
    let mut rng = Rng::with_seed(seed);
    let started = Instant::now();
    let (mut frames, mut taken) = (0, 0);
    while frames < count {
        let mut input = Vec::new();
        for _ in 0..rng.u8(1..16) {
            let request = request(&mut rng);
            input.extend([request.len() as u8, u8::from(rng.bool())]);
            input.extend(request);
            frames += 1;
        }
        taken += bus(&input) as u64;
    }
    let seconds = started.elapsed().as_secs_f64();
    println!("{frames} frames from seed {seed}, {taken} taken, no panic, {seconds:.1} s");
    if taken * TAKEN_SHARE < frames {
        eprintln!("error: too few frames were taken: the mutations no longer reach the checks");
        return ExitCode::FAILURE;
    }
    ExitCode::SUCCESS
}

/// Unit, function and data of a request, with up to three mutations.
fn request(rng: &mut Rng) -> Vec<u8> {
    let mut request = vec![UNIT];
    match rng.u8(..6) {
        0 => request.extend([3 + rng.u8(..2), 0, rng.u8(..), 0, rng.u8(..126)]),
        1 => request.extend([8, 0, 0, rng.u8(..), rng.u8(..)]),
        2 => request.extend([43, 14, rng.u8(..6), rng.u8(..8)]),
        3 => request.extend([16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42, 0, rng.u8(..9)]),
        _ => {
            let words = rng.u8(1..=122);
            let (file, record) = (rng.u8(..4), rng.u8(..65));
            request.extend([21, 7 + 2 * words, 6, 0, file, 0, record, 0, words]);
            request.extend((0..2 * words).map(|_| rng.u8(..)));
        }
    }
    for _ in 0..rng.u8(..4) {
        let at = rng.usize(..request.len());
        match rng.u8(..4) {
            0 => request[at] ^= 1 << rng.u8(..8),
            1 => request[at] = rng.u8(..),
            2 => request.insert(at, rng.u8(..)),
            _ => request.truncate(at.max(2)),
        }
    }
    request.truncate(255);
    request
}

//! Damaged model files on a 32-bit core, with every overflow check on.
//!
//! A 64-bit host cannot see a sum that overflows 32 bits, so the fuzzer of the host (`fuzz/`) is not
//! enough. This runs in QEMU's mps2-an386: `fuzz-32 [COUNT [SEED]]`. First, every word of every seed
//! is replaced by every edge, and rates and orders are made tiny together. Then COUNT files have one
//! to four random mutations. Nearly all get a right length and checksum. What the parser accepts is run. `cargo xtask test fuzz` builds it with the
//! profile `checked`, and a panic fails with its place.

#![no_std]
#![no_main]

mod mutate;
mod run;
#[path = "../../../../fuzz/src/seeds.rs"]
#[allow(unreachable_pub, reason = "the host's fuzzer uses it as a library")]
mod seeds;

use core::fmt::Write as _;
use core::panic::PanicInfo;
use core::sync::atomic::{AtomicU32, Ordering};

use cortex_m_rt::entry;
use firmware_examples::line::Line;
use firmware_examples::semihosting::{Console, command_line, exit};

use rebearing::model::Section;

use mutate::{File, Random};
use run::Outcome;
use seeds::{EDGES, SEEDS};

/// Random files, if the command line does not say how many.
const COUNT: u32 = 5000;
/// A run tested too little if fewer than one file in this many is accepted.
const ACCEPTED_SHARE: u32 = 50;

/// Bits of tiny floats, and of one.
const TINY: [u32; 5] = [1, 0x100, 0x006c_e3ee, 0x0080_0000, 0x3f80_0000];

/// Number of the file in work, for the panic handler.
static NUMBER: AtomicU32 = AtomicU32::new(0);

#[derive(Default)]
struct Tally {
    files: u32,
    accepted: u32,
    windows: u32,
}

impl Tally {
    fn take(&mut self, file: &File) {
        self.files += 1;
        NUMBER.store(self.files, Ordering::Relaxed);
        if let Outcome::Accepted { windows } = run::model(file.bytes()) {
            self.accepted += 1;
            self.windows += windows;
        }
    }
}

#[entry]
fn main() -> ! {
    static mut FILE: File = File::EMPTY;
    let Some(console) = Console::open() else { exit(Err(())) };
    let mut buffer = [0; 256];
    let words = command_line(&mut buffer).unwrap_or_default();
    let mut numbers = words.split(|byte| *byte == b' ' || *byte == 0).skip(1).map(number);
    let count = numbers.next().flatten().unwrap_or(COUNT);
    let seed = numbers.next().flatten().unwrap_or(1);

    let mut tally = Tally::default();
    for seed in &SEEDS {
        FILE.start(seed);
        let words = FILE.bytes().len() / 4;
        for (word, edge) in (0..words).flat_map(|word| EDGES.map(|edge| (word, edge))) {
            FILE.start(seed);
            FILE.set(word, edge);
            tally.take(FILE);
        }
    }
    // One word at a time never gives a tiny rate together with tiny orders.
    for seed in &SEEDS {
        FILE.start(seed);
        let places = [Section::FrontEnd, Section::Orders].map(|section| FILE.payload(section));
        let [Some(rate), Some(orders)] = places else { continue };
        for (rate_hz, first) in TINY.iter().flat_map(|a| TINY.map(|b| (*a, b))) {
            for width in TINY {
                FILE.start(seed);
                FILE.set(orders + 2, first);
                FILE.set(orders + 3, width);
                FILE.set(rate, rate_hz);
                tally.take(FILE);
            }
        }
    }
    let mut random = Random::new(seed);
    for _ in 0..count {
        FILE.start(random.choice(&SEEDS));
        FILE.mutate(&mut random);
        tally.take(FILE);
        // Any bytes at all, for the readers of other formats.
        run::words(&mut random);
    }
    let Tally { files, accepted, windows } = tally;
    let mut line = Line::new(&console);
    // Writing to a line cannot fail.
    let _ = write!(line, "fuzz-32 files={files} accepted={accepted} windows={windows} no panic");
    line.end();
    exit(if accepted > files / ACCEPTED_SHARE { Ok(()) } else { Err(()) })
}

fn number(word: &[u8]) -> Option<u32> {
    str::from_utf8(word).ok()?.parse().ok()
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    if let Some(console) = Console::open() {
        let mut line = Line::new(&console);
        let file = NUMBER.load(Ordering::Relaxed);
        let _ = write!(line, "error: file {file}: {info}");
        line.end();
    }
    exit(Err(()))
}

firmware_examples::semihosting_faults!();

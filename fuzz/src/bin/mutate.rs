//! A deterministic fuzz run without a fuzzer: `mutate [COUNT [SEED]]`.
//!
//! The inputs are random bytes, and models with every section with bits flipped, words replaced, and ranges
//! moved, cut or doubled. Most inputs get a right length and CRC, so they reach the checks behind
//! these. The run ends with a table of why inputs were refused: each check must have refused some.

use fastrand::Rng;
use rebearing::ModelError;
use rebearing::model::{Section, format};
use rebearing_fuzz::seeds::{EDGES, LONGEST, SEEDS, seal};
use rebearing_fuzz::{model, monitor};
use std::collections::BTreeMap;
use std::ops::Range;
use std::process::ExitCode;
use std::time::Instant;

const COUNT: u64 = 1_000_000;
const SEED: u64 = 1;
/// One input in this many is a run of the monitor instead. Such a run takes far longer.
const MONITOR_SHARE: u64 = 64;
/// The outcomes that a run of at least [`ENOUGH`] inputs must meet. Otherwise it tested too little.
const MUST_MEET: [&str; 38] = [
    "accepted",
    "TooShort",
    "WrongMagic",
    "UnsupportedVersion",
    "ReservedBits",
    "BadCrc",
    "UnknownSection",
    "RepeatedSection",
    "MissingSection",
    "SectionLength",
    "BadText",
    "OutOfRange: order blocks",
    "OutOfRange: number of order bands",
    "OutOfRange: first order",
    "OutOfRange: width of an order band",
    "OutOfRange: number of gate components",
    "OutOfRange: gate threshold",
    "OutOfRange: gate flags",
    "OutOfRange: label of a gate component",
    "OutOfRange: verdict",
    "OutOfRange: verdict flags",
    "OutOfRange: predicted accuracy",
    "OutOfRange: promised accuracy",
    "OutOfRange: accuracy curve",
    "OutOfRange: counts per unit",
    "OutOfRange: features of the early drop",
    "OutOfRange: fraction bits",
    "OutOfRange: component precision",
    "OutOfRange: sum of a label row",
    "OutOfRange: sample rate",
    "OutOfRange: order of features",
    "OutOfRange: drift block",
    "OutOfRange: drift reference",
    "OutOfRange: full scale",
    "OutOfRange: severity limits",
    "OutOfRange: raise threshold",
    "OutOfRange: idle rms",
    "OutOfRange: alarm flags",
];
const ENOUGH: u64 = 100_000;
fn main() -> ExitCode {
    let mut words = std::env::args().skip(1);
    let mut number = |default: u64| words.next().map_or(Ok(default), |word| word.parse());
    let (Ok(count), Ok(seed)) = (number(COUNT), number(SEED)) else {
        eprintln!("usage: mutate [COUNT [SEED]]");
        return ExitCode::from(2);
    };
    let seeds = SEEDS.each_ref().map(|seed| {
        let mut file = vec![0; LONGEST];
        let length = seed.write(&mut file);
        file.truncate(length);
        file
    });
    if let Err(problem) = check_seeds(&seeds) {
        eprintln!("error: {problem}");
        return ExitCode::FAILURE;
    }
    let mut rng = Rng::with_seed(seed);
    let mut outcomes: BTreeMap<String, u64> = BTreeMap::new();
    let started = Instant::now();
    for index in 0..count {
        let outcome = if index % MONITOR_SHARE == 0 {
            monitor(&samples(&mut rng));
            "monitor run".into()
        } else {
            model(&input(&seeds, &mut rng))
                .map_or_else(|error| reason(&error), |()| "accepted".into())
        };
        *outcomes.entry(outcome).or_default() += 1;
    }
    for (outcome, times) in &outcomes {
        println!("{times:>9}  {outcome}");
    }
    println!("{count} inputs from seed {seed}, no panic, {:.1} s", started.elapsed().as_secs_f64());
    match MUST_MEET.iter().find(|must| !outcomes.contains_key(**must)) {
        Some(must) if count >= ENOUGH => {
            eprintln!("error: no input was `{must}`: the mutations no longer reach that check");
            ExitCode::FAILURE
        }
        _ => ExitCode::SUCCESS,
    }
}

/// Name of the check that refused an input, without its numbers.
fn reason(error: &ModelError) -> String {
    match error {
        ModelError::OutOfRange { field, .. } => format!("OutOfRange: {field}"),
        other => format!("{other:?}").split(' ').take(1).collect(),
    }
}

/// Checks that every seed is a valid model, and that every section is in one.
fn check_seeds(seeds: &[Vec<u8>]) -> Result<(), String> {
    for (number, seed) in seeds.iter().enumerate() {
        model(seed).map_err(|error| format!("seed {number}: {error}"))?;
    }
    let has = |section: &Section| {
        let tag = section.tag();
        seeds
            .iter()
            .any(|seed| sections(seed).iter().any(|range| seed[range.clone()].starts_with(&tag)))
    };
    match Section::ALL.iter().find(|section| !has(section)) {
        Some(section) => Err(format!("no seed has the section {section:?}")),
        None => Ok(()),
    }
}

/// Random bytes, or a seed with one to four mutations.
fn input(seeds: &[Vec<u8>], rng: &mut Rng) -> Vec<u8> {
    let golden = &seeds[rng.usize(..seeds.len())];
    let mut file = if rng.u8(..16) == 0 {
        let mut file = vec![0; rng.usize(..2 * golden.len())];
        rng.fill(&mut file);
        file
    } else {
        let mut file = golden.clone();
        for _ in 0..rng.u8(1..=4) {
            mutate(&mut file, rng);
        }
        file
    };
    if rng.u8(..16) != 0 {
        seal(&mut file);
    }
    file
}

fn mutate(file: &mut Vec<u8>, rng: &mut Rng) {
    let Some(last_word) = (file.len() / 4).checked_sub(1) else { return };
    // Header, counts, front end and section headers are few words among many numbers. So a third of
    // the places are at the start of the file, and a third in the first words of some section: a
    // section of six words is as likely as a mixture.
    let at = match (rng.u8(..3), rng.choice(sections(file))) {
        (0, _) | (_, None) => 4 * rng.usize(..=last_word),
        (1, _) => 4 * rng.usize(..=last_word.min(64)),
        (_, Some(section)) => {
            let payload = section.start + format::SECTION_HEADER_LEN;
            let words = ((section.end - payload) / 4).clamp(1, 8);
            (payload + 4 * rng.usize(..words)).min(4 * last_word)
        }
    };
    match rng.u8(..8) {
        0 => file[at + rng.usize(..4)] ^= 1 << rng.u8(..8),
        1 => file[at + rng.usize(..4)] = rng.u8(..),
        2 => file[at..at + 4].copy_from_slice(&EDGES[rng.usize(..EDGES.len())].to_le_bytes()),
        3 => {
            // A slightly different float, or a neighbouring integer.
            let word = file[at..at + 4]
                .iter()
                .rev()
                .fold(0_u32, |word, byte| word << 8 | u32::from(*byte));
            let near = if rng.bool() { word.wrapping_add(1) } else { word.wrapping_sub(1) };
            file[at..at + 4].copy_from_slice(&near.to_le_bytes());
        }
        4 => file.truncate(if rng.bool() { at } else { rng.usize(..=file.len()) }),
        kind => {
            // Mostly a whole section: the resulting file is then nearly consistent.
            let range = sections(file).get(rng.usize(..10)).cloned().filter(|_| rng.u8(..4) != 0);
            let range = range.unwrap_or_else(|| at..at + 4 * rng.usize(..=(file.len() - at) / 4));
            let piece = file[range.clone()].to_vec();
            if kind != 5 {
                file.drain(range);
            }
            if kind != 6 {
                let place = if rng.bool() { file.len() } else { at.min(file.len()) };
                file.splice(place..place, piece);
            }
        }
    }
}

/// Ranges of a file's sections, as far as its headers can be followed.
fn sections(file: &[u8]) -> Vec<Range<usize>> {
    let mut sections = Vec::new();
    let mut start = format::HEADER_LEN;
    while let Some(&[_, _, _, _, a, b, c, d]) = file.get(start..).and_then(<[u8]>::first_chunk) {
        let length = u32::from_le_bytes([a, b, c, d]) as usize;
        let end = start + format::SECTION_HEADER_LEN + length;
        if end > file.len() {
            break;
        }
        sections.push(start..end);
        start = end;
    }
    sections
}

/// Samples of one kind: arbitrary bits, ordinary vibration, or a few values far apart.
fn samples(rng: &mut Rng) -> Vec<u8> {
    let count = rng.usize(1..5000);
    let kind = rng.u8(..3);
    let scale = 10_f32.powi(rng.i32(-40..39));
    let sample = |_| match kind {
        0 => rng.u32(..),
        1 => ((rng.f32() - 0.5) * scale).to_bits(),
        _ => EDGES[rng.usize(..EDGES.len())],
    };
    (0..count).map(sample).flat_map(u32::to_le_bytes).collect()
}

//! Instructions of emlearn's Gaussian mixture (log-likelihood and responsibilities; it has no
//! labels), compiled from its C headers by `cargo xtask bench device` and linked into this binary.
//!
//! emlearn evaluates diagonal covariances as full ones, so its numbers do not fit in the MODEL
//! region. They lie in the board's external memory if it has one. Little-endian: eight words
//! (magic, components K, dims D), then as f32 means[K][D], precisions[K][D][D], log
//! determinants[K], log weights[K], x[D], and from a reference in f64 the log-likelihood and
//! responsibilities[K].

#![no_std]
#![no_main]

use core::hint::black_box;
use core::{ptr, slice};
use cortex_m_rt::entry;
use firmware_examples::bench::{self, CORE, Row, instructions};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::Console;
use panic_never as _;
use zerocopy::FromBytes;

const MAGIC: u32 = u32::from_le_bytes(*b"EMLN");
const COMPONENTS: usize = 128;

unsafe extern "C" {
    fn bench_emlearn(
        components: i32,
        features: i32,
        means: *const f32,
        precisions: *const f32,
        log_dets: *const f32,
        log_weights: *const f32,
        x: *const f32,
        log_probabilities: *mut f32,
        score: *mut f32,
        responsibilities: *mut f32,
    ) -> i32;
}

#[entry]
fn main() -> ! {
    bench::main(run)
}

/// The memory that the bench loads the problem into.
fn memory() -> &'static [u8] {
    let external = |address| {
        // SAFETY: QEMU's board has 16 MB of memory there, and nothing else here uses it.
        unsafe { slice::from_raw_parts(ptr::with_exposed_provenance(address), 16 << 20) }
    };
    match CORE {
        "cortex-m4f" => external(0x2100_0000),
        "cortex-m33" => external(0x8000_0000),
        _ => model_region(),
    }
}

fn run(console: &Console) -> Result<(), &'static str> {
    let (header, numbers) = memory().split_at_checked(32).ok_or("no memory")?;
    let &[MAGIC, components, dims, ..] =
        <[u32]>::ref_from_bytes(header).map_err(|_| "alignment")?
    else {
        return Err("no problem in memory");
    };
    let (k, d) = (components as usize, dims as usize);
    let numbers = <[f32]>::ref_from_bytes(numbers).map_err(|_| "alignment")?;
    let split = |numbers: &'static [f32], at| numbers.split_at_checked(at).ok_or("a short problem");
    let (means, rest) = split(numbers, k * d)?;
    let (precisions, rest) = split(rest, k * d * d)?;
    let (log_dets, rest) = split(rest, k)?;
    let (log_weights, rest) = split(rest, k)?;
    let (x, rest) = split(rest, d)?;
    let (expected, rest) = split(rest, 1)?;
    let (shares, _) = split(rest, k)?;

    let mut log_probabilities = [0.0; COMPONENTS];
    let mut responsibilities = [0.0; COMPONENTS];
    if k > COMPONENTS {
        return Err("too many components");
    }
    let mut score = 0.0;
    let mut infer = || {
        // SAFETY: every pointer is to as many numbers as the arguments `k` and `d` say.
        unsafe {
            bench_emlearn(
                components.cast_signed(),
                dims.cast_signed(),
                means.as_ptr(),
                precisions.as_ptr(),
                log_dets.as_ptr(),
                log_weights.as_ptr(),
                black_box(x).as_ptr(),
                log_probabilities.as_mut_ptr(),
                &raw mut score,
                responsibilities.as_mut_ptr(),
            )
        }
    };
    if infer() != 0 {
        return Err("emlearn refuses the problem");
    }
    let instructions = instructions(|| {
        black_box(infer());
    });
    let expected = expected.first().copied().unwrap_or(0.0);
    let bound = 1e-5 * (expected.abs() + 10.0);
    let near = |a: f32, b: f32| (a - b).abs() <= bound;
    if !near(score, expected) || !responsibilities.iter().zip(shares).all(|(a, b)| near(*a, *b)) {
        return Err("a result is not the reference's");
    }
    let parameters = 4 * (means.len() + precisions.len() + log_dets.len() + log_weights.len());
    let ram = 2 * 4 * k;
    Row {
        encoding: "f32",
        kernel: "emlearn",
        components: k,
        dims: d,
        case: "plain",
        instructions,
        parameters,
        ram,
        bits: None,
    }
    .print(console);
    Ok(())
}

firmware_examples::semihosting_faults!();

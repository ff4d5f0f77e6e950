//! A whole window: a model, the samples, and the results of a reference in f64.
//!
//! The MODEL region holds five words (magic, bytes of the model, samples, features, classes), the
//! model, the samples of one window as i16, and the reference in words: features, log-likelihood
//! and posterior. The words are f32, or i32 in the units of an i16 model.

use core::hint::black_box;

use rebearing::acquisition::Sample;
use rebearing::model::{AnyModel, Body};
use rebearing::monitor::AnyFinding;
use rebearing::signal::Segment;
use rebearing::{AnyMonitor, Vacant};
use zerocopy::{FromBytes, Immutable, KnownLayout};

use super::{Stack, instructions, print_stage, stack};
use crate::semihosting::Console;

/// Points of the FFT, equal to the number of samples in a window.
pub const FFT: usize = 2048;
/// Number of features.
pub const DIMS: usize = 32;
/// Number of components.
pub const COMPONENTS: usize = 40;
/// Largest number of classes.
pub const CLASSES: usize = 8;
/// Samples in a block, as a sensor's FIFO delivers them.
pub const BLOCK: usize = 128;

/// A model, samples, and the expected results.
pub struct Problem<'a, B, W> {
    /// The model.
    pub model: AnyModel<'a, B>,
    /// The samples.
    pub samples: &'a [i16],
    /// The features.
    pub features: &'a [W],
    /// The log-likelihood.
    pub log_likelihood: W,
    /// The posterior.
    pub posterior: &'a [W],
}

impl<'a, B, W> Problem<'a, B, W>
where
    B: Body<'a>,
    W: FromBytes + Immutable + KnownLayout + Copy,
{
    /// Reads the problem in `region`; `None` if there is none, or if its magic differs.
    pub fn read(region: &'a [u8], magic: [u8; 4]) -> Option<Self> {
        let (header, rest) = region.split_at_checked(20)?;
        let &[found, model, samples, features, classes] = <[u32]>::ref_from_bytes(header).ok()?
        else {
            return None;
        };
        let (model, rest) = rest.split_at_checked(model as usize)?;
        let (samples, rest) = rest.split_at_checked(2 * samples as usize)?;
        let results = 4 * (features as usize + 1 + classes as usize);
        let results = <[W]>::ref_from_bytes(rest.get(..results)?).ok()?;
        let (features, results) = results.split_at_checked(features as usize)?;
        let (log_likelihood, posterior) = results.split_first()?;
        if found != u32::from_le_bytes(magic) {
            return None;
        }
        Some(Self {
            model: AnyModel::parse(model).ok()?,
            samples: <[i16]>::ref_from_bytes(samples).ok()?,
            features,
            log_likelihood: *log_likelihood,
            posterior,
        })
    }
}

/// Instructions to push a window's samples one by one.
///
/// In its own function, so the registers of other stages do not affect it.
#[inline(never)]
pub fn push_singly<S: Sample>(
    segment: &mut Segment<S, FFT, 1>,
    samples: &[i16],
    sample: impl Fn(i16) -> S,
) -> u32 {
    instructions(|| {
        for count in black_box(samples) {
            black_box(segment.push([sample(*count)]));
        }
    })
}

/// Measures a monitor over the whole window: its instructions, and its stack to start in place, to
/// build by `new`, and to push.
///
/// `check` returns true if a finding equals the reference.
pub fn whole<'m, M>(
    console: &Console,
    kernel: &'static str,
    room: &mut Vacant<M>,
    model: AnyModel<'m, M::Body>,
    samples: &[[M::Sample; 1]],
    new: impl FnOnce(AnyModel<'m, M::Body>),
    check: impl Fn(&AnyFinding<<M::Body as Body<'m>>::Numbers, 1, CLASSES>) -> Result<(), &'static str>,
) -> Result<(), &'static str>
where
    M: AnyMonitor<'m, 1, CLASSES>,
{
    const TOO_DEEP: &str = "the stack is deeper than what was painted";
    let encoding = M::CAPACITIES.encoding.name();
    let new = stack::depth(|| new(black_box(model))).ok_or(TOO_DEEP)?;
    let mut started = Err("the model does not fit");
    let start = stack::depth(|| {
        if room.start(black_box(model)).is_ok() {
            started = Ok(());
        }
    });
    let start = start.ok_or(TOO_DEEP)?;
    started?;
    let monitor = room.start(model).map_err(|_| "the model does not fit")?;
    let mut right = Err("no finding");
    let mut feed = |monitor: &mut M| {
        for block in black_box(samples).chunks_exact(BLOCK) {
            monitor.push_slice(block, |finding| right = check(&finding));
        }
    };
    let push = stack::depth(|| feed(&mut *monitor));
    let counted = instructions(|| {
        monitor.clear();
        feed(black_box(&mut *monitor));
    });
    right?;
    let push = push.ok_or(TOO_DEEP)?;
    print_stage(console, encoding, kernel, "whole", counted);
    Stack { encoding, kernel, push, start, new, ram: size_of::<M>() }.print(console);
    Ok(())
}

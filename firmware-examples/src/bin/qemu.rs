//! The device that `rebearing emulate` runs in QEMU: it runs a host's recording through a monitor.
//!
//! QEMU loads the model into the MODEL region, as probe-rs would on a board. The board with a
//! floating-point unit (mps2-an386, Cortex-M4F) runs models of both encodings, in every size that
//! the format allows. The one without (microbit, Cortex-M0, 16 KiB of RAM) runs i16 models and uses
//! no floating-point operation: a test checks the ELF file for that.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::emulated::{Failure, Recording};
use firmware_examples::model_region::model_region;
use firmware_examples::semihosting::{Console, exit};
use panic_never as _;
use rebearing::monitor::Samples;
use rebearing::{IntegerModel, IntegerMonitor};

/// Room for every model that the format allows.
#[cfg(fpu)]
mod room {
    use rebearing::model::format::{MAX_AXES, MAX_BANDS, MAX_CLASSES, MAX_COMPONENTS};

    pub(super) const DIMS: usize = MAX_AXES * MAX_BANDS;
    pub(super) const COMPONENTS: usize = MAX_COMPONENTS;
    pub(super) const CLASSES: usize = MAX_CLASSES;
}

/// Room that leaves space for a stack in 16 KiB.
#[cfg(not(fpu))]
mod room {
    pub(super) const DIMS: usize = 64;
    pub(super) const COMPONENTS: usize = 40;
    pub(super) const CLASSES: usize = 16;
}

use room::{CLASSES, COMPONENTS, DIMS};

#[entry]
fn main() -> ! {
    // Without a console there is nobody to tell, but the exit code still reports the failure.
    let Some(console) = Console::open() else { exit(Err(())) };
    let result = Recording::open(&console).and_then(|recording| run(&recording, model_region()));
    if let Err(failure) = &result {
        failure.explain(&console);
    }
    exit(result.map_err(drop))
}

fn run(recording: &Recording<'_>, region: &'static [u8]) -> Result<(), Failure> {
    #[cfg(fpu)]
    if rebearing::Encoding::of_region(region)? == rebearing::Encoding::F32 {
        return floats::run(recording, region);
    }
    let model = IntegerModel::from_region(region)?;
    if recording.samples != Samples::Counts {
        return Err(Failure::NotCounts);
    }
    match model.front_end().fft_len {
        256 => integers::<256>(recording, &model),
        512 => integers::<512>(recording, &model),
        #[cfg(fpu)]
        1024 => integers::<1024>(recording, &model),
        #[cfg(fpu)]
        2048 => integers::<2048>(recording, &model),
        #[cfg(fpu)]
        4096 => integers::<4096>(recording, &model),
        points => Err(Failure::Points(points)),
    }
}

fn integers<const FFT: usize>(
    recording: &Recording<'_>,
    model: &IntegerModel<'_>,
) -> Result<(), Failure> {
    match model.front_end().axes {
        1 => in_integers::<FFT, 1>(recording, model),
        2 => in_integers::<FFT, 2>(recording, model),
        3 => in_integers::<FFT, 3>(recording, model),
        axes => Err(Failure::Axes(axes)),
    }
}

/// Never inlined, so only one of the monitors takes stack.
#[inline(never)]
fn in_integers<const FFT: usize, const AXES: usize>(
    recording: &Recording<'_>,
    model: &IntegerModel<'_>,
) -> Result<(), Failure> {
    let mut room = IntegerMonitor::<FFT, AXES, DIMS, COMPONENTS, CLASSES>::vacant();
    recording.run(room.start(*model)?)
}

#[cfg(fpu)]
mod floats {
    use firmware_examples::emulated::{Failure, Raw, Recording};
    use rebearing::monitor::Samples;
    use rebearing::{Model, Monitor};

    use super::{CLASSES, COMPONENTS, DIMS};

    pub(super) fn run(recording: &Recording<'_>, region: &'static [u8]) -> Result<(), Failure> {
        let model = Model::from_region(region)?;
        match (recording.samples, model.front_end().axes) {
            (Samples::Floats, 1) => in_floats::<f32, 1>(recording, &model),
            (Samples::Floats, 2) => in_floats::<f32, 2>(recording, &model),
            (Samples::Floats, 3) => in_floats::<f32, 3>(recording, &model),
            (Samples::Counts, 1) => in_floats::<i16, 1>(recording, &model),
            (Samples::Counts, 2) => in_floats::<i16, 2>(recording, &model),
            (Samples::Counts, 3) => in_floats::<i16, 3>(recording, &model),
            (_, axes) => Err(Failure::Axes(axes)),
        }
    }

    /// Never inlined, so only one of the monitors takes stack.
    #[inline(never)]
    fn in_floats<S: Raw, const AXES: usize>(
        recording: &Recording<'_>,
        model: &Model<'_>,
    ) -> Result<(), Failure> {
        let mut room = Monitor::<S, 4096, AXES, DIMS, COMPONENTS, CLASSES>::vacant();
        recording.run(room.start(*model)?)
    }
}

firmware_examples::semihosting_faults!();

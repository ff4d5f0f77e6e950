//! Slots with unknown contents, the models in them, and a firmware's description of itself.

use core::hint::black_box;

use embedded_storage::nor_flash::{self, NorFlash, NorFlashErrorKind, ReadNorFlash};
use rebearing::model::{AnyModel, Body};
use rebearing::monitor::Sampling;
use rebearing::update::{self, Descriptor, Slot, Slots};
use rebearing::{IntegerModel, IntegerMonitor, Model, Monitor};

use crate::unknown::{bytes, number, write};

pub(crate) fn all() {
    slots();
    descriptor();
}

/// A flash with unknown contents.
struct Flash;

impl nor_flash::ErrorType for Flash {
    type Error = NorFlashErrorKind;
}

impl ReadNorFlash for Flash {
    const READ_SIZE: usize = 1;

    fn read(&mut self, offset: u32, bytes: &mut [u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Err(NorFlashErrorKind::Other))
    }

    fn capacity(&self) -> usize {
        number()
    }
}

impl NorFlash for Flash {
    const WRITE_SIZE: usize = 8;
    const ERASE_SIZE: usize = 4096;

    fn erase(&mut self, from: u32, to: u32) -> Result<(), NorFlashErrorKind> {
        black_box((from, to));
        black_box(Err(NorFlashErrorKind::Other))
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<(), NorFlashErrorKind> {
        black_box((offset, bytes));
        black_box(Err(NorFlashErrorKind::Other))
    }
}

fn slots() {
    match update::newest(bytes(), Monitor::<f32, 256, 1, 16, 4, 2>::new) {
        Ok((slot, monitor)) => drop(black_box((slot.other(), monitor))),
        Err(error) => write(error),
    }
    match update::newest(bytes(), IntegerMonitor::<256, 1, 16, 4, 2>::new) {
        Ok(found) => drop(black_box(found)),
        Err(error) => write(error),
    }
    let slots = Slots::new(Flash, number() as u32..number() as u32);
    if let Err(error) = &slots {
        write(error);
    }
    if let Ok(mut slots) = black_box(slots) {
        black_box(slots.capacity());
        let in_use: Option<Slot> = black_box(None);
        if let Ok(model) = Model::parse(bytes())
            && let Err(error) = slots.store(in_use, &model)
        {
            write(error);
        }
        black_box(slots.into_flash());
    }
}

fn descriptor() {
    let read = Descriptor::from_bytes(bytes());
    if let Some(descriptor) = black_box(read) {
        black_box((descriptor.chip(), descriptor.to_bytes()));
        if let Ok(model) = Model::parse(bytes()) {
            black_box(descriptor.capacities.check(&model)).unwrap_or_default();
            sampling(&descriptor, &model);
        }
        if let Ok(model) = IntegerModel::parse(bytes()) {
            black_box(descriptor.capacities.check(&model)).unwrap_or_default();
            sampling(&descriptor, &model);
        }
        black_box(descriptor.capacities.device_ram());
    }
}

fn sampling<'m, B: Body<'m>>(descriptor: &Descriptor, model: &AnyModel<'m, B>) {
    let sampling = black_box(descriptor.sampling.unwrap_or(Sampling::ANY));
    if let Err(error) = sampling.check(model) {
        write(error);
    }
}

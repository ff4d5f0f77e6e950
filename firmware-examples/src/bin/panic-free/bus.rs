//! A Modbus server in any state, fed any bytes, in front of a receiver that may answer anything.

use core::hint::black_box;

use rebearing::bus::{Command, Identity, MAP, Register, Registers, Server, frame};
use rebearing::model::{Floats, Integers, Numbers};
use rebearing::monitor::AnyFinding;
use rebearing::operation::AlarmState;
use rebearing::operation::alarm::{Counters, State};
use rebearing::update::envelope::ENVELOPE_LEN;
use rebearing::update::{NoReceiver, Receiver, Refusal, UpdateStatus};
use rebearing::{IntegerModel, Model, SensorFault};

use crate::unknown::{bytes, inspect, number, write};

/// A receiver that takes or refuses anything.
struct Anyone;

fn answer<T>(value: T) -> Result<T, Refusal> {
    black_box(if number() == 0 { Ok(value) } else { Err(Refusal::Gap) })
}

impl Receiver for Anyone {
    fn begin(&mut self, envelope: &[u8; ENVELOPE_LEN]) -> Result<u32, Refusal> {
        black_box(envelope);
        answer(number() as u32)
    }

    fn write(&mut self, offset: u32, bytes: &[u8]) -> Result<u32, Refusal> {
        black_box((offset, bytes));
        answer(number() as u32)
    }

    fn finish(&mut self) -> Result<(), Refusal> {
        answer(())
    }

    fn abandon(&mut self) {}

    fn confirm(&mut self) -> Result<(), Refusal> {
        answer(())
    }

    fn reject(&mut self) -> Result<(), Refusal> {
        answer(())
    }

    fn status(&self) -> UpdateStatus {
        black_box(UpdateStatus::default())
    }
}

pub(crate) fn all() {
    let mut registers = black_box(Registers::new(black_box(Identity::default())));
    if let Ok(model) = Model::parse(bytes()) {
        registers.set_model(&model);
    }
    if let Ok(model) = IntegerModel::parse(bytes()) {
        registers.set_model(&model);
    }
    finding::<Floats>(&mut registers);
    finding::<Integers>(&mut registers);
    let registers = black_box(registers);
    inspect(&registers);
    served(&registers, &mut Anyone);
    served(&registers, &mut black_box(NoReceiver::default()));

    black_box((frame::open(bytes()), frame::crc16(bytes())));
    black_box(Command::from_code(number() as u16).map(Command::name));
    black_box((Register::find(black_box("state")), MAP.get(number())));
    if let Some(refusal) = Refusal::from_code(number() as u8) {
        write(refusal);
    }
}

/// Takes a finding with unknown contents.
fn finding<N: Numbers>(registers: &mut Registers<'_>) {
    let finding = AnyFinding::<N, 3, 16> {
        index: number() as u32,
        result: black_box(Err(SensorFault::Flat)),
    };
    let alarm = AlarmState { state: State::Idle, alarm: None, level: None };
    registers.update(black_box(&finding), black_box(alarm), black_box(Counters::default()));
}

fn served(registers: &Registers<'_>, receiver: &mut impl Receiver) {
    let mut server = black_box(Server::new(number() as u8));
    for byte in bytes() {
        server.push(*byte);
    }
    // Any state, not only one that these bytes lead to.
    let mut server = black_box(server);
    server.damaged();
    let mut server = black_box(server);
    black_box(server.silence(registers, receiver));
    black_box(server.take_request());
    black_box(server.clone());
}

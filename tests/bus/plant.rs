//! A server with registers and a receiver behind it, and the requests of a controller.

use rebearing::acquisition::SensorFault;
use rebearing::bus::{Command, Identity, Registers, Server, WindowRegisters, frame};
use rebearing::operation::AlarmState;
use rebearing::operation::alarm::{Counters, Raised, State};
use rebearing::{Label, Zone};

use crate::receiver::{TestReceiver, signed};

pub(crate) static GOLDEN: &[u8] = rebearing::include_model!("../golden/model-v1.rbm");
pub(crate) const UNIT: u8 = 17;

/// A device on the bus.
pub(crate) struct Plant {
    pub(crate) server: Server,
    pub(crate) registers: Registers<'static>,
    pub(crate) receiver: TestReceiver,
}

impl Plant {
    pub(crate) fn new() -> Self {
        Self {
            server: Server::new(UNIT),
            registers: Registers::new(IDENTITY),
            receiver: TestReceiver::new(signed(GOLDEN, 4)),
        }
    }

    /// Sends bytes as they are, and a silence after them.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> Option<Vec<u8>> {
        for byte in bytes {
            self.server.push(*byte);
        }
        self.server.silence(&self.registers, &mut self.receiver).map(<[u8]>::to_vec)
    }

    /// Sends function and data in a right frame; returns function and data of the answer.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Vec<u8> {
        let answer = self.send(&framed(UNIT, request)).expect("an answer");
        let (unit, answer) = frame::open(&answer).expect("a whole frame");
        assert_eq!(unit, UNIT);
        answer.to_vec()
    }

    /// Reads registers.
    pub(crate) fn read(&mut self, address: u16, count: u16) -> Vec<u16> {
        let answer = self.ask(&[&[4][..], &address.to_be_bytes(), &count.to_be_bytes()].concat());
        assert_eq!(answer[..2], [4, (2 * count) as u8], "{answer:?}");
        answer[2..].as_chunks().0.iter().map(|word| u16::from_be_bytes(*word)).collect()
    }
}

pub(crate) const IDENTITY: Identity<'static> = Identity {
    vendor: "rebearing",
    product_code: "RB-1",
    revision: "0.1.0",
    url: "",
    product: "bearing monitor",
    variant: "STM32F405RG",
    application: "motor-b",
};

/// A frame with its CRC.
pub(crate) fn framed(unit: u8, request: &[u8]) -> Vec<u8> {
    let mut bytes = [&[unit], request].concat();
    bytes.extend(frame::crc16(&bytes).to_le_bytes());
    bytes
}

/// The request that writes a command.
pub(crate) fn command(command: Command) -> Vec<u8> {
    [&[16, 0x03, 0xe8, 0, 2, 4, 0x52, 0x42][..], &command.code().to_be_bytes()].concat()
}

/// The request that writes words into a file.
pub(crate) fn write_file(file: u16, record: u16, bytes: &[u8]) -> Vec<u8> {
    let words = (bytes.len() / 2) as u16;
    let head = [file, record, words].map(u16::to_be_bytes).concat();
    [&[21, (7 + bytes.len()) as u8, 6][..], &head, bytes].concat()
}

/// A window of a running machine with an alarm.
pub(crate) fn busy(registers: &mut Registers<'static>) {
    registers.classes = Some(3);
    registers.class_names[..3].copy_from_slice(&["Healthy", "Außenring am Ende", "Inner"]);
    registers.window = Some(WindowRegisters {
        sequence: 0x0102_0304,
        label: Ok(Label::Class(1)),
        confidence: Some(1 << 14),
        zone: Some(Zone::C),
        velocity: [Some(4.567), None, None],
        rms: [Some(0.5), Some(-0.0), None],
    });
    registers.age_s = Some(70_000);
    registers.alarm = Some(AlarmState {
        state: State::Running,
        alarm: Some(Raised { label: Label::UnknownFault, active: true, acknowledged: false }),
        level: Some(1 << 15),
    });
    registers.counters = Some(Counters { windows: u32::MAX, alarms: 2, ..Counters::default() });
    registers.drift = Some(false);
}

/// The same machine with a sensor that fails.
pub(crate) fn blind(registers: &mut Registers<'static>) {
    busy(registers);
    if let Some(window) = &mut registers.window {
        *window = WindowRegisters {
            label: Err(SensorFault::Bus),
            confidence: None,
            zone: None,
            velocity: [None; 3],
            rms: [None; 3],
            ..*window
        };
    }
    registers.alarm =
        Some(AlarmState { state: State::SensorFault(SensorFault::Bus), alarm: None, level: None });
}

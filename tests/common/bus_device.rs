//! A device on a bus, in a thread of its own: it serves a stream, takes models and restarts.
#![allow(dead_code, unreachable_pub, reason = "several test crates share it, each a part of it")]

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use rebearing::bus::{Identity, Registers, Request, Server, WindowRegisters};
use rebearing::operation::AlarmState;
use rebearing::operation::alarm::{Counters, Raised, State};
use rebearing::update::{Envelope, Outcome, Standing};
use rebearing::{Label, Zone};

use crate::receiver::TestReceiver;

/// The device's unit.
pub const UNIT: u8 = 17;

/// Server, registers and receiver of a device.
pub struct Device {
    pub server: Server,
    pub registers: Registers<'static>,
    pub receiver: TestReceiver,
    /// How the next trial ends; `None` if it does not.
    pub trial_ends: Option<Outcome>,
    pub restarts: usize,
    pub acknowledged: usize,
}

impl Device {
    /// A device that runs with an alarm, and takes the model `genuine` only.
    pub fn new(genuine: Vec<u8>) -> Self {
        let mut registers = Registers::new(Identity {
            vendor: "rebearing",
            product_code: "RB-1",
            revision: "0.1.0",
            url: "",
            product: "bearing \u{1b}[31mmonitor\u{7}",
            variant: "test",
            application: "motor-b",
        });
        registers.classes = Some(3);
        registers.class_names[..3].copy_from_slice(&["Healthy", "InnerRace", "Outer\u{1b}[2J"]);
        registers.window = Some(WindowRegisters {
            sequence: 41,
            label: Ok(Label::Class(1)),
            confidence: Some(31_130),
            zone: Some(Zone::C),
            velocity: [Some(4.5), None, None],
            rms: [Some(0.5), None, None],
        });
        registers.age_s = Some(2);
        registers.alarm = Some(AlarmState {
            state: State::Running,
            alarm: Some(Raised { label: Label::Class(1), active: true, acknowledged: false }),
            level: Some(32_768),
        });
        registers.counters = Some(Counters { windows: 42, alarms: 1, ..Counters::default() });
        Self {
            server: Server::new(UNIT),
            registers,
            receiver: TestReceiver::new(genuine),
            trial_ends: None,
            restarts: 0,
            acknowledged: 0,
        }
    }

    /// Takes the bytes of a frame and returns the answer.
    pub fn frame(&mut self, bytes: &[u8]) -> Vec<u8> {
        for byte in bytes {
            self.server.push(*byte);
        }
        let answer = self.server.silence(&self.registers, &mut self.receiver);
        let answer = answer.unwrap_or_default().to_vec();
        while let Some(request) = self.server.take_request() {
            match request {
                Request::Acknowledge => self.acknowledged += 1,
                Request::Restart => self.restart(),
            }
        }
        answer
    }

    /// Starts again, with the model that waits.
    fn restart(&mut self) {
        self.restarts += 1;
        self.server = Server::new(UNIT);
        self.receiver.abandon_all();
        if !std::mem::take(&mut self.receiver.status.waiting) {
            return;
        }
        let envelope = self.receiver.genuine.last_chunk().and_then(Envelope::from_bytes);
        let (old, new) = (self.receiver.status.counter, envelope.expect("genuine").0.counter);
        let status = &mut self.receiver.status;
        (status.standing, status.counter) = (Standing::OnTrial, new);
        if let Some(outcome) = self.trial_ends {
            status.outcome = outcome;
            status.standing = Standing::Confirmed;
            status.counter = if outcome == Outcome::Confirmed { new } else { old };
        }
    }
}

/// Serves a stream whose reads end after some milliseconds of silence, until it is closed.
pub fn serve(mut stream: impl Read + Write, device: &Mutex<Device>) {
    let (mut frame, mut buffer) = (Vec::new(), [0; 256]);
    loop {
        match stream.read(&mut buffer) {
            Ok(0) => return,
            Ok(count) => frame.extend(&buffer[..count]),
            Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut) => {
                if frame.is_empty() {
                    continue;
                }
                let answer = device.lock().expect("no panic").frame(&frame);
                frame.clear();
                if stream.write_all(&answer).is_err() {
                    return;
                }
            }
            Err(_) => return,
        }
    }
}

/// Serves connections on a port of this machine; returns the port's name.
pub fn listen(device: &Arc<Mutex<Device>>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let name = format!("tcp://{}", listener.local_addr().expect("an address"));
    let device = Arc::clone(device);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            stream.set_read_timeout(Some(Duration::from_millis(3))).expect("a time limit");
            serve(stream, &device);
        }
    });
    name
}

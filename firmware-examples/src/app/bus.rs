//! The plant's bus beside the application: answers what has arrived.

use rebearing::bus::{Identity, Registers, Request, Server};
use rebearing::update::Receiver;

use super::port::{Event, Port, PortBuffer};

/// Number of the board on the bus, until it has switches or a setting for it.
pub const UNIT: u8 = 1;

/// Who the boards are.
pub const IDENTITY: Identity<'static> = Identity {
    vendor: "rebearing",
    product_code: "board",
    revision: env!("CARGO_PKG_VERSION"),
    url: "",
    product: "vibration monitor",
    variant: "IIS3DWB",
    application: "",
};

/// The server of the bus, and the line it is on.
pub struct Bus<P> {
    port: P,
    server: Server,
    /// Number of the last window, and the time when it was seen first.
    window: (Option<u32>, u32),
}

impl<P: Port> Bus<P> {
    /// A bus on a line.
    pub const fn new(port: P) -> Self {
        Self { port, server: Server::new(UNIT), window: (None, 0) }
    }

    /// Answers what has arrived. Returns what the plant asks of the application.
    pub fn poll(
        &mut self,
        registers: &Registers<'_>,
        receiver: &mut impl Receiver,
    ) -> Option<Request> {
        let Self { port, server, window } = self;
        let now = port.with(|buffer| buffer.milliseconds());
        let last = registers.window.map(|window| window.sequence);
        if last != window.0 {
            *window = (last, now);
        }
        let age_s = last.map(|_| now.wrapping_sub(window.1) / 1000);
        let registers = Registers { age_s, ..*registers };
        while let Some(event) = port.with(PortBuffer::take) {
            match event {
                Event::Byte(byte) => server.push(byte),
                Event::Damaged => server.damaged(),
                Event::Silence => {
                    if let Some(answer) = server.silence(&registers, receiver) {
                        port.with(|buffer| buffer.send(answer));
                        port.start_sending();
                    }
                }
            }
        }
        server.take_request()
    }

    /// Returns true while an answer is being sent: wait with a restart.
    pub fn is_sending(&mut self) -> bool {
        self.port.with(|buffer| buffer.is_sending())
    }
}

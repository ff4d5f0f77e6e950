//! The line to a device: a serial port, or a TCP connection to a serial gateway.

use std::io::{self, Read, Write};
use std::net::{TcpStream, ToSocketAddrs as _};
use std::time::Duration;

use serialport::{DataBits, SerialPort, StopBits};
use thiserror::Error;

/// The beginning of a port's name that stands for RTU frames over TCP.
const TCP: &str = "tcp://";
/// Time within which a TCP connection is made, and bytes are written.
const CONNECT: Duration = Duration::from_secs(5);
/// Shortest time that a system waits for bytes.
const SHORTEST: Duration = Duration::from_millis(1);
/// Silence after a frame above 19200 baud.
const SHORTEST_SILENCE: Duration = Duration::from_micros(1750);

/// Bytes to and from a device.
pub trait Line {
    /// Sends all bytes.
    fn send(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Reads bytes that arrive within `limit`. Returns 0 if none do; the end of the line is an
    /// error.
    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize>;
}

impl<L: Line + ?Sized> Line for Box<L> {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        (**self).send(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        (**self).receive(buffer, limit)
    }
}

/// Parity of a serial port.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Parity {
    /// Even, and one stop bit: the default of Modbus.
    Even,
    /// Odd, and one stop bit.
    Odd,
    /// None, and two stop bits, as Modbus wants it.
    None,
}

/// Where a device is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Port {
    /// Name of a serial port, or `tcp://host:port` for a gateway that passes RTU frames on.
    pub name: String,
    /// Bits per second of a serial port.
    pub baud: u32,
    /// Parity of a serial port.
    pub parity: Parity,
}

/// The reason why a line cannot be opened.
#[derive(Debug, Error)]
pub enum PortError {
    /// A serial port cannot be opened.
    #[error(
        "{port}: {reason}; check the name and the cable, that no other program has the port, and \
         that you may use it (on Linux: be in the group dialout)"
    )]
    Serial {
        /// The port.
        port: String,
        /// The reason.
        reason: serialport::Error,
    },
    /// A gateway cannot be reached.
    #[error(
        "{port}: {reason}; a gateway is written as tcp://HOST:PORT, and has to pass RTU frames on \
         unchanged (Modbus TCP is not supported)"
    )]
    Tcp {
        /// The port.
        port: String,
        /// The reason.
        reason: io::Error,
    },
}

impl Port {
    /// The silence between two frames: 3.5 characters of 11 bits, at least 1.75 ms.
    pub fn silence(&self) -> Duration {
        let characters = Duration::from_secs_f64(38.5 / f64::from(self.baud.max(1)));
        characters.max(SHORTEST_SILENCE)
    }

    /// Opens the line.
    pub fn open(&self) -> Result<Box<dyn Line>, PortError> {
        if let Some(address) = self.name.strip_prefix(TCP) {
            let failed = |reason| PortError::Tcp { port: self.name.clone(), reason };
            return Ok(Box::new(connect(address).map_err(failed)?));
        }
        let failed = |reason| PortError::Serial { port: self.name.clone(), reason };
        Ok(Box::new(Serial(self.serial().map_err(failed)?)))
    }

    fn serial(&self) -> serialport::Result<Box<dyn SerialPort>> {
        let (parity, stop_bits) = match self.parity {
            Parity::Even => (serialport::Parity::Even, StopBits::One),
            Parity::Odd => (serialport::Parity::Odd, StopBits::One),
            Parity::None => (serialport::Parity::None, StopBits::Two),
        };
        let plain = serialport::new(&self.name, self.baud).timeout(CONNECT);
        let builder = plain.clone().data_bits(DataBits::Eight).parity(parity).stop_bits(stop_bits);
        // A pseudo-terminal has no parity and refuses it on some systems.
        builder.open().or_else(|reason| plain.open().map_err(|_| reason))
    }
}

fn connect(address: &str) -> io::Result<TcpStream> {
    let mut last = io::Error::new(io::ErrorKind::NotFound, "no such host");
    for address in address.to_socket_addrs()? {
        match TcpStream::connect_timeout(&address, CONNECT) {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                stream.set_write_timeout(Some(CONNECT))?;
                return Ok(stream);
            }
            Err(error) => last = error,
        }
    }
    Err(last)
}

/// Turns *nothing came in time* into no bytes, and the end of the line into an error.
fn received(result: io::Result<usize>) -> io::Result<usize> {
    use io::ErrorKind::{Interrupted, TimedOut, UnexpectedEof, WouldBlock};
    match result {
        Ok(0) => Err(io::Error::new(UnexpectedEof, "the other end closed the line")),
        Err(error) if matches!(error.kind(), TimedOut | WouldBlock | Interrupted) => Ok(0),
        other => other,
    }
}

impl Line for TcpStream {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        self.set_read_timeout(Some(limit.max(SHORTEST)))?;
        received(self.read(buffer))
    }
}

/// A serial port.
struct Serial(Box<dyn SerialPort>);

impl Line for Serial {
    fn send(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.0.set_timeout(CONNECT)?;
        self.0.write_all(bytes)?;
        self.0.flush()
    }

    fn receive(&mut self, buffer: &mut [u8], limit: Duration) -> io::Result<usize> {
        self.0.set_timeout(limit.max(SHORTEST))?;
        received(self.0.read(buffer))
    }
}

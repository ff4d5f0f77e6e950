//! Options for a device on a bus.

use std::time::Duration;

use anyhow::Result;
use clap::{Args, ValueEnum};
use rebearing_host::device::modbus::{Client, Line, Parity, Patience, Port};

/// Parity of a serial port.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
enum ParityName {
    Even,
    Odd,
    None,
}

/// Where a device is on its bus.
#[derive(Debug, Clone, Args)]
#[command(next_help_heading = "The bus")]
pub(crate) struct BusArgs {
    /// Serial port, such as /dev/ttyUSB0 or COM3; or tcp://HOST:PORT for a gateway that passes RTU
    /// frames on.
    #[arg(long, value_name = "PORT")]
    port: String,
    /// Number of the device on the bus.
    #[arg(long, value_name = "N", default_value_t = 1, value_parser = clap::value_parser!(u8).range(1..=247))]
    unit: u8,
    /// Bits per second of the serial port.
    #[arg(long, value_name = "N", default_value_t = 19_200,
          value_parser = clap::value_parser!(u32).range(1..))]
    baud: u32,
    /// Parity of the serial port. Without parity there are two stop bits.
    #[arg(long, value_name = "PARITY", default_value = "even")]
    parity: ParityName,
    /// Seconds to wait for an answer. A gateway or a radio may need more.
    #[arg(long, value_name = "SECONDS", default_value_t = 1.0, value_parser = seconds)]
    timeout: f64,
}

impl BusArgs {
    /// Opens the line to the device.
    pub(crate) fn connect(&self) -> Result<Client<Box<dyn Line>>> {
        let parity = match self.parity {
            ParityName::Even => Parity::Even,
            ParityName::Odd => Parity::Odd,
            ParityName::None => Parity::None,
        };
        let port = Port { name: self.port.clone(), baud: self.baud, parity };
        let mut patience = Patience::with_silence(port.silence());
        patience.answer = Duration::from_secs_f64(self.timeout);
        patience.work = patience.work.max(patience.answer);
        Ok(Client::new(port.open()?, self.unit, patience))
    }

    /// The port's name.
    pub(crate) fn port(&self) -> &str {
        &self.port
    }

    /// The device's number.
    pub(crate) fn unit(&self) -> u8 {
        self.unit
    }
}

/// Reads a number of seconds above zero.
pub(crate) fn seconds(text: &str) -> Result<f64, String> {
    let seconds = text.parse().ok().filter(|seconds| (0.01..=86_400.0).contains(seconds));
    seconds.ok_or_else(|| "a time is 0.01 to 86400 seconds".into())
}

#[cfg(test)]
mod tests {
    use super::seconds;

    #[test]
    fn a_time_is_above_zero_and_at_most_a_day() {
        assert_eq!(seconds("0.5"), Ok(0.5));
        for wrong in ["0", "-1", "nan", "inf", "1e9", "soon"] {
            assert!(seconds(wrong).is_err(), "{wrong}");
        }
    }
}

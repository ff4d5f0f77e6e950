//! The command register, and the key that guards it.

/// Address of the key. Key and command are written together, in one request.
pub const KEY_ADDRESS: u16 = 1000;
/// Address of the command.
pub const COMMAND_ADDRESS: u16 = KEY_ADDRESS + 1;
/// The key: `RB` in ASCII. It keeps out accidents, not people.
pub const KEY: u16 = 0x5242;

/// A number in the command register.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
#[repr(u16)]
pub enum Command {
    /// Begin to receive the model whose envelope was written to file 1, or go on with it.
    Begin = 1,
    /// Verify what was received; the model is for the next start.
    Finish = 2,
    /// Forget what was received.
    Abandon = 3,
    /// Confirm the model that is on trial.
    Confirm = 4,
    /// Reject the model that is on trial.
    Reject = 5,
    /// Acknowledge the alarm.
    Acknowledge = 6,
    /// Restart the device, after the answer was sent.
    Restart = 7,
}

impl Command {
    /// All commands, in the order of their numbers.
    pub const ALL: [Self; 7] = [
        Self::Begin,
        Self::Finish,
        Self::Abandon,
        Self::Confirm,
        Self::Reject,
        Self::Acknowledge,
        Self::Restart,
    ];

    /// The number in the register.
    pub fn code(self) -> u16 {
        self as u16
    }

    /// The command with this number.
    pub fn from_code(code: u16) -> Option<Self> {
        Self::ALL.into_iter().find(|command| command.code() == code)
    }

    /// The command in one word, as command line, JSON and docs have it.
    pub fn name(self) -> &'static str {
        match self {
            Self::Begin => "begin",
            Self::Finish => "finish",
            Self::Abandon => "abandon",
            Self::Confirm => "confirm",
            Self::Reject => "reject",
            Self::Acknowledge => "acknowledge",
            Self::Restart => "restart",
        }
    }
}

/// A request of the bus to the application.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(feature = "defmt", derive(defmt::Format))]
pub enum Request {
    /// Acknowledge the alarm: [`Alarm::acknowledge`](crate::Alarm::acknowledge).
    Acknowledge,
    /// Restart, after the answer has left the UART.
    Restart,
}

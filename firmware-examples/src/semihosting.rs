//! Command line, files, output and exit code, through the emulator or debugger that runs the
//! firmware.
//!
//! `cortex-m-semihosting` has the bare calls, but neither files nor the command line. Each call
//! here moves a whole block, because every exchange with the host stops the machine.

use cortex_m_semihosting::{debug, nr, syscall, syscall1};

/// Longest command line, including its terminating zero.
pub const COMMAND_LINE: usize = 4096;

/// The words after QEMU's `arg=`, separated by blanks and followed by a zero.
///
/// `None` if there is no command line or it is too long.
pub fn command_line(buffer: &mut [u8]) -> Option<&[u8]> {
    let mut block = [buffer.as_mut_ptr().expose_provenance(), buffer.len()];
    // SAFETY: the block holds the address and length of a buffer that only we hold, and the host
    // writes the length of the text back into the block.
    let status = unsafe { syscall1!(GET_CMDLINE, (&raw mut block).expose_provenance()) };
    let [_, length] = block;
    // Includes the zero after the text, because a file name needs it.
    if status == 0 { buffer.get(..length + 1) } else { None }
}

/// A file of the host, open for reading.
pub struct File(isize);

impl File {
    /// Opens the file with this name, which must end with a zero; `None` if the host cannot.
    pub fn open(name: &[u8]) -> Option<Self> {
        open(name, nr::open::R_BINARY).map(Self)
    }

    /// Fills the front of `buffer` and returns that part; empty at the end of the file.
    pub fn read<'b>(&self, buffer: &'b mut [u8]) -> Option<&'b [u8]> {
        let address = buffer.as_mut_ptr().expose_provenance();
        // SAFETY: the block is a file handle and a buffer that only we hold.
        let left = unsafe { syscall!(READ, self.0, address, buffer.len()) };
        // The host returns the number of bytes that it did not fill.
        buffer.get(..buffer.len().checked_sub(left)?)
    }
}

/// The host's console.
pub struct Console(isize);

impl Console {
    /// Opens the console; `None` if the host has none.
    pub fn open() -> Option<Self> {
        open(b":tt\0", nr::open::W_TRUNC).map(Self)
    }

    /// Writes all of `text` in one exchange.
    pub fn write(&self, text: &[u8]) {
        // SAFETY: the block is a file handle and a buffer that the host only reads. If the console
        // does not accept the text, there is nobody to tell, so the result is ignored.
        unsafe { syscall!(WRITE, self.0, text.as_ptr().expose_provenance(), text.len()) };
    }
}

/// Ends the emulation with exit code 0, or 1 after a failure.
pub fn exit(status: Result<(), ()>) -> ! {
    loop {
        debug::exit(status);
    }
}

fn open(name: &[u8], mode: usize) -> Option<isize> {
    // The host reads up to the zero, but expects the length without it.
    let (&0, text) = name.split_last()? else {
        return None;
    };
    // SAFETY: the block is a text ended by a zero, a mode and the length of the text.
    let handle = unsafe { syscall!(OPEN, text.as_ptr().expose_provenance(), mode, text.len()) };
    (handle.cast_signed() >= 0).then_some(handle.cast_signed())
}

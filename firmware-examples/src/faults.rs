//! Fault handlers of a firmware in QEMU: they print a message and fail.

/// Handlers for `HardFault` and for unexpected interrupts.
///
/// A macro, because only binaries with semihosting may have them. Without a debugger, the
/// breakpoint of semihosting is itself a fault.
#[macro_export]
macro_rules! semihosting_faults {
    () => {
        #[cortex_m_rt::exception]
        unsafe fn HardFault(frame: &cortex_m_rt::ExceptionFrame) -> ! {
            if let Some(console) = $crate::semihosting::Console::open() {
                let mut line = $crate::line::Line::new(&console);
                line.text("error: HardFault at ").hexadecimal(frame.pc()).end();
            }
            $crate::semihosting::exit(Err(()))
        }

        #[cortex_m_rt::exception]
        unsafe fn DefaultHandler(interrupt: i16) {
            if let Some(console) = $crate::semihosting::Console::open() {
                let number = usize::from(interrupt.unsigned_abs());
                let mut line = $crate::line::Line::new(&console);
                line.text("error: unexpected interrupt ").decimal(number).end();
            }
            $crate::semihosting::exit(Err(()))
        }
    };
}

//! What a firmware in QEMU does when the processor stops short: says so, and fails.

/// Handlers for `HardFault` and for interrupts that nobody asked for.
///
/// A macro, because only binaries that have semihosting may have them: without a debugger the
/// breakpoint of semihosting is a fault itself.
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

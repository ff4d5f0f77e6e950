//! Proves by linking that the device crate cannot panic. `panic-never` refers to a symbol that does
//! not exist, so this links only if the compiler removed every branch that leads to a panic.
//!
//! It calls the whole public API with inputs that the compiler knows nothing about, including
//! lengths. Not covered: `Debug`, which is for the host (`core` formats floats with assertions),
//! `defmt`, and `Descriptor::new`, which has assertions for the compiler. Nobody runs this binary;
//! `cargo xtask test panic` links it for every target.

#![no_std]
#![no_main]

mod acquisition;
mod bus;
mod float;
mod integer;
mod monitor;
mod operation;
mod segment;
mod unknown;
mod update;

use cortex_m_rt::entry;
use panic_never as _;

#[entry]
fn main() -> ! {
    loop {
        float::models();
        float::stages();
        integer::models();
        integer::stages();
        segment::all();
        operation::all();
        update::all();
        bus::all();
    }
}

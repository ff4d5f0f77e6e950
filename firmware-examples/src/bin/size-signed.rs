//! For its flash and RAM: a Modbus server and a store that takes signed models only.

#![no_std]
#![no_main]

use cortex_m_rt::entry;
use firmware_examples::sizes::{Room, Stored, stop};
use rebearing_verify::{Ed25519Keys, PublicKey};

/// The key of test 1 in RFC 8032.
const KEYS: Ed25519Keys = Ed25519Keys::one(PublicKey::from_hex(
    "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a",
));

#[entry]
fn main() -> ! {
    static mut ROOM: Room<Stored<Ed25519Keys>> = Room::new();
    match Stored::new(KEYS) {
        Some(store) => ROOM.run(store),
        None => stop(),
    }
}

firmware_examples::panics_stop!();

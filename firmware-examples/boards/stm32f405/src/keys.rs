//! The key whose models the board takes, and the number that its chip was made with.

use rebearing::update::DeviceId;
use rebearing_verify::{Ed25519Keys, PublicKey, public_key};
use stm32f4xx_hal::signature::Uid;

/// The file that `REBEARING_KEY` named when this was built. Without one it is a key that nobody has:
/// such a board takes no model.
const KEY: PublicKey = public_key!(concat!(env!("OUT_DIR"), "/key.pub"));

/// The board's keys.
pub const KEYS: Ed25519Keys = Ed25519Keys::one(KEY);

/// The chip's number: 12 bytes, and four of zero.
pub fn device_id() -> DeviceId {
    let uid = Uid::get();
    let mut id = DeviceId::ANY;
    let lot = uid.lot_num().bytes();
    let places = [uid.x().to_le_bytes(), uid.y().to_le_bytes()];
    let number = places.into_iter().flatten().chain([uid.waf_num()]).chain(lot);
    for (place, byte) in id.0.iter_mut().zip(number) {
        *place = byte;
    }
    id
}

//! The Modbus server: every function with right and wrong requests, updates, and hostile bytes.

mod functions;
mod hostile;
mod map;
mod plant;
#[path = "../common/receiver.rs"]
mod receiver;
mod update;

//! Each stage of the device alone, against a naive reference: signal, features, classify, integer.

mod blocks;
mod classify;
#[path = "../common/mod.rs"]
mod common;
mod early_drop;
mod integer;
mod reference;
mod spectrum;

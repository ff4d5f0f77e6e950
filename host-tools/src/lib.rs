//! Host side of rebearing: recordings to features, mixtures, optimal transport, one model file.
pub mod adapt;
pub mod manifest;
pub mod mixture;
pub mod output;
pub mod recording;
pub mod split;
pub mod transport;

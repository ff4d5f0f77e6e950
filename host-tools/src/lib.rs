//! Host side of rebearing: recordings to features, mixtures, optimal transport, one model file.
pub mod adapt;
pub mod mixture;
pub mod transport;

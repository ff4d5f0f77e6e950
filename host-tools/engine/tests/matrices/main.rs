//! Methods on plain matrices: checks with the place, scales and units, maps, and saved mixtures.

mod checks;
mod clouds;
mod saved;
mod transfers;

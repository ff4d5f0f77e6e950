//! Plans and baselines: against other programs, and what every plan must satisfy.

mod baselines;
mod golden;
mod problems;
mod properties;

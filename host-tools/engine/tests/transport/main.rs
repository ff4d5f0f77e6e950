//! Plans and baselines: checked against other programs, and for the properties of every plan.

mod baselines;
mod golden;
mod problems;
mod properties;
mod settings;

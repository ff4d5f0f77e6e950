//! The compiled half of the Python package `rebearing`: the module `rebearing._rebearing`.
//!
//! ```text
//! python/rebearing/*.py   estimators and checks of their input, in numpy's terms
//!   └─► _rebearing        this crate: arrays in, arrays out, no state but libraries and monitors
//!         └─► work::run   threads of its own, signals, progress, panics
//!               └─► rebearing_host
//! ```
//!
//! | module | gives |
//! |---|---|
//! | `work` | runs the engine away from the interpreter |
//! | `error` | the engine's errors as Python exceptions |
//! | `arrays` | numpy arrays as views |
//! | `tables` | Arrow tables as arrays |
//! | `mixture` | Gaussian mixtures |
//! | `transport` | plans, and the maps along them |
//! | `methods` | classifiers for a target |
//! | `features` | the device's front end |
//! | `library` | known machines |
//! | `adapter` | the verdict on a new machine, and its model |
//! | `monitor` | the device's code on arrays |
//! | `command` | the command line |
#![allow(
    clippy::needless_pass_by_value,
    reason = "arguments from Python come by value; they are counted references and views"
)]

mod adapter;
mod arrays;
mod command;
mod error;
mod features;
mod library;
mod methods;
mod mixture;
mod monitor;
mod tables;
mod transport;
mod work;

use pyo3::prelude::*;

#[pymodule]
mod _rebearing {
    #[pymodule_export]
    use crate::adapter::{adapt_features, adapt_manifest, adapt_recordings, label_features};
    #[pymodule_export]
    use crate::command::command;
    #[pymodule_export]
    use crate::error::RebearingError;
    #[pymodule_export]
    use crate::features::FrontEnd;
    #[pymodule_export]
    use crate::library::Library;
    #[pymodule_export]
    use crate::methods::{method_fit, method_names, method_predict};
    #[pymodule_export]
    use crate::mixture::{mixture_evaluate, mixture_fit};
    #[pymodule_export]
    use crate::monitor::MonitorCore;
    #[pymodule_export]
    use crate::tables::table;
    #[pymodule_export]
    use crate::transport::{map_mean, map_random, map_weight, plan_between, solve_plan};

    #[pymodule_export]
    const VERSION: &str = env!("CARGO_PKG_VERSION");
}

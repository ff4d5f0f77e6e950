//! Runs a model file of either encoding on its monitor.

use rebearing::monitor::Samples;

use crate::data::counts::counts;
use crate::data::recording::Recording;
use crate::device::{self, DeviceFinding, RunError};
use crate::model::deployed::DeployedModel;

impl DeployedModel {
    /// Returns the type of the model's smallest monitor, as a firmware writes it, and its RAM in
    /// bytes. For an f32 model this is the monitor of f32 samples.
    pub fn monitor(&self) -> (String, usize) {
        let capacities = match self {
            Self::F32(bytes) => device::smallest(&bytes.model(), Samples::Floats),
            Self::I16(bytes) => device::smallest(&bytes.model(), Samples::Counts),
        };
        (device::type_name(&capacities), capacities.device_ram())
    }

    /// Runs the model's monitor over a recording, as the device would.
    pub fn run(&self, recording: &Recording) -> Result<Vec<DeviceFinding>, RunError> {
        self.run_sending(recording, &mut Vec::new())
    }

    /// As [`run`](Self::run), and appends the records of a snapshot to `sent`.
    pub fn run_sending(
        &self,
        recording: &Recording,
        sent: &mut Vec<u8>,
    ) -> Result<Vec<DeviceFinding>, RunError> {
        match self {
            Self::F32(bytes) => device::run_sending(bytes.model(), recording, sent),
            Self::I16(bytes) => {
                let model = bytes.model();
                let counts = counts(recording, model.counts_per_unit())?;
                device::run_integer_sending(&model, &counts, sent)
            }
        }
    }
}

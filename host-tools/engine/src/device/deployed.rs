//! A model file of either encoding on its monitor.

use crate::data::counts::counts;
use crate::data::recording::Recording;
use crate::device::{self, DeviceReport, MonitorType, RunError};
use crate::model::deployed::DeployedModel;

impl DeployedModel {
    /// The smallest monitor for it, as a firmware writes it, and its RAM; for an f32 model that
    /// of f32 samples.
    pub fn monitor(&self) -> (String, usize) {
        match self {
            Self::F32(bytes) => {
                let monitor = MonitorType::of(&bytes.model());
                (monitor.name("f32"), monitor.ram(4))
            }
            Self::I16(bytes) => {
                let monitor = MonitorType::of_integer(&bytes.model());
                (monitor.integer_name(), monitor.integer_ram())
            }
        }
    }

    /// Runs the monitor of its encoding over a recording, as the device would.
    pub fn run(&self, recording: &Recording) -> Result<Vec<DeviceReport>, RunError> {
        self.run_sending(recording, &mut Vec::new())
    }

    /// As [`run`](Self::run), with the records of a snapshot put behind `sent`.
    pub fn run_sending(
        &self,
        recording: &Recording,
        sent: &mut Vec<u8>,
    ) -> Result<Vec<DeviceReport>, RunError> {
        match self {
            Self::F32(bytes) => Ok(device::run_sending(bytes.model(), recording, sent)?),
            Self::I16(bytes) => {
                let model = bytes.model();
                let counts = counts(recording, model.counts_per_unit())?;
                Ok(device::run_integer_sending(&model, &counts, sent)?)
            }
        }
    }
}

//! The device's monitor on numpy arrays.

use std::sync::{Mutex, PoisonError};

use numpy::PyReadonlyArray1;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use rebearing::model::ONE;
use rebearing::operation::AlarmState;
use rebearing::operation::alarm::Raised;
use rebearing::{Encoding, Label};
use rebearing_host::device::{DeviceFinding, LiveMonitor};
use rebearing_host::model::deployed::{ClassNames as _, DeployedModel};

use crate::error::Failed;
use crate::work::guarded;

/// Number of samples between two looks at signals.
const PIECE: usize = 1 << 16;

/// The device's code, running a model file.
#[pyclass(frozen, module = "rebearing._rebearing")]
pub(crate) struct MonitorCore {
    monitor: Mutex<LiveMonitor>,
    model: DeployedModel,
}

/// Samples as an array has them.
#[derive(FromPyObject)]
enum Samples<'py> {
    #[pyo3(transparent, annotation = "float32 vector")]
    Floats(PyReadonlyArray1<'py, f32>),
    #[pyo3(transparent, annotation = "int16 vector")]
    Counts(PyReadonlyArray1<'py, i16>),
}

#[pymethods]
impl MonitorCore {
    #[new]
    fn new(bytes: &[u8]) -> PyResult<Self> {
        guarded(|| {
            let model = DeployedModel::from_bytes(bytes).map_err(Failed::from)?;
            let monitor = LiveMonitor::new(model.clone()).map_err(Failed::from)?;
            Ok(Self { monitor: Mutex::new(monitor), model })
        })
    }

    #[getter]
    fn encoding(&self) -> &'static str {
        self.model.encoding().name()
    }

    #[getter]
    fn integers(&self) -> bool {
        self.model.encoding() == Encoding::I16
    }

    #[getter]
    fn axes(&self) -> usize {
        self.model.front_end().axes
    }

    #[getter]
    fn rate(&self) -> f64 {
        f64::from(self.model.front_end().rate_hz)
    }

    #[getter]
    fn window_len(&self) -> usize {
        self.model.front_end().window_len()
    }

    #[getter]
    fn classes(&self) -> Vec<String> {
        let name = |class| self.model.class_name(class).unwrap_or("?").to_owned();
        (0..self.model.classes()).map(name).collect()
    }

    /// The bytes of the model file.
    #[getter]
    fn model<'py>(&self, py: Python<'py>) -> Bound<'py, PyBytes> {
        PyBytes::new(py, self.model.bytes())
    }

    /// Takes interleaved samples. Returns a dict for each window that they complete.
    fn push<'py>(
        &self,
        py: Python<'py>,
        samples: Samples<'py>,
    ) -> PyResult<Vec<Bound<'py, PyDict>>> {
        let piece = PIECE - PIECE % self.axes().max(1);
        let mut found = Vec::new();
        match &samples {
            Samples::Floats(samples) => {
                let samples = samples.as_slice()?;
                for piece in samples.chunks(piece) {
                    found.extend(self.take(py, |monitor| monitor.push(piece))?);
                }
            }
            Samples::Counts(samples) => {
                let samples = samples.as_slice()?;
                for piece in samples.chunks(piece) {
                    found.extend(self.take(py, |monitor| monitor.push_counts(piece))?);
                }
            }
        }
        found.iter().map(|finding| self.to_dict(py, finding)).collect()
    }

    /// Forgets the samples of the window under way.
    fn clear(&self, py: Python<'_>) -> PyResult<()> {
        self.take(py, |monitor| {
            monitor.clear();
            Ok::<_, Failed>(())
        })
    }

    /// Sets the shaft speed in turns per second.
    fn set_shaft_speed(&self, py: Python<'_>, hz: f32) -> PyResult<()> {
        self.take(py, |monitor| monitor.set_shaft_speed(hz))
    }
}

impl MonitorCore {
    /// Calls `take` with the monitor, outside of the interpreter's lock.
    fn take<R: Send, E: Into<Failed> + Send>(
        &self,
        py: Python<'_>,
        take: impl FnOnce(&mut LiveMonitor) -> Result<R, E> + Send,
    ) -> PyResult<R> {
        py.check_signals()?;
        guarded(|| {
            let taken = py.detach(|| {
                // A panic leaves the monitor in a state that `clear` repairs.
                take(&mut self.monitor.lock().unwrap_or_else(PoisonError::into_inner))
            });
            taken.map_err(|error| error.into().into())
        })
    }

    fn word(&self, label: Label) -> String {
        match label {
            Label::Class(class) => self.model.class_name(class).unwrap_or("?").to_owned(),
            Label::Unknown => "unknown".into(),
            Label::UnknownFault => "unknown_fault".into(),
        }
    }

    fn to_dict<'py>(
        &self,
        py: Python<'py>,
        finding: &DeviceFinding,
    ) -> PyResult<Bound<'py, PyDict>> {
        let out = PyDict::new(py);
        out.set_item("window", finding.index)?;
        match &finding.result {
            Ok(found) => {
                out.set_item("label", self.word(found.label))?;
                out.set_item("posterior", &found.posterior)?;
                out.set_item("log_likelihood", found.log_likelihood)?;
                out.set_item("gate_log_likelihood", found.gate_log_likelihood)?;
                out.set_item(
                    "rms",
                    found.statistics.iter().map(|axis| axis.rms).collect::<Vec<_>>(),
                )?;
                let kurtosis = found.statistics.iter().map(|axis| axis.kurtosis);
                out.set_item("kurtosis", kurtosis.collect::<Vec<_>>())?;
                out.set_item(
                    "crest",
                    found.statistics.iter().map(|axis| axis.crest).collect::<Vec<_>>(),
                )?;
                let severity = found.severity.as_ref();
                out.set_item("velocity", severity.map(|severity| severity.velocity.clone()))?;
                out.set_item("zone", severity.map(|severity| severity.zone.name()))?;
            }
            Err(fault) => {
                out.set_item("label", "sensor_fault")?;
                out.set_item("sensor_fault", fault.name())?;
            }
        }
        if let Some(AlarmState { state, level, alarm, .. }) = &finding.alarm {
            out.set_item("state", state.name())?;
            out.set_item("level", level.map(|level| f64::from(level) / f64::from(ONE)))?;
            let alarm = alarm.map(|Raised { label, active, .. }| (self.word(label), active));
            out.set_item("alarm", alarm)?;
        }
        Ok(out)
    }
}

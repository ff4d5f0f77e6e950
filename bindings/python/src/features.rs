//! The device's own front end: samples in, features out.

use ndarray::Axis;
use numpy::{IntoPyArray as _, PyArray2, PyReadonlyArray2};
use pyo3::prelude::*;
use rebearing_host::data::recording::Recording;
use rebearing_host::data::split;
use rebearing_host::features::bands::Bands;
use rebearing_host::features::dense::{extract_dense, stride_for};
use rebearing_host::features::front_end::{Blocks, EqualBands, FrontEndSettings};

use crate::error::{Failed, refuse};
use crate::work::run;

/// Settings of a front end, which every estimator of features holds.
#[pyclass(frozen, from_py_object, module = "rebearing._rebearing")]
#[derive(Clone)]
pub(crate) struct FrontEnd(pub(crate) FrontEndSettings);

#[pymethods]
impl FrontEnd {
    #[new]
    #[pyo3(signature = (rate, axes, fft_len, hop, segments, bands, blocks))]
    #[allow(clippy::too_many_arguments, reason = "each is a keyword of Python's estimator")]
    fn new(
        rate: f64,
        axes: usize,
        fft_len: usize,
        hop: usize,
        segments: usize,
        bands: &str,
        blocks: &str,
    ) -> PyResult<Self> {
        if !(rate.is_finite() && rate > 0.0) {
            return refuse(format!("`rate` is {rate}; it must be a number of Hz above 0"));
        }
        if !(1..=3).contains(&axes) {
            return refuse(format!("`axes` is {axes}; it must be 1, 2 or 3"));
        }
        Ok(Self(front_end(rate, axes, fft_len, hop, segments, bands, blocks)?))
    }

    /// Number of samples of each axis in a window.
    #[getter]
    fn window_len(&self) -> usize {
        self.0.window_len()
    }

    /// Number of features.
    #[getter]
    fn dims(&self) -> usize {
        self.0.dims()
    }

    #[getter]
    fn rate(&self) -> f64 {
        self.0.rate_hz
    }

    #[getter]
    fn axes(&self) -> usize {
        self.0.axes
    }

    #[getter]
    fn hop(&self) -> usize {
        self.0.hop
    }

    /// The names of the features, in their order.
    fn names(&self) -> Vec<String> {
        names(&self.0)
    }

    /// The features of each recording's windows, one after the other, and the number of windows of
    /// each. `stride` is the number of samples from one window to the next; the hop if `None`, and
    /// what a fit takes if 0.
    #[pyo3(signature = (recordings, rpm, stride, progress))]
    #[allow(clippy::type_complexity, reason = "Python unpacks it at once")]
    fn windows<'py>(
        &self,
        py: Python<'py>,
        recordings: Vec<PyReadonlyArray2<'py, f32>>,
        rpm: Option<Vec<f64>>,
        stride: Option<usize>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<(Bound<'py, PyArray2<f32>>, Vec<usize>, usize)> {
        let recordings = in_memory(&recordings, rpm)?;
        let front_end = &self.0;
        let features = run(py, progress, || {
            let frames: Vec<Vec<usize>> =
                recordings.iter().map(Recording::stretch_frames).collect();
            let parts = split::whole(&frames);
            let stride = match stride {
                None => front_end.hop,
                Some(0) => stride_for(&parts, front_end),
                Some(stride) => stride,
            };
            extract_dense(&recordings, &parts, front_end, stride)
        })?;
        Ok((features.x.into_pyarray(py), features.recording, features.stride))
    }

    /// The features of each row, a window of samples: n × frames × axes, flattened to n × m.
    #[pyo3(signature = (windows, rpm, progress))]
    fn rows<'py>(
        &self,
        py: Python<'py>,
        windows: PyReadonlyArray2<'py, f32>,
        rpm: Option<f64>,
        progress: Option<Py<PyAny>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let windows = windows.as_array();
        let front_end = &self.0;
        let features = run(py, progress, || {
            let recordings: Vec<Recording> = windows
                .axis_iter(Axis(0))
                .enumerate()
                .map(|(row, window)| {
                    let name = format!("row {row}");
                    let mut one = Recording::in_memory(name, front_end.axes, vec![window.to_vec()]);
                    one.rpm = rpm;
                    one
                })
                .collect();
            let frames: Vec<Vec<usize>> =
                recordings.iter().map(Recording::stretch_frames).collect();
            extract_dense(&recordings, &split::whole(&frames), front_end, front_end.hop)
        })?;
        Ok(features.x.into_pyarray(py))
    }

    /// The settings as JSON, for a copy.
    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (String,))> {
        let json = serde_json::to_string(&self.0).map_err(Failed::from)?;
        Ok((py.get_type::<Self>().getattr("from_json")?, (json,)))
    }

    #[staticmethod]
    fn from_json(text: &str) -> PyResult<Self> {
        Ok(Self(serde_json::from_str(text).map_err(Failed::from)?))
    }

    fn __eq__(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// A front end from its settings, as the command line takes them.
pub(crate) fn front_end(
    rate_hz: f64,
    axes: usize,
    fft_len: usize,
    hop: usize,
    segments: usize,
    bands: &str,
    blocks: &str,
) -> Result<FrontEndSettings, Failed> {
    let bands: Bands = bands.parse()?;
    let blocks: Blocks = blocks.parse()?;
    let equal = EqualBands { rate_hz, axes, fft_len, hop, segments, bands: bands.number };
    Ok(FrontEndSettings::equal_bands(equal)?.spaced(bands.spacing).with_blocks(blocks)?)
}

/// Arrays of frames × axes as recordings.
pub(crate) fn in_memory(
    arrays: &[PyReadonlyArray2<'_, f32>],
    rpm: Option<Vec<f64>>,
) -> PyResult<Vec<Recording>> {
    if let Some(rpm) = &rpm
        && rpm.len() != arrays.len()
    {
        return refuse(format!("`rpm` has {} speeds for {} recordings", rpm.len(), arrays.len()));
    }
    let mut recordings = Vec::with_capacity(arrays.len());
    for (index, array) in arrays.iter().enumerate() {
        let samples = array.as_array();
        if samples.is_empty() {
            return refuse(format!("recording {index} has no sample"));
        }
        let (name, axes) = (format!("recording {index}"), samples.ncols());
        let samples: Vec<f32> = samples.iter().copied().collect();
        let mut recording = Recording::in_memory(name, axes, vec![samples]);
        recording.rpm = rpm.as_ref().map(|rpm| rpm[index]);
        recordings.push(recording);
    }
    Ok(recordings)
}

/// The names of the features: axis by axis, bands, then bands of shaft orders.
fn names(front_end: &FrontEndSettings) -> Vec<String> {
    let hz = |bin: u32| f64::from(bin) * front_end.bin_hz();
    let mut own: Vec<String> = front_end
        .band_edges
        .windows(2)
        .map(|edges| format!("band_{:.0}_{:.0}hz", hz(edges[0]), hz(edges[1])))
        .collect();
    if let Some(orders) = front_end.orders {
        let edge = |band: usize| orders.first + band as f32 * orders.width;
        for (used, what) in [(orders.spectrum, "order"), (orders.envelope, "envelope_order")] {
            let bands = if used { orders.bands } else { 0 };
            own.extend((0..bands).map(|i| format!("{what}_{}_{}", edge(i), edge(i + 1))));
        }
    }
    if front_end.axes == 1 {
        return own;
    }
    let axes = ["x", "y", "z"].into_iter().take(front_end.axes);
    axes.flat_map(|axis| own.iter().map(move |name| format!("{axis}_{name}"))).collect()
}

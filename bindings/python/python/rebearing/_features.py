"""The device's own front end as a transformer."""

import numpy as np

from . import _rebearing
from ._base import BaseEstimator, TransformerMixin


class SpectralFeatures(TransformerMixin, BaseEstimator):
    """Features of vibration samples, computed by the device's own code, bit for bit.

    A window is ``segments`` FFTs of ``fft_len`` samples, each ``hop`` samples after the last. The
    powers in bands are averaged over the window, the logarithm is taken, and the mean of the
    logarithms is removed.

    Parameters
    ----------
    rate : float
        Samples per second.
    axes : int, default=1
        Axes of the sensor, 1 to 3.
    fft_len : int, default=2048
        Points of the FFT: 256, 512, 1024, 2048 or 4096.
    hop : int, default=None
        Samples from one segment to the next; half of ``fft_len`` if None.
    segments : int, default=2
        Segments in a window.
    bands : int or str, default=32
        Number of equal bands, or ``"mel:64"`` for 64 mel-like ones.
    blocks : str, default="bands"
        Blocks of features: ``"bands"``, and with a shaft speed ``"bands,orders"`` or
        ``"bands,orders,envelope"``.
    rpm : float, default=None
        Shaft speed in turns per minute, if the blocks need it.

    Examples
    --------
    >>> import numpy as np
    >>> from rebearing import SpectralFeatures
    >>> features = SpectralFeatures(rate=12000)
    >>> samples = np.random.default_rng(0).normal(size=12000)
    >>> features.windows(samples).shape
    (9, 32)
    >>> features.transform(samples[: 3 * 3072].reshape(3, 3072)).shape
    (3, 32)
    """

    def __init__(
        self,
        rate,
        *,
        axes=1,
        fft_len=2048,
        hop=None,
        segments=2,
        bands=32,
        blocks="bands",
        rpm=None,
    ):
        self.rate = rate
        self.axes = axes
        self.fft_len = fft_len
        self.hop = hop
        self.segments = segments
        self.bands = bands
        self.blocks = blocks
        self.rpm = rpm

    @property
    def window_len(self):
        """Number of samples of each axis in a window."""
        return self._front_end().window_len

    def fit(self, X=None, y=None):
        """Checks the settings. There is nothing to learn."""
        self.n_features_in_ = self._front_end().window_len * self.axes
        return self

    def transform(self, X):
        """Returns the features of windows of samples, one row each.

        ``X`` has a window in each row: n × ``window_len``, or n × ``window_len`` × axes.
        """
        front_end = self._front_end()
        X = unmasked(X)
        if X.ndim == 3:
            X = X.reshape(len(X), -1) if X.shape[2] == self.axes else X
        wanted = front_end.window_len * self.axes
        if X.ndim != 2 or X.shape[1] != wanted:
            shape = f"{front_end.window_len}" + (f" × {self.axes}" if self.axes > 1 else "")
            raise _rebearing.RebearingError(
                f"windows of the shape {X.shape[1:]}; a window has {shape} samples with these "
                "settings. Use windows(recording) for a long recording"
            )
        return front_end.rows(_samples(X), None if self.rpm is None else float(self.rpm), None)

    def windows(self, recording, *, stride=None, rpm=None, progress=None):
        """Returns the features of all windows of a recording, one row each.

        ``recording`` has one sample after the other, or frames × axes. ``stride`` is the number of
        samples from one window to the next and divides the hop; the hop if None.
        """
        rpm = self.rpm if rpm is None else rpm
        rpm = None if rpm is None else [float(rpm)]
        return self._front_end().windows([self._frames(recording)], rpm, stride, progress)[0]

    def get_feature_names_out(self, input_features=None):
        """Returns the names of the features: bands in Hz, then bands of shaft orders."""
        return np.asarray(self._front_end().names(), dtype=object)

    def __sklearn_is_fitted__(self):
        return True

    def _frames(self, recording):
        return frames(recording, self.axes)

    def _front_end(self):
        hop = self.fft_len // 2 if self.hop is None else self.hop
        return _rebearing.FrontEnd(
            float(self.rate),
            int(self.axes),
            int(self.fft_len),
            int(hop),
            int(self.segments),
            str(self.bands),
            str(self.blocks),
        )


def frames(recording, axes):
    """Returns a recording as float32 frames × axes."""
    recording = unmasked(recording)
    if recording.ndim == 1 and axes == 1:
        recording = recording.reshape(-1, 1)
    if recording.ndim != 2 or recording.shape[1] != axes:
        raise _rebearing.RebearingError(
            f"a recording of the shape {recording.shape}; it must have one row for each sample and "
            f"{axes} column(s), one for each axis"
        )
    return _samples(recording)


def unmasked(recording):
    """Returns a recording as an array, and refuses masked samples."""
    if np.ma.is_masked(recording):
        sample = int(np.argwhere(np.ma.getmaskarray(recording))[0][0])
        raise _rebearing.RebearingError(f"sample {sample} of the recording is masked; cut it there")
    return np.asarray(recording)


def _samples(x):
    if x.dtype.kind not in "fiu":
        raise _rebearing.RebearingError(f"samples are {x.dtype}; they must be numbers")
    return np.ascontiguousarray(x, dtype=np.float32)

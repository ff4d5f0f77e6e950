"""The device's code on arrays."""

from dataclasses import dataclass, field

import numpy as np

from . import _rebearing
from ._features import frames, unmasked


@dataclass(frozen=True)
class Finding:
    """What the device says of one window."""

    #: Number of windows before this one.
    window: int
    #: A class, ``unknown``, ``unknown_fault`` or ``sensor_fault``.
    label: str
    #: Why the window was not analysed, if it was not.
    sensor_fault: "str | None" = None
    #: Probability of each class.
    posterior: "np.ndarray | None" = None
    #: Log-likelihood under the components that separate the classes, in nats.
    log_likelihood: "float | None" = None
    #: Log-likelihood under the gate, in nats.
    gate_log_likelihood: "float | None" = None
    #: Of each axis, in the unit of the recordings.
    rms: list = field(default_factory=list)
    kurtosis: list = field(default_factory=list)
    crest: list = field(default_factory=list)
    #: Velocity of each axis in mm/s, and its zone, if the model measures them.
    velocity: "list | None" = None
    zone: "str | None" = None
    #: State of the alarm: idle, settling, filling, running or sensor-fault.
    state: "str | None" = None
    #: Mean probability that the machine is not healthy.
    level: "float | None" = None
    #: Label of the alarm and whether it is active, if one was raised.
    alarm: "tuple | None" = None


class Monitor:
    """Runs the device's code on a model file.

    Parameters
    ----------
    model : bytes
        A model file, as ``GuardedAdapter.to_rbm`` or ``rebearing adapt`` makes it.

    Attributes
    ----------
    classes_ : list of str
    encoding_ : {'f32', 'i16'}
    axes_ : int
    rate_ : float
        Samples per second that the model is made for.

    A copy, also by pickle, starts afresh: it has the model but not the samples so far.
    """

    def __init__(self, model):
        self._core = _rebearing.MonitorCore(bytes(model))

    @property
    def classes_(self):
        return self._core.classes

    @property
    def encoding_(self):
        return self._core.encoding

    @property
    def axes_(self):
        return self._core.axes

    @property
    def rate_(self):
        return self._core.rate

    def push(self, samples):
        """Takes samples, or frames × axes, and returns a Finding for each window they complete.

        Samples are in the unit of the recordings. An i16 model also takes int16 counts as they are.
        """
        if getattr(samples, "dtype", None) == np.int16 and self._core.integers:
            axes = self.axes_
            if samples.ndim not in (1, 2) or (samples.ndim == 2 and samples.shape[1] != axes):
                raise _rebearing.RebearingError(
                    f"counts of the shape {samples.shape} for a model of {axes} axes"
                )
            flat = np.ascontiguousarray(unmasked(samples)).reshape(-1)
        else:
            flat = frames(samples, self.axes_).reshape(-1)
        return [_finding(found) for found in self._core.push(flat)]

    def clear(self):
        """Forgets the samples of the window under way, as after a gap in acquisition."""
        self._core.clear()

    def set_shaft_speed(self, rpm):
        """Sets the shaft speed in turns per minute, for models with features of shaft orders."""
        self._core.set_shaft_speed(float(rpm) / 60)

    def __reduce__(self):
        return Monitor, (self._core.model,)

    def __repr__(self):
        return f"<Monitor of an {self.encoding_} model: {', '.join(self.classes_)}>"


def _finding(found):
    if found.get("posterior") is not None:
        found["posterior"] = np.asarray(found["posterior"], dtype=np.float32)
    return Finding(**found)

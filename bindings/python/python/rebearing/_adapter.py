"""Guarded adaptation: labels for a new machine, only if they can be trusted."""

import os

import numpy as np

from . import _rebearing
from ._arrays import fitted_matrix, known_matrix, labels, matrix, seed
from ._base import BaseEstimator, ClassifierMixin, check_fitted
from ._features import frames
from ._library import Library


class GuardedAdapter(ClassifierMixin, BaseEstimator):
    """Adapts a library to a new machine, and says how far its labels can be trusted.

    The verdict is *adapt* (labels are carried over, the predicted accuracy keeps the promise),
    *keep* (a gate fitted to the machine's healthy windows, and fault types of the library) or
    *abstain* (nothing is named).

    Windows that are not named get the label ``"unknown"``, and faults of unknown type
    ``"unknown_fault"``. If the labels are numbers, they get ``unknown_`` and ``unknown_fault_``,
    which are -1 and -2 unless a label has these values.

    Parameters
    ----------
    pool_is : {'unknown', 'all', 'healthy'}, default='unknown'
        What you know about the windows: they hold every class of the library, the machine was
        healthy throughout, or nothing.
    promise : float, default=0.9
        Accuracy from which carried labels are trusted.
    force : bool, default=False
        Whether to name classes although the verdict is to abstain.
    features : SpectralFeatures, default=None
        The settings that made the features; only for ``fit(X, y, sample_domain=d)``.
    healthy : str, default=None
        Label of a healthy machine, for ``fit(X, y, sample_domain=d)``.
    n_components : int, default=2
        Components of each class.
    reg, reg_m, random_state, progress
        As for ``GMMOTDAClassifier``.
    n_init : int, default=4
        Number of starts of each EM.
    false_alarms : float, default=1
        False alarms a year that the gate aims at.
    window_every : float, default=30
        Seconds from one window to the next on the device.
    encoding : {'f32', 'i16'}, default='f32'
        Numbers of the model file. i16 needs recordings.
    full_scale : float, default=None
        Value of the largest 16-bit count of an i16 model.

    Attributes
    ----------
    verdict_ : {'adapt', 'keep', 'abstain'}
    predicted_accuracy_ : float or None
        At least this share of carried labels is right, if labels could be carried.
    reasons_, warnings_ : list of str
    forced_ : bool
        Whether classes are named although the verdict is to abstain.
    source_ : str
        The machine or machines that the labels come from.
    weights_ : dict
        The weight of each machine of the library.
    classes_ : ndarray
    n_features_in_ : int
    feature_names_in_ : ndarray
        Names of the columns, if the fit was given a table whose column names are all strings.
    """

    __metadata_request__fit = {"sample_domain": True}

    def __init__(
        self,
        pool_is="unknown",
        promise=0.9,
        *,
        force=False,
        features=None,
        healthy=None,
        n_components=2,
        reg=0.002,
        reg_m=0.8,
        n_init=4,
        random_state=0,
        false_alarms=1.0,
        window_every=30.0,
        encoding="f32",
        full_scale=None,
        progress=None,
    ):
        self.pool_is = pool_is
        self.promise = promise
        self.force = force
        self.features = features
        self.healthy = healthy
        self.n_components = n_components
        self.reg = reg
        self.reg_m = reg_m
        self.n_init = n_init
        self.random_state = random_state
        self.false_alarms = false_alarms
        self.window_every = window_every
        self.encoding = encoding
        self.full_scale = full_scale
        self.progress = progress

    def fit(self, X, y=None, *, sample_domain=None, recording=None, stride=None, name="target"):
        """Adapts to windows of a new machine.

        There are two ways to give them:

        - ``fit(library, X)``: a Library and the features of the new machine;
        - ``fit(X, y, sample_domain=d)``, as skada has it: rows with the same positive domain are a
          known machine, rows with a negative one are the new machine.

        ``recording`` is the recording of each window, for the first way. Windows of one recording
        are in the order of time, ``stride`` samples apart. The model calls the machine ``name``.
        """
        if isinstance(X, Library):
            self.library_ = X
            X = fitted_matrix(self, y)
            self._known_labels = None
        else:
            X = self._fit_library(X, y, sample_domain)
        X = np.ascontiguousarray(X, dtype=np.float32)
        front_end = self.library_._core.front_end
        recording = np.zeros(len(X), int) if recording is None else labels(recording, len(X))
        index = np.unique(recording, return_inverse=True)[1].reshape(-1)
        stride = int(stride or front_end.hop)
        core = self.library_._core
        return self._keep(
            _rebearing.adapt_features(
                core, str(name), X, index.tolist(), stride, self._settings(), self.progress
            )
        )

    def fit_recordings(self, library, recordings, *, rate, rpm=None, unit=None, name="target"):
        """Adapts to recordings of a new machine, as ``rebearing adapt`` does with the same samples.

        ``recordings`` is a list of arrays, each samples or frames × axes. ``rpm`` is the shaft
        speed of each. ``unit`` is the unit of the samples, such as ``"g"``.
        """
        axes = library._core.front_end.axes
        arrays = [frames(recording, axes) for recording in recordings]
        rpm = None if rpm is None else [float(speed) for speed in np.broadcast_to(rpm, len(arrays))]
        self._of_library(library)
        return self._keep(
            _rebearing.adapt_recordings(
                library._core,
                str(name),
                float(rate),
                arrays,
                rpm,
                unit,
                self._settings(),
                self.progress,
            )
        )

    def fit_manifest(self, library, manifest, domain):
        """Adapts to a domain of a manifest, exactly as ``rebearing adapt`` does."""
        self._of_library(library)
        return self._keep(
            _rebearing.adapt_manifest(
                library._core, os.fspath(manifest), domain, self._settings(), self.progress
            )
        )

    def predict(self, X):
        """Returns the label that the device gives each row of features."""
        index, _ = self._label(X)
        # The last two entries are for -1 and -2.
        return self._names()[np.asarray(index)]

    def predict_proba(self, X):
        """Returns the device's class posterior of each row, in the order of ``classes_``."""
        return self._label(X)[1]

    def to_rbm(self):
        """Returns the bytes of the model file, for a device or for ``Monitor``."""
        check_fitted(self, "verdict_")
        return self._model

    def _of_library(self, library):
        if not isinstance(library, Library):
            raise TypeError(f"{library!r} is not a Library")
        self.library_ = library
        self._known_labels = None
        self.n_features_in_ = library._core.front_end.dims
        if hasattr(self, "feature_names_in_"):
            del self.feature_names_in_

    def _fit_library(self, X, y, sample_domain):
        """Fits the library of the rows with positive domains, and returns the other rows."""
        if sample_domain is None:
            raise ValueError("fit needs a library: fit(library, X) or fit(X, y, sample_domain=d)")
        if self.features is None:
            raise ValueError("fit(X, y, sample_domain=d) needs features=SpectralFeatures(...)")
        X = fitted_matrix(self, X)
        y = labels(y, len(X))
        domain = labels(np.asarray(sample_domain), len(X), "sample_domain")
        known, new = domain > 0, domain < 0
        if not known.any() or not new.any():
            raise ValueError("sample_domain needs positive numbers (known) and negative ones (new)")
        self._known_labels = {str(label): label for label in np.unique(y[known])}
        self.library_ = Library.fit(
            X[known],
            y[known],
            domain[known],
            self.features,
            healthy=None if self.healthy is None else str(self.healthy),
            n_components=self.n_components,
            n_init=self.n_init,
            random_state=self.random_state,
            progress=self.progress,
        )
        return matrix(X[new])[0]

    def _keep(self, found):
        """Takes over the result of an adaptation."""
        self.verdict_ = found["verdict"]
        self.forced_ = found["forced"]
        self.predicted_accuracy_ = found["predicted_accuracy"]
        self.reasons_ = found["reasons"]
        self.warnings_ = found["warnings"]
        self.source_ = found["source"]
        self.weights_ = dict(found["weights"])
        self.n_windows_ = found["windows"]
        self._model, self._floats = found["model"], found["floats"]
        names = found["classes"]
        if self._known_labels is not None:
            names = [self._known_labels[name] for name in names]
        self.classes_ = np.asarray(names)
        self.unknown_, self.unknown_fault_ = _unnamed(self.classes_)
        return self

    def _names(self):
        unnamed = [self.unknown_fault_, self.unknown_]
        return np.concatenate([self.classes_, np.asarray(unnamed)])

    def _label(self, X):
        check_fitted(self, "verdict_")
        X = np.ascontiguousarray(known_matrix(self, X), dtype=np.float32)
        return _rebearing.label_features(self._floats, X)

    def _settings(self):
        return {
            "pool_is": str(self.pool_is),
            "promise": float(self.promise),
            "force": bool(self.force),
            "components": int(self.n_components),
            "reg": float(self.reg),
            "reg_m": np.inf if self.reg_m is None else float(self.reg_m),
            "n_init": int(self.n_init),
            "seed": seed(self.random_state),
            "false_alarms": float(self.false_alarms),
            "window_every": float(self.window_every),
            "encoding": str(self.encoding),
            "full_scale": self.full_scale,
        }


def _unnamed(classes):
    """The labels of windows without a name, and of faults of unknown type."""
    if classes.dtype.kind in "iufb":
        below = min(0, int(classes.min()))
        return below - 1, below - 2
    return "unknown", "unknown_fault"

"""Libraries of known machines."""

import os

import numpy as np

from . import _rebearing
from ._arrays import labels, matrix, seed
from ._features import SpectralFeatures


class Library:
    """Labelled machines to carry labels from, as ``rebearing fit`` makes them.

    Make one with ``Library.fit`` from features, ``Library.from_manifest`` from recordings, or
    ``Library.load`` from a file. It can be pickled.

    Attributes
    ----------
    domains_ : list of str
        The names of the machines.
    classes_ : list of str
        The labels that all machines have.
    healthy_ : str or None
        The label of a healthy machine.
    """

    def __init__(self, core):
        if not isinstance(core, _rebearing.Library):
            raise TypeError("make a library with Library.fit, from_manifest or load")
        self._core = core

    @classmethod
    def fit(
        cls,
        X,
        y,
        domain,
        features,
        *,
        recording=None,
        stride=None,
        healthy=None,
        n_components=2,
        reg_covar=0.01,
        n_init=4,
        random_state=0,
        progress=None,
    ):
        """Fits a library to labelled windows of several machines.

        Parameters
        ----------
        X : array-like of shape (n, n_features)
            Features, as ``features`` computes them.
        y : array-like of shape (n,)
            Label of each window.
        domain : array-like of shape (n,)
            Machine of each window.
        features : SpectralFeatures
            The settings that made the features.
        recording : array-like of shape (n,), default=None
            Recording of each window. Windows of one recording are in the order of time. None takes
            each label of each machine as one recording.
        stride : int, default=None
            Samples from one window to the next; the hop if None.
        healthy : str, default=None
            Label of a healthy machine; the one called healthy or normal if None.
        n_components : int, default=2
            Components of each class.
        reg_covar, n_init, random_state, progress
            As for ``GMMOTDAClassifier``.
        """
        X = np.ascontiguousarray(matrix(X)[0], dtype=np.float32)
        y = labels(y, len(X)).astype(str)
        domain = labels(domain, len(X), "domain").astype(str)
        front_end = front_end_of(features, X.shape[1])
        if recording is None:
            recording = np.char.add(np.char.add(domain, "\0"), y)
        recording = labels(recording, len(X), "recording")
        machines = []
        for name in dict.fromkeys(domain):
            rows = domain == name
            index = np.unique(recording[rows], return_inverse=True)[1].reshape(-1)
            machine = (str(name), X[rows], y[rows].tolist(), index.tolist())
            machines.append((*machine, int(stride or front_end.hop)))
        settings = _settings(n_components, reg_covar, n_init, random_state, healthy)
        return cls(_rebearing.Library.of_features(machines, front_end, settings, progress))

    @classmethod
    def from_manifest(
        cls,
        manifest,
        domains=None,
        *,
        fft_len=2048,
        hop=None,
        segments=2,
        bands=32,
        blocks="bands",
        healthy=None,
        n_components=2,
        reg_covar=0.01,
        n_init=4,
        random_state=0,
        progress=None,
    ):
        """Fits a library to machines of a manifest, exactly as ``rebearing fit`` does.

        ``domains`` is a name or a list of names; None takes all.
        """
        names = [] if domains is None else [domains] if isinstance(domains, str) else list(domains)
        hop = fft_len // 2 if hop is None else hop
        settings = _settings(n_components, reg_covar, n_init, random_state, healthy)
        return cls(
            _rebearing.Library.of_manifest(
                os.fspath(manifest),
                names,
                int(fft_len),
                int(hop),
                int(segments),
                str(bands),
                str(blocks),
                settings,
                progress,
            )
        )

    @classmethod
    def load(cls, path):
        """Reads a library that ``save`` or ``rebearing fit`` wrote."""
        return cls(_rebearing.Library.read(os.fspath(path)))

    def save(self, path):
        """Writes the library as JSON, completely or not at all. ``rebearing adapt`` reads it."""
        self._core.write(os.fspath(path))

    @classmethod
    def from_json(cls, text):
        """Reads a library from the bytes of its file."""
        return cls(_rebearing.Library.from_json(text.encode() if isinstance(text, str) else text))

    def to_json(self):
        """Returns the bytes of the library's file."""
        return self._core.to_json()

    def only(self, domain):
        """Returns the library of one of its machines alone."""
        return Library(self._core.only(domain))

    @property
    def domains_(self):
        return self._core.domains

    @property
    def classes_(self):
        return self._core.classes

    @property
    def healthy_(self):
        return self._core.healthy

    def __repr__(self):
        machines = ", ".join(self.domains_[:3]) + (", …" if len(self.domains_) > 3 else "")
        return f"<Library of {machines}: {', '.join(self.classes_)}>"

    def __getstate__(self):
        return {"json": self.to_json()}

    def __setstate__(self, state):
        self._core = _rebearing.Library.from_json(state["json"])

    def __eq__(self, other):
        return isinstance(other, Library) and self.to_json() == other.to_json()

    __hash__ = None


def front_end_of(features, columns):
    """Returns the engine's front end, and refuses features of another one."""
    if not isinstance(features, SpectralFeatures):
        raise TypeError(f"features is {features!r}; it must be the SpectralFeatures that made X")
    front_end = features._front_end()
    if front_end.dims != columns:
        raise _rebearing.RebearingError(
            f"X has {columns} features, but these SpectralFeatures give {front_end.dims}"
        )
    return front_end


def _settings(n_components, reg_covar, n_init, random_state, healthy):
    return {
        "components": int(n_components),
        "reg_covar": float(reg_covar),
        "n_init": int(n_init),
        "seed": seed(random_state),
        "healthy": healthy,
    }

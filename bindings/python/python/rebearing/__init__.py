"""Fault labels for a new machine, carried over by optimal transport of Gaussian mixtures.

Estimators follow scikit-learn: ``GaussianMixture``, ``GMMOTDAClassifier`` and
``TransferClassifier`` work in pipelines, in grid searches and in skada. scikit-learn itself is not
needed. Functions follow POT: ``plan``, ``transfer`` and the maps ``T_weight``, ``T_mean`` and
``T_rand``.

For vibration there are the device's own front end ``SpectralFeatures``, the ``Library`` of known
machines, the ``GuardedAdapter`` with its verdict, and the ``Monitor``, which runs the device's code.

Every call runs on threads of its own, outside of the interpreter's lock, and Ctrl-C stops it.
``RAYON_NUM_THREADS`` sets their number. Results do not depend on it.
"""

from importlib import import_module as _import_module

from ._rebearing import VERSION as __version__
from ._rebearing import RebearingError

# The module of each name. They are imported when they are first used: an estimator inherits from
# scikit-learn's classes if that is installed, and importing it takes longer than everything here.
_MODULES = {
    "GMMOTDAClassifier": "_classifiers",
    "TransferClassifier": "_classifiers",
    "transfer": "_classifiers",
    "GaussianMixture": "_mixture",
    "SpectralFeatures": "_features",
    "Library": "_library",
    "GuardedAdapter": "_adapter",
    "Monitor": "_monitor",
    "Finding": "_monitor",
    "plan": "_transport",
    "mixture_plan": "_transport",
    "T_weight": "_transport",
    "T_mean": "_transport",
    "T_rand": "_transport",
}

__all__ = ["RebearingError", "__version__", *sorted(_MODULES)]


def __getattr__(name):
    if name not in _MODULES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(_import_module(f".{_MODULES[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__():
    return __all__

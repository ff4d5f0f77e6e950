"""Classifiers for a target without labels."""

import numpy as np

from . import _rebearing
from ._arrays import classes, fitted_matrix, known_matrix, labels, matrix, seed
from ._base import BaseEstimator, ClassifierMixin, check_fitted


class _Transfer(ClassifierMixin, BaseEstimator):
    """Fits a method to a labelled source and an unlabelled target."""

    # skada hands the domains over without being asked.
    __metadata_request__fit = {"sample_domain": True}

    def fit(self, X=None, y=None, Xt=None, yt=None, *, sample_domain=None, Xs=None, ys=None):
        """Fits to a labelled source and an unlabelled target.

        There are three ways to give them:

        - ``fit(Xs, ys, Xt)``, as POT has it;
        - ``fit(X, y, sample_domain=d)``, as skada has it: rows with a positive domain are the
          source, rows with a negative one are the target. Labels of the target are not looked at;
        - ``fit(X, y)``: the source is its own target.

        ``yt`` is ignored.
        """
        X, y = (X if Xs is None else Xs), (y if ys is None else ys)
        if X is None:
            raise ValueError("fit needs the source: fit(Xs, ys, Xt) or fit(X, y, sample_domain=d)")
        of_source = "X" if Xs is None and Xt is None else "Xs"
        X = fitted_matrix(self, X, of_source)
        y = labels(y, len(X))
        if sample_domain is not None:
            if Xt is not None:
                raise ValueError("give the target as Xt or by sample_domain, not both")
            X, y, Xt = _split(X, y, sample_domain)
        else:
            Xt = X if Xt is None else known_matrix(self, Xt, "Xt")
        self.classes_, index = classes(y)
        method = self._method()
        found = _rebearing.method_fit(
            method, X, index, len(self.classes_), Xt, self._settings(), self.progress
        )
        self.classifier_ = found["classifier"]
        self.seconds_ = dict(zip(("fit_source", "fit_target", "transport"), found["seconds"]))
        for name in ("source", "source_labels", "target", "plan"):
            if name in found:
                setattr(self, f"{name}_", found[name])
        return self

    def predict(self, X):
        """Returns the likeliest class of each row."""
        posterior = self.predict_proba(X)
        return self.classes_[posterior.argmax(axis=1)]

    def predict_proba(self, X):
        """Returns the probability of each class for each row, in the order of ``classes_``."""
        check_fitted(self, "classifier_")
        X = known_matrix(self, X)
        return _rebearing.method_predict(self.classifier_, X)

    def _settings(self):
        count = self.n_components
        if count is not None and (not isinstance(count, (int, np.integer)) or count < 1):
            raise ValueError(f"n_components is {count!r}; it must be an integer of at least 1, or None")
        return {
            "n_components": None if count is None else int(count),
            "covariance_type": str(self.covariance_type),
            "reg_covar": float(self.reg_covar),
            "reg": float(self.reg),
            "reg_m": np.inf if self.reg_m is None else float(self.reg_m),
            "n_init": int(self.n_init),
            "seed": seed(self.random_state),
            "max_samples": int(getattr(self, "max_samples", 1000)),
        }


class GMMOTDAClassifier(_Transfer):
    """GMM-OTDA: carries labels along the optimal transport plan between two Gaussian mixtures.

    One mixture is fitted to each class of the source and one to the target. The plan between their
    components says which target component gets which label (Montesuma, Ngolè Mboula and Souloumiac,
    TMLR 2024).

    Features should have comparable scales: put a ``StandardScaler`` before it.

    Parameters
    ----------
    n_components : int, default=None
        Number of components of each mixture in all. Each class of the source gets its share, at
        least one. None means two for each class.
    covariance_type : {'diag', 'full', 'tied', 'spherical'}, default='diag'
        Shape of the covariances.
    reg_covar : float, default=0.01
        Added to every variance.
    reg : float, default=0.002
        Weight of the plan's entropy, relative to the largest cost. 0 is the exact plan, and needs
        ``reg_m=None``.
    reg_m : float, default=0.8
        How strongly the plan keeps the source's class shares, relative to the largest cost. The
        target's shares are always kept. None keeps both.
    n_init : int, default=3
        Number of starts of each EM.
    random_state : int, None, RandomState or Generator, default=0
        Seed of everything random. None takes a fresh seed from numpy.
    method : {'map', 't'}, default='map'
        ``map`` labels the target's own components. ``t`` maps the source's samples to the target
        and trains a softmax on them.
    progress : callable, default=None
        Called as ``progress(stage, done, total)`` a few times a second during a fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    source_, target_ : tuple
        Weights, means, covariances and covariance type of both mixtures.
    source_labels_ : ndarray of shape (n_components, n_classes)
        The class of each source component.
    plan_ : ndarray
        Mass from each source component (row) to each target component.
    n_features_in_ : int
        Number of features seen during the fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the fit was given a table whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from rebearing import GMMOTDAClassifier
    >>> rng = np.random.default_rng(0)
    >>> ys = np.repeat(["healthy", "faulty"], 50)
    >>> Xs = rng.normal(size=(100, 2)) + 6 * (ys == "faulty")[:, None]
    >>> Xt = Xs + [2.0, -1.0]
    >>> model = GMMOTDAClassifier().fit(Xs, ys, Xt)
    >>> float((model.predict(Xt) == ys).mean())
    1.0
    """

    def __init__(
        self,
        n_components=None,
        *,
        covariance_type="diag",
        reg_covar=0.01,
        reg=0.002,
        reg_m=0.8,
        n_init=3,
        random_state=0,
        method="map",
        progress=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.reg = reg
        self.reg_m = reg_m
        self.n_init = n_init
        self.random_state = random_state
        self.method = method
        self.progress = progress

    def _method(self):
        names = {"map": "gmm-otda-map", "t": "gmm-otda-t"}
        if self.method not in names:
            raise ValueError(f"method is {self.method!r}; it must be 'map' or 't'")
        return names[self.method]


class TransferClassifier(_Transfer):
    """Any method of this package by its name.

    Parameters
    ----------
    method : str, default='gmm-otda-map'
        ``source-only``, ``gmm-otda-map``, ``gmm-otda-t``, ``otda-exact``, ``otda-sinkhorn``,
        ``otda-affine``, ``otda-affine-diag``, ``hot-da``, ``infoot`` or ``infoot-barycentric``.
    n_components, covariance_type, reg_covar, reg, reg_m, n_init, random_state, progress
        As for ``GMMOTDAClassifier``. Methods without mixtures ignore those of mixtures.
    max_samples : int, default=1000
        Most samples of each domain in a plan between samples. More samples are thinned.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    n_features_in_ : int
        Number of features seen during the fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the fit was given a table whose column names are all strings.
    """

    def __init__(
        self,
        method="gmm-otda-map",
        *,
        n_components=None,
        covariance_type="diag",
        reg_covar=0.01,
        reg=0.002,
        reg_m=0.8,
        n_init=3,
        random_state=0,
        max_samples=1000,
        progress=None,
    ):
        self.method = method
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.reg_covar = reg_covar
        self.reg = reg
        self.reg_m = reg_m
        self.n_init = n_init
        self.random_state = random_state
        self.max_samples = max_samples
        self.progress = progress

    def _method(self):
        return str(self.method)


def transfer(Xs, ys, Xt, method="gmm-otda-map", **settings):
    """Returns the labels that a method carries from the source to the rows of ``Xt``.

    ``settings`` are those of ``TransferClassifier``.
    """
    return TransferClassifier(method, **settings).fit(Xs, ys, Xt).predict(Xt)


def _split(X, y, sample_domain):
    """The source's rows and labels and the target's rows, by skada's domains."""
    domain = np.asarray(sample_domain)
    if domain.shape != (len(X),) or domain.dtype.kind not in "iu":
        raise ValueError(
            f"sample_domain must be {len(X)} integers, one for each row; it has the shape "
            f"{domain.shape} and holds {domain.dtype}"
        )
    source, target = domain > 0, domain < 0
    for rows, sign, what in [(source, "positive", "source"), (target, "negative", "target")]:
        if not rows.any():
            raise ValueError(f"no row has a {sign} sample_domain, so there is no {what}")
    if (domain == 0).any():
        row = int(np.flatnonzero(domain == 0)[0])
        raise ValueError(
            f"sample_domain of row {row} is 0; it must be positive for a source and negative for a "
            "target"
        )
    return matrix(X[source])[0], y[source], matrix(X[target])[0]

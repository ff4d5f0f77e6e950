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
        _check_size(X)
        y = labels(y, len(X))
        if sample_domain is not None:
            if Xt is not None:
                raise ValueError("give the target as Xt or by sample_domain, not both")
            X, y, Xt = _split(X, y, sample_domain)
        else:
            Xt = X if Xt is None else known_matrix(self, Xt, "Xt")
        self.classes_, index = classes(y)
        found = _rebearing.method_fit(
            self._method(),
            X,
            _marks(self.classes_, index),
            len(self.classes_),
            Xt,
            self._settings(),
            self.progress,
        )
        self.classifier_, self.scaling_ = found["classifier"], found["scaling"]
        self.names_classes_ = found["names_classes"]
        self.seconds_ = dict(zip(("fit_source", "fit_target", "transport"), found["seconds"]))
        for name in ("verdict", "predicted_accuracy", "reasons", "warnings", "forced"):
            if name in found:
                setattr(self, f"{name}_", found[name])
            elif hasattr(self, f"{name}_"):
                delattr(self, f"{name}_")
        return self

    def predict(self, X):
        """Returns the likeliest class of each row."""
        posterior = self.predict_proba(X)
        if not self.names_classes_:
            return np.full(len(posterior), unknown_label(self.classes_))
        return self.classes_[posterior.argmax(axis=1)]

    def predict_proba(self, X):
        """Returns the probability of each class for each row, in the order of ``classes_``.

        It is all zero if ``guarded`` abstained.
        """
        check_fitted(self, "classifier_")
        X = known_matrix(self, X)
        posterior = _rebearing.method_predict(self.classifier_, self.scaling_, X)
        return posterior if self.names_classes_ else np.zeros_like(posterior)

    def _settings(self):
        count = self.n_components
        if count is not None and (not isinstance(count, (int, np.integer)) or count < 1):
            raise ValueError(f"n_components is {count!r}; it must be an integer of at least 1, or None")
        return {
            "scale": str(self.scale),
            "n_components": None if count is None else int(count),
            "covariance_type": str(self.covariance_type),
            "reg_covar": float(self.reg_covar),
            "reg": float(self.reg),
            "reg_m": np.inf if self.reg_m is None else float(self.reg_m),
            "n_init": int(self.n_init),
            "seed": seed(self.random_state),
            "max_samples": int(getattr(self, "max_samples", 2000)),
            "classifier": str(getattr(self, "classifier", "softmax")),
            "pool_is": str(getattr(self, "pool_is", "all")),
            "promise": float(getattr(self, "promise", 0.9)),
            "force": bool(getattr(self, "force", False)),
        }


class GMMOTDAClassifier(_Transfer):
    """GMM-OTDA: carries labels along the optimal transport plan between two Gaussian mixtures.

    One mixture is fitted to each class of the source and one to the target. The plan between their
    components says which target component gets which label (Montesuma, Ngolè Mboula and Souloumiac,
    TMLR 2024).

    Parameters
    ----------
    n_components : int, default=None
        Number of components of each mixture in all. Each class of the source gets its share, at
        least one. None means two for each class.
    covariance_type : {'diag', 'full', 'tied', 'spherical'}, default='diag'
        Shape of the covariances.
    reg_covar : float, default=0.01
        Added to every variance, relative to the mean variance of the source's features after
        scaling.
    reg : float, default=0.002
        Weight of the plan's entropy, relative to the largest cost. 0 is the exact plan, and needs
        ``reg_m=None``.
    reg_m : float, default=0.8
        How strongly the plan keeps the source's class shares, relative to the largest cost. The
        target's shares are always kept. None keeps both.
    n_init : int, default=4
        Number of starts of each EM.
    random_state : int, None, RandomState or Generator, default=0
        Seed of everything random. None takes a fresh seed from numpy.
    method : {'map', 't'}, default='map'
        ``map`` labels the target's own components. ``t`` maps the source's samples to the target
        and trains a softmax on them.
    scale : {'none', 'source', 'each'}, default='none'
        Whether features are standardised: not at all, all by the source's mean and standard
        deviation, or each domain by its own.
    progress : callable, default=None
        Called as ``progress(stage, done, total)`` a few times a second during a fit.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    classifier_ : tuple
        For ``map``, the target's mixture (weights, means, covariances and their type, over
        standardised features) and the class distribution of each component. For ``t``, the
        coefficients and intercepts of the softmax.
    scaling_ : tuple or None
        Mean and standard deviation by which the target's features are standardised.
    seconds_ : dict
        Time spent in each step.
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
        n_init=4,
        random_state=0,
        method="map",
        scale="none",
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
        self.scale = scale
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
        ``guarded``, ``source-only``, ``gmm-otda-map``, ``gmm-otda-t``, ``otda-exact``, ``otda-sinkhorn``,
        ``otda-affine``, ``otda-affine-diag``, ``hot-da``, ``infoot`` or ``infoot-barycentric``.
    n_components, covariance_type, reg_covar, reg, reg_m, n_init, random_state, progress
        As for ``GMMOTDAClassifier``. Methods without mixtures ignore those of mixtures.
    max_samples : int, default=2000
        Most samples of each domain in a plan between samples. More samples are thinned.
    classifier : {'softmax', 'nearest'}, default='softmax'
        What the methods with a map train on the moved source rows. ``gmm-otda-t`` always trains a
        softmax.
    scale : {'none', 'source', 'each'}, default='none'
        As for ``GMMOTDAClassifier``.
    pool_is : {'all', 'unknown'}, default='all'
        For ``guarded``: whether the target holds every class of the source.
    promise : float, default=0.9
        For ``guarded``: the accuracy from which carried labels are trusted. Otherwise nothing is
        named, and every row gets the label ``"unknown"``, or -1 if labels are numbers.
    force : bool, default=False
        For ``guarded``: whether to name classes all the same.

    Attributes
    ----------
    classes_ : ndarray of shape (n_classes,)
        The labels of the source.
    verdict_, predicted_accuracy_, reasons_, warnings_, forced_
        Of ``guarded``.
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
        n_init=4,
        random_state=0,
        max_samples=2000,
        classifier="softmax",
        scale="none",
        pool_is="all",
        promise=0.9,
        force=False,
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
        self.classifier = classifier
        self.scale = scale
        self.pool_is = pool_is
        self.promise = promise
        self.force = force
        self.progress = progress

    def _method(self):
        return str(self.method)


def transfer(Xs, ys, Xt, method="gmm-otda-map", **settings):
    """Returns the labels that a method carries from the source to the rows of ``Xt``.

    ``settings`` are those of ``TransferClassifier``.
    """
    return TransferClassifier(method, **settings).fit(Xs, ys, Xt).predict(Xt)


def unknown_label(classes):
    """Returns the label of a row without a class: ``unknown``, or -1, or a number below all labels."""
    if classes.dtype.kind in "iufb":
        return int(classes.min()) - 1 if -1 in classes else -1
    name = "unknown"
    while name in classes:
        name += "_"
    return name


def _check_size(X):
    """Refuses a matrix with one row or one column, in scikit-learn's words."""
    for size, what in zip(X.shape, ("sample", "feature")):
        if size < 2:
            raise ValueError(
                f"Found array with {size} {what}(s) (shape={X.shape}) while a minimum of 2 is "
                "required."
            )


def _marks(classes, index):
    """The labels as the engine takes them: names or whole numbers, in the order of the classes."""
    if all(isinstance(label, str) for label in classes):
        return [str(classes[i]) for i in index]
    if classes.dtype.kind in "ib":
        return classes.astype(np.int64)[index]
    return index


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

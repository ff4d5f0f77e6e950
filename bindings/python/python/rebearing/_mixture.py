"""Gaussian mixtures with scikit-learn's interface."""

import warnings

import numpy as np

from . import _rebearing
from ._arrays import fitted_matrix, generator, known_matrix, seed
from ._base import BaseEstimator, ConvergenceWarning, DensityMixin, check_fitted


class GaussianMixture(DensityMixin, BaseEstimator):
    """A Gaussian mixture fitted by EM. Names and meanings are scikit-learn's.

    Float32 and float64 matrices in C order are used in place, in their own precision.

    Differences: ``random_state`` is 0 by default, so that a fit repeats and equals the command
    ``rebearing gmm``. A component that loses all its samples moves to the sample that the mixture
    explains worst. ``weights_init`` and ``precisions_init`` are used only together with
    ``means_init``, and both at once.

    Parameters
    ----------
    n_components : int, default=1
        Number of components.
    covariance_type : {'full', 'tied', 'diag', 'spherical'}, default='full'
        Shape of the covariances.
    tol : float, default=1e-3
        Stop when the mean log-likelihood changes by less than this.
    reg_covar : float, default=1e-6
        Added to every variance in every iteration, so that none is smaller.
    max_iter : int, default=100
        Stop after this many iterations.
    n_init : int, default=1
        Number of starts; the likeliest fit is kept.
    init_params : {'kmeans', 'k-means++'}, default='kmeans'
        Where to start.
    weights_init, means_init, precisions_init : array-like, default=None
        A start of your own. Means alone get weights and covariances from the samples that are
        nearest to them.
    random_state : int, None, RandomState or Generator, default=0
        Seed of the starts. None takes a fresh seed from numpy.
    progress : callable, default=None
        Called as ``progress(stage, done, total)`` a few times a second during a fit.

    Attributes
    ----------
    weights_ : ndarray of shape (n_components,)
    means_ : ndarray of shape (n_components, n_features)
    covariances_ : ndarray
        The shape depends on ``covariance_type``, as in scikit-learn.
    converged_ : bool
        Whether the tolerance was reached.
    n_iter_ : int
        Number of iterations.
    lower_bound_ : float
        Mean log-likelihood of a sample in the last iteration.
    n_features_in_ : int
        Number of features seen during the fit.
    feature_names_in_ : ndarray of shape (n_features_in_,)
        Names of the columns, if the fit was given a table whose column names are all strings.

    Examples
    --------
    >>> import numpy as np
    >>> from rebearing import GaussianMixture
    >>> X = np.array([[1.0, 2], [1, 4], [1, 0], [10, 2], [10, 4], [10, 0]])
    >>> mixture = GaussianMixture(n_components=2, covariance_type="diag").fit(X)
    >>> sorted(mixture.means_[:, 0])
    [np.float64(1.0), np.float64(10.0)]
    """

    def __init__(
        self,
        n_components=1,
        *,
        covariance_type="full",
        tol=1e-3,
        reg_covar=1e-6,
        max_iter=100,
        n_init=1,
        init_params="kmeans",
        weights_init=None,
        means_init=None,
        precisions_init=None,
        random_state=0,
        progress=None,
    ):
        self.n_components = n_components
        self.covariance_type = covariance_type
        self.tol = tol
        self.reg_covar = reg_covar
        self.max_iter = max_iter
        self.n_init = n_init
        self.init_params = init_params
        self.weights_init = weights_init
        self.means_init = means_init
        self.precisions_init = precisions_init
        self.random_state = random_state
        self.progress = progress

    def fit(self, X, y=None, sample_weight=None):
        """Fits the mixture to the rows of ``X``. ``y`` is ignored.

        ``sample_weight`` says how many times each row counts.
        """
        X = fitted_matrix(self, X)
        if sample_weight is not None:
            sample_weight = _weights(sample_weight, len(X))
        mixture, self.lower_bound_, self.n_iter_, self.converged_ = _rebearing.mixture_fit(
            X,
            components=self._count("n_components"),
            covariance_type=str(self.covariance_type),
            tol=float(self.tol),
            max_iter=self._count("max_iter"),
            reg_covar=float(self.reg_covar),
            n_init=1 if self.means_init is not None else self._count("n_init"),
            seed=seed(self.random_state),
            start=str(self.init_params),
            means_init=self._means_init(),
            mixture_init=self._mixture_init(),
            sample_weight=sample_weight,
            progress=self.progress,
        )
        self.weights_, self.means_, self.covariances_, _ = mixture
        if not self.converged_:
            warnings.warn(
                f"Best performing initialization did not converge after {self.n_iter_} iterations. "
                "Try a larger max_iter or tol, or check for degenerate data.",
                ConvergenceWarning,
                stacklevel=2,
            )
        return self

    def fit_predict(self, X, y=None):
        """Fits the mixture and returns the likeliest component of each row."""
        return self.fit(X, y).predict(X)

    def predict(self, X):
        """Returns the likeliest component of each row."""
        return self.predict_proba(X).argmax(axis=1)

    def predict_proba(self, X):
        """Returns the responsibility of each component for each row. Values below e^-40 are 0."""
        return self._evaluate(X, "responsibilities")

    def score_samples(self, X):
        """Returns the log-likelihood of each row."""
        return self._evaluate(X, "log_likelihoods")

    def score(self, X, y=None):
        """Returns the mean log-likelihood of a row."""
        return float(self.score_samples(X).mean())

    def sample(self, n_samples=1):
        """Draws samples. Returns them and the component of each, component by component."""
        check_fitted(self, "means_")
        if n_samples < 1:
            raise ValueError(f"n_samples is {n_samples}; it must be at least 1")
        rng = generator(self.random_state)
        counts = rng.multinomial(n_samples, self.weights_ / self.weights_.sum())
        draw = getattr(rng, "standard_normal")
        parts = []
        for k, count in enumerate(counts):
            normal = draw((count, self.means_.shape[1]))
            parts.append(self.means_[k] + self._spread(k, normal))
        return np.vstack(parts), np.repeat(np.arange(len(counts)), counts)

    def bic(self, X):
        """Returns the Bayesian information criterion for the rows of ``X``; lower is better."""
        scores = self.score_samples(X)
        return -2 * scores.sum() + self._n_parameters() * np.log(len(scores))

    def aic(self, X):
        """Returns the Akaike information criterion for the rows of ``X``; lower is better."""
        return -2 * self.score_samples(X).sum() + 2 * self._n_parameters()

    @property
    def precisions_(self):
        """The inverse of each covariance, in the same shape."""
        check_fitted(self, "means_")
        return _inverse(self.covariances_, self.covariance_type)

    def _count(self, name):
        value = getattr(self, name)
        if not isinstance(value, (int, np.integer)) or value < 1:
            raise ValueError(f"{name} is {value!r}; it must be an integer of at least 1")
        return int(value)

    def _means_init(self):
        if self.means_init is None:
            if self.weights_init is not None or self.precisions_init is not None:
                raise ValueError("weights_init and precisions_init need means_init too")
            return None
        return np.ascontiguousarray(self.means_init, dtype=np.float64)

    def _mixture_init(self):
        given = [self.weights_init is not None, self.precisions_init is not None]
        if not any(given):
            return None
        if not all(given):
            raise ValueError("weights_init and precisions_init are used only together")
        weights = np.ascontiguousarray(self.weights_init, dtype=np.float64)
        precisions = np.asarray(self.precisions_init, dtype=np.float64)
        covariances = np.ascontiguousarray(_inverse(precisions, self.covariance_type))
        return weights, self._means_init(), covariances, str(self.covariance_type)

    def _evaluate(self, X, what):
        check_fitted(self, "means_")
        X = known_matrix(self, X)
        mixture = (self.weights_, self.means_, self.covariances_, str(self.covariance_type))
        return _rebearing.mixture_evaluate(mixture, X, what)

    def _spread(self, k, normal):
        """Standard normal numbers with the covariance of a component."""
        if self.covariance_type == "diag":
            return normal * np.sqrt(self.covariances_[k])
        if self.covariance_type == "spherical":
            return normal * np.sqrt(self.covariances_[k])
        covariance = self.covariances_ if self.covariance_type == "tied" else self.covariances_[k]
        return normal @ np.linalg.cholesky(covariance).T

    def _n_parameters(self):
        k, d = self.means_.shape
        covariance = {
            "diag": k * d,
            "spherical": k,
            "tied": d * (d + 1) / 2,
            "full": k * d * (d + 1) / 2,
        }[self.covariance_type]
        return int(covariance + k * d + k - 1)


def _inverse(covariances, kind):
    return 1 / covariances if kind in ("diag", "spherical") else np.linalg.inv(covariances)


def _weights(weights, rows):
    weights = np.ascontiguousarray(weights, dtype=np.float64)
    if weights.shape != (rows,):
        raise ValueError(
            f"Sample weights must be 1D array or scalar: {rows} numbers, not {weights.shape}"
        )
    if not weights.any():
        raise ValueError("Sample weights must contain at least one non-zero number.")
    return weights

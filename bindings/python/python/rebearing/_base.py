"""The classes that estimators inherit from: scikit-learn's if it is installed, else these few."""

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, DensityMixin, TransformerMixin
    from sklearn.exceptions import ConvergenceWarning, DataConversionWarning, NotFittedError
except ImportError:
    import inspect

    import numpy as np

    class NotFittedError(ValueError, AttributeError):
        """Raised if an estimator is used before it is fitted."""

    class ConvergenceWarning(UserWarning):
        """Warns that a tolerance was not reached."""

    class DataConversionWarning(UserWarning):
        """Warns that data was converted."""

    class BaseEstimator:
        """Parameters as scikit-learn's estimators have them."""

        def get_params(self, deep=True):
            """Returns the parameters of the estimator by name."""
            names = inspect.signature(type(self).__init__).parameters
            return {name: getattr(self, name) for name in names if name != "self"}

        def set_params(self, **params):
            """Sets parameters and returns the estimator."""
            known = self.get_params()
            for name, value in params.items():
                if name not in known:
                    raise ValueError(
                        f"Invalid parameter {name!r} for estimator {self}. "
                        f"Valid parameters are: {sorted(known)}."
                    )
                setattr(self, name, value)
            return self

        def __repr__(self):
            usual = inspect.signature(type(self).__init__).parameters
            changed = [
                f"{name}={value!r}"
                for name, value in self.get_params().items()
                if value is not usual[name].default and value != usual[name].default
            ]
            return f"{type(self).__name__}({', '.join(changed)})"

    class ClassifierMixin:
        """A classifier has a score: the share of labels that are right."""

        def score(self, X, y):
            """Returns the share of rows that get the label ``y``."""
            return float(np.mean(self.predict(X) == np.asarray(y)))

    class DensityMixin:
        """Nothing but a name."""

    class TransformerMixin:
        """A transformer fits and transforms in one call."""

        def fit_transform(self, X, y=None):
            """Fits to ``X`` and returns it transformed."""
            return self.fit(X, y).transform(X)


def check_fitted(estimator, attribute):
    """Raises NotFittedError unless the estimator has the attribute."""
    if not hasattr(estimator, attribute):
        raise NotFittedError(
            f"This {type(estimator).__name__} instance is not fitted yet. Call 'fit' with "
            "appropriate arguments before using this estimator."
        )

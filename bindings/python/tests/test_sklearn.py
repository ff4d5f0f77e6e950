"""scikit-learn's own checks of an estimator."""

import pytest

sklearn = pytest.importorskip("sklearn")

from sklearn.utils.estimator_checks import parametrize_with_checks

from rebearing import GaussianMixture, GMMOTDAClassifier, TransferClassifier

ESTIMATORS = [
    GaussianMixture(),
    GMMOTDAClassifier(),
    GMMOTDAClassifier(method="t"),
    TransferClassifier("source-only"),
    TransferClassifier("otda-sinkhorn"),
]


@parametrize_with_checks(ESTIMATORS)
def test_scikit_learns_checks(estimator, check):
    check(estimator)

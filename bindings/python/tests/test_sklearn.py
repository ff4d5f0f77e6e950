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
    # skada switches it on for the whole process.
    with sklearn.config_context(enable_metadata_routing=False):
        check(estimator)

"""Estimators survive pickling, copying and cloning."""

import copy
import pickle

import numpy as np
import pytest

import rebearing

ESTIMATORS = [
    rebearing.GaussianMixture(3, covariance_type="tied", random_state=5),
    rebearing.GMMOTDAClassifier(6, reg=0.01),
    rebearing.GMMOTDAClassifier(method="t"),
    rebearing.TransferClassifier("otda-sinkhorn", max_samples=50),
]
each_estimator = pytest.mark.parametrize("estimator", ESTIMATORS, ids=repr)
COPIES = {
    **{f"pickle {n}": lambda x, n=n: pickle.loads(pickle.dumps(x, n)) for n in range(2, 6)},
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
}
each_copy = pytest.mark.parametrize("how", COPIES)


def fitted(estimator, domains):
    estimator = copy.deepcopy(estimator)
    if isinstance(estimator, rebearing.GaussianMixture):
        return estimator.fit(domains.Xs)
    return estimator.fit(domains.Xs, domains.ys, domains.Xt)


@each_estimator
@each_copy
def test_copies_before_the_fit_have_the_same_parameters(estimator, how):
    assert COPIES[how](estimator).get_params() == estimator.get_params()


@each_estimator
@each_copy
def test_copies_of_fitted_estimators_predict_the_same(estimator, how, domains):
    model = fitted(estimator, domains)
    again = COPIES[how](model)
    expected = model.predict_proba(domains.Xt)
    assert again.predict_proba(domains.Xt).tobytes() == expected.tobytes()
    assert again.n_features_in_ == 4
    # Each can be fitted again without a change to the other.
    fitted(again, domains).fit(domains.Xt, domains.ys)
    assert model.predict_proba(domains.Xt).tobytes() == expected.tobytes()


@each_estimator
def test_clones_have_the_parameters_and_no_fit(estimator, domains):
    base = pytest.importorskip("sklearn.base")
    clone = base.clone(fitted(estimator, domains))
    assert clone.get_params() == estimator.get_params()
    with pytest.raises(ValueError, match="not fitted yet"):
        clone.predict(domains.Xt)
    expected = fitted(estimator, domains).predict(domains.Xt)
    np.testing.assert_array_equal(fitted(clone, domains).predict(domains.Xt), expected)


def test_errors_survive_pickling():
    # Process pools hand exceptions over in this way.
    with pytest.raises(rebearing.RebearingError) as caught:
        rebearing.plan(np.ones((2, 2)), reg=-1)
    again = pickle.loads(pickle.dumps(caught.value))
    assert type(again) is rebearing.RebearingError and str(again) == str(caught.value)

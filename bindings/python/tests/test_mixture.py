"""GaussianMixture beside scikit-learn's."""

import numpy as np
import pytest

pytestmark = pytest.mark.filterwarnings("ignore:Best performing initialization")

from rebearing import GaussianMixture, RebearingError

sklearn_mixture = pytest.importorskip("sklearn.mixture")

KINDS = ["diag", "full", "tied", "spherical"]


@pytest.fixture
def x():
    rng = np.random.default_rng(3)
    return np.vstack([rng.normal(c, s, (60, 3)) for c, s in [(0, 1), (5, 0.5), (-4, 2)]])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_fit_from_the_same_start_is_scikit_learns(x, kind, dtype):
    start = GaussianMixture(3, covariance_type=kind, max_iter=3, tol=0).fit(x[::2])
    given = dict(
        covariance_type=kind,
        tol=1e-7,
        max_iter=500,
        weights_init=start.weights_,
        means_init=start.means_,
        precisions_init=start.precisions_,
    )
    own = GaussianMixture(3, **given).fit(x.astype(dtype))
    theirs = sklearn_mixture.GaussianMixture(3, **given).fit(x.astype(dtype).astype(np.float64))
    digits = dict(rtol=0, atol=1e-7 if dtype == np.float64 else 2e-3)
    for name in ["weights_", "means_", "covariances_"]:
        np.testing.assert_allclose(getattr(own, name), getattr(theirs, name), **digits)
    np.testing.assert_allclose(own.predict_proba(x), theirs.predict_proba(x), **digits)
    np.testing.assert_allclose(own.score_samples(x), theirs.score_samples(x), **digits)
    assert (own.predict(x) == theirs.predict(x)).all()
    for name in ["score", "bic", "aic"]:
        ours, other = getattr(own, name)(x), getattr(theirs, name)(x)
        assert ours == pytest.approx(other, rel=1e-6 if dtype == np.float64 else 1e-3)
    if dtype == np.float64:
        assert (own.n_iter_, own.converged_) == (theirs.n_iter_, theirs.converged_)
        assert own.lower_bound_ == pytest.approx(theirs.lower_bound_, abs=1e-9)


@pytest.mark.parametrize("kind", KINDS)
def test_samples_come_from_the_mixture(x, kind):
    mixture = GaussianMixture(3, covariance_type=kind).fit(x)
    drawn, component = mixture.sample(20_000)
    assert drawn.shape == (20_000, 3) and component.shape == (20_000,)
    np.testing.assert_allclose(drawn.mean(axis=0), x.mean(axis=0), atol=0.15)
    np.testing.assert_allclose(np.bincount(component) / 20_000, mixture.weights_, atol=0.02)


def test_a_matrix_is_not_copied_and_other_layouts_give_the_same(x):
    wanted = GaussianMixture(3, covariance_type="diag").fit(x)
    for other in [np.asfortranarray(x), np.repeat(x, 2, axis=0)[::2], x.tolist(), x.astype(">f8")]:
        found = GaussianMixture(3, covariance_type="diag").fit(other)
        assert (found.means_ == wanted.means_).all()


@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_the_place_of_a_bad_value_is_named(x, value):
    x[7, 1] = value
    with pytest.raises(RebearingError, match="row 7, column 1"):
        GaussianMixture(2).fit(x)


@pytest.mark.parametrize(
    "settings",
    [
        dict(n_components=0),
        dict(n_components=1000),
        dict(covariance_type="round"),
        dict(reg_covar=0.0),
        dict(max_iter=0),
        dict(init_params="magic"),
        dict(random_state=-1),
        dict(weights_init=[1.0]),
    ],
)
def test_settings_out_of_range_are_refused(x, settings):
    with pytest.raises(ValueError):
        GaussianMixture(**{"n_components": 2, **settings}).fit(x)


def test_a_seed_decides(x):
    fits = [GaussianMixture(3, random_state=s, max_iter=1, tol=10).fit(x).means_ for s in (0, 0, 1)]
    assert (fits[0] == fits[1]).all()
    np.random.seed(5)
    one = GaussianMixture(3, random_state=None).fit(x).means_
    np.random.seed(5)
    assert (one == GaussianMixture(3, random_state=None).fit(x).means_).all()

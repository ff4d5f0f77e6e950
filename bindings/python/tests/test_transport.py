"""Plans beside POT's, and the maps."""

import numpy as np
import pytest

from rebearing import GaussianMixture, RebearingError, T_mean, T_rand, T_weight, mixture_plan, plan

ot = pytest.importorskip("ot")


@pytest.fixture
def problem():
    rng = np.random.default_rng(1)
    a, b = rng.random(20), rng.random(30)
    return 7 * rng.random((20, 30)), a / a.sum(), b / b.sum()


def test_plans_are_pots(problem):
    cost, a, b = problem
    m = cost.max()
    np.testing.assert_allclose(plan(cost, a, b), ot.emd(a, b, cost), atol=1e-12)
    precise = dict(stopThr=1e-14, numItermax=100_000)
    np.testing.assert_allclose(
        plan(cost, a, b, reg=0.05), ot.sinkhorn(a, b, cost, 0.05 * m, **precise), atol=1e-9
    )
    unbalanced = ot.unbalanced.sinkhorn_unbalanced
    np.testing.assert_allclose(
        plan(cost, a, b, reg=0.05, reg_m=0.5),
        unbalanced(a, b, cost, 0.05 * m, 0.5 * m, **precise),
        atol=1e-9,
    )
    np.testing.assert_allclose(
        plan(cost, a, b, reg=0.05, reg_m=(0.5, None)),
        unbalanced(a, b, cost, 0.05 * m, (0.5 * m, float("inf")), **precise),
        atol=1e-9,
    )


def test_the_log_proves_an_exact_plan(problem):
    cost, a, b = problem
    found, log = plan(cost, a, b, log=True)
    assert log["cost"] == pytest.approx((found * cost).sum())
    assert log["cost"] == pytest.approx(log["u"] @ a + log["v"] @ b)
    assert max(log["row_error"], log["col_error"]) < 1e-12


def test_equal_weights_are_the_default():
    found = plan(np.array([[0.0, 1], [1, 0]]))
    np.testing.assert_array_equal(found, [[0.5, 0], [0, 0.5]])


@pytest.mark.parametrize(
    "arguments, text",
    [
        (dict(reg=-1), "reg is"),
        (dict(reg=float("nan")), "reg is"),
        (dict(reg=0.1, reg_m=0), "reg_m is"),
        (dict(reg_m=1.0), "needs a reg above 0"),
        (dict(a=[1.0]), "weights for a cost"),
        (dict(a=[-1.0] + [1.0] * 19), "weight 0 is -1"),
    ],
)
def test_bad_arguments_are_refused(problem, arguments, text):
    cost, a, b = problem
    with pytest.raises(RebearingError, match=text):
        plan(**{"cost": cost, "a": a, "b": b, **arguments})


def test_maps_carry_the_source_to_the_target():
    rng = np.random.default_rng(0)
    x = np.vstack([rng.normal(c, 1, (200, 2)) for c in (0, 20)])
    source = GaussianMixture(2, covariance_type="diag").fit(x)
    target = GaussianMixture(2, covariance_type="diag").fit(3 * x + 5)
    found, cost = mixture_plan(source, target)
    assert cost > 0 and found.sum() == pytest.approx(1)
    mapped, weights, origin = T_weight(x, source, target, found)
    np.testing.assert_allclose(mapped, 3 * x[origin] + 5, atol=0.1)
    np.testing.assert_allclose(weights, 0.5, atol=1e-9)
    np.testing.assert_allclose(T_mean(x, source, target, found), 3 * x + 5, atol=0.1)
    drawn = T_rand(x, source, target, found, random_state=4)
    np.testing.assert_allclose(drawn, 3 * x + 5, atol=0.1)
    # scikit-learn's mixtures have the same attributes.
    theirs = pytest.importorskip("sklearn.mixture").GaussianMixture(2, covariance_type="diag")
    assert mixture_plan(theirs.fit(x), target)[1] == pytest.approx(cost, rel=1e-3)

"""Golden numbers for the baselines and the classifier, from POT, scikit-learn and numpy.

    pip install POT==0.9.7 scikit-learn==1.9.1 numpy==2.4.6
    python baselines.py            # writes baselines.json beside this file

Samples come from the generator described in transport.py, seed 7: source 12 x 3, target 15 x 3 (then
scaled by 2, 1, 0.5 and shifted by 1), sample weights 12. Labels are row number modulo 3.
"""

import json
import pathlib

import numpy as np
import ot
from sklearn.covariance import ledoit_wolf
from sklearn.linear_model import LogisticRegression


class Draws:
    def __init__(self, seed):
        self.s = seed

    def array(self, *shape):
        def draw():
            self.s = (self.s * 6364136223846793005 + 1442695040888963407) % 2**64
            return (self.s >> 11) / 2**53

        return np.array([draw() for _ in range(int(np.prod(shape)))]).reshape(shape)


draws = Draws(7)
source = draws.array(12, 3)
target = draws.array(15, 3) * [2, 1, 0.5] + 1
weights = draws.array(12) + 0.1
labels = np.arange(12) % 3


def softmax():
    # scikit-learn minimises C * sum(w * loss) + |W|^2 / 2, this project sum(w * loss) / sum(w) + l2 |W|^2 / 2.
    l2 = 0.01
    model = LogisticRegression(C=1 / (l2 * weights.sum()), tol=1e-12, max_iter=100_000)
    model.fit(source, labels, sample_weight=weights)
    return {"l2": l2, "coefficients": model.coef_.tolist(), "posterior": model.predict_proba(target).tolist()}


def shrinkage():
    # Fewer samples than dims: the first 2 rows of the source.
    few = source[:2] - source[:2].mean(0)
    covariance, amount = ledoit_wolf(few, assume_centered=True)
    # Dims of different spread, so that the amount is well inside 0 to 1 and tests its formula.
    many, many_amount = ledoit_wolf(target - target.mean(0), assume_centered=True)
    assert 0.05 < many_amount < 0.95
    return {"few": covariance.tolist(), "few_amount": amount, "many": many.tolist(), "many_amount": many_amount}


def infoot(bandwidth, information, epsilon, iterations):
    """The formulas of Chuang et al. 2023 (equations 5 to 8), with the units of this project."""

    def kernel(x):
        d = ot.dist(x, x)
        return np.exp(-d / (2 * bandwidth**2 * d.mean() / 2))

    k_x = kernel(source) * (labels[:, None] == labels[None, :])
    k_y = kernel(target)
    distance = np.sqrt(ot.dist(source, target))
    distance = distance / distance.mean()
    f_x, f_y = k_x.mean(1), k_y.mean(1)
    a, b = ot.unif(12), ot.unif(15)
    plan = np.outer(a, b)
    for _ in range(iterations):
        f_xy = k_x @ plan @ k_y
        gradient = np.log(f_xy / np.outer(f_x, f_y)) + k_x @ (plan / f_xy) @ k_y
        plan = ot.sinkhorn(
            a, b, distance - information * gradient, epsilon, method="sinkhorn_log", stopThr=1e-14, numItermax=100_000
        )
    ratio = (k_x @ plan @ k_y) / np.outer(f_x, f_y)
    return {
        "bandwidth": bandwidth, "information": information, "epsilon": epsilon, "iterations": iterations,
        "plan": plan.tolist(),
        "barycentric": (plan @ target / plan.sum(1, keepdims=True)).tolist(),
        "conditional": (ratio @ target / ratio.sum(1, keepdims=True)).tolist(),
    }


def hot_da(epsilon):
    """The steps of El Hamri et al. 2022 (algorithm 1) for given clusters, with the units of this project."""
    # Clusters of different sizes, in another order than the classes.
    clusters = (np.arange(15) // 4 + 1) % 3

    def sinkhorn(a, b, cost):
        reg = epsilon * cost.max()
        return ot.sinkhorn(a, b, cost, reg, method="sinkhorn_log", stopThr=1e-14, numItermax=100_000)

    def between(c, k):
        x, y = source[labels == c], target[clusters == k]
        return sinkhorn(ot.unif(len(x)), ot.unif(len(y)), ot.dist(x, y))

    cost = np.array([
        [(between(c, k) * ot.dist(source[labels == c], target[clusters == k])).sum() for k in range(3)]
        for c in range(3)
    ])
    shares = [np.bincount(groups) / len(groups) for groups in (labels, clusters)]
    matching = sinkhorn(*shares, cost)
    carried = np.zeros_like(source)
    for c, k in enumerate(matching.argmax(1)):
        plan = between(c, k)
        carried[labels == c] = plan @ target[clusters == k] / plan.sum(1, keepdims=True)
    ranked = np.sort(matching, axis=1)
    assert (ranked[:, -1] > 1.05 * ranked[:, -2]).all(), "a match that rounding could change"
    return {"epsilon": epsilon, "clusters": clusters.tolist(), "carried": carried.tolist()}


def mapped(transport):
    transport.fit(Xs=source, Xt=target)
    return transport.transform(Xs=source).tolist()


golden = {
    "exact": mapped(ot.da.EMDTransport()),
    "sinkhorn": mapped(ot.da.SinkhornTransport(reg_e=0.05, norm="max", tol=1e-14, max_iter=100_000)),
    "affine": mapped(ot.da.LinearTransport(reg=0.0)),
    "softmax": softmax(),
    "ledoit_wolf": shrinkage(),
    "infoot": infoot(0.5, 0.5, 0.2, 3),
    "hot_da": hot_da(0.05),
}
text = "{\n" + ",\n".join(f' "{name}": {json.dumps(value)}' for name, value in golden.items()) + "\n}\n"
pathlib.Path(__file__).with_suffix(".json").write_text(text)

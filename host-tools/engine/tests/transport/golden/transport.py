"""Golden numbers for the transport solvers, from POT and scipy.

    pip install POT==0.9.7 scipy==1.17.1 numpy==2.4.6
    python transport.py            # writes transport.json beside this file

Problems are not stored: this script and `golden.rs` draw them, bit for bit the same, from
one generator. State s of 64 bits, started at the seed:

    s <- s * 6364136223846793005 + 1442695040888963407  (mod 2^64),  draw = (s >> 11) / 2^53

Draws are taken in this order: rows' points, columns' points (or costs, row by row), rows' weights,
columns' weights. Weights are divided by their sum, added up from first to last.
"""

import json
import math
import pathlib

import numpy as np
import ot
import scipy.optimize

KINDS = ["points", "random", "uniform", "integer", "ties", "zero-weights", "huge", "tiny", "negative"]


class Draws:
    def __init__(self, seed):
        self.s = seed

    def __call__(self):
        self.s = (self.s * 6364136223846793005 + 1442695040888963407) % 2**64
        return (self.s >> 11) / 2**53

    def array(self, *shape):
        return np.array([self() for _ in range(int(np.prod(shape)))]).reshape(shape)


def normalised(w):
    total = 0.0
    for x in w:
        total += x
    return w / total


def squared_distances(x, y):
    c = np.zeros((len(x), len(y)))
    for i in range(x.shape[1]):
        d = x[:, None, i] - y[None, :, i]
        c = c + d * d
    return c


def problem(seed, rows, columns, kind):
    draw = Draws(seed)
    if kind in ("points", "uniform", "zero-weights"):
        cost = squared_distances(draw.array(rows, 3), draw.array(columns, 3))
    elif kind == "ties":
        # Points on a grid of 3 x 3 x 3: many of them equal.
        cost = squared_distances(np.floor(3 * draw.array(rows, 3)), np.floor(3 * draw.array(columns, 3)))
    else:
        cost = draw.array(rows, columns)
        if kind == "integer":
            cost = np.floor(10 * cost)
        elif kind == "huge":
            cost = cost * 1e12
        elif kind == "tiny":
            cost = cost * 1e-12
        elif kind == "negative":
            cost = cost - 0.5
    a, b = draw.array(rows) + 0.05, draw.array(columns) + 0.05
    if kind in ("uniform", "ties"):
        a, b = np.ones(rows), np.ones(columns)
    elif kind == "integer":
        a, b = np.floor(4 * a) + 1, np.floor(4 * b) + 1
    elif kind == "zero-weights":
        # Never all of them: the first keeps its weight.
        a[1:][a[1:] < 0.4] = 0
        b[1:][b[1:] < 0.4] = 0
    return normalised(a), normalised(b), cost


def sizes():
    edge = [(1, 1), (1, 7), (7, 1), (2, 2), (2, 300), (300, 2), (300, 200)]
    for size in edge:
        yield size
    draw = Draws(99)
    while True:
        limit = 60 if draw() < 0.9 else 200
        yield 1 + int(limit * draw()), 1 + int(limit * draw())


def scipy_cost(a, b, cost):
    m, n = cost.shape
    rows = np.kron(np.eye(m), np.ones(n))
    columns = np.kron(np.ones(m), np.eye(n))
    scale = np.abs(cost).max() or 1.0
    result = scipy.optimize.linprog(
        cost.ravel() / scale, A_eq=np.vstack([rows, columns])[:-1], b_eq=np.concatenate([a, b])[:-1], method="highs"
    )
    assert result.status == 0, result.message
    return result.fun * scale


def exact():
    size = sizes()
    checked = 0
    for seed in range(225):
        kind = KINDS[seed % len(KINDS)]
        rows, columns = next(size)
        a, b, cost = problem(seed, rows, columns, kind)
        # POT stops early on costs of 1e-12 (off by 0.6 % at seed 70), so it is given costs near one.
        scale = {"huge": 1e12, "tiny": 1e-12}.get(kind, 1.0)
        plan, log = ot.emd(a, b, cost / scale, numItermax=10**7, log=True)
        assert log["warning"] is None
        best = math.fsum((plan * cost).ravel())
        if rows * columns <= 400:
            error = abs(scipy_cost(a, b, cost) - best)
            assert error <= 1e-9 * np.abs(cost).max(), (seed, error)
            checked += 1
        yield {"seed": seed, "rows": rows, "columns": columns, "kind": kind, "cost": best}
    assert checked > 50


def sinkhorn():
    cases = [(6, 5, "points", 0.1), (9, 12, "points", 0.01), (7, 7, "uniform", 0.03), (5, 8, "random", 0.02), (1, 4, "random", 0.1)]
    for seed, (rows, columns, kind, epsilon) in enumerate(cases, 1000):
        a, b, cost = problem(seed, rows, columns, kind)
        plan, log = ot.sinkhorn(
            a, b, cost / np.abs(cost).max(), epsilon, method="sinkhorn_log", stopThr=1e-15, numItermax=200_000, warn=False, log=True
        )
        assert np.abs(plan.sum(0) - b).sum() < 1e-12 and np.abs(plan.sum(1) - a).sum() < 1e-12, seed
        yield {"seed": seed, "rows": rows, "columns": columns, "kind": kind, "epsilon": epsilon, "plan": plan.tolist()}


def relaxed():
    cases = [(6, 5, "points", 0.1, 0.1, None), (9, 7, "points", 0.01, 0.03, None), (5, 8, "random", 0.05, 0.5, 0.2), (4, 4, "uniform", 0.05, None, 0.3)]
    for seed, (rows, columns, kind, epsilon, row_tau, column_tau) in enumerate(cases, 2000):
        a, b, cost = problem(seed, rows, columns, kind)
        # Masses need not agree when both sides give way.
        if row_tau and column_tau:
            b = 1.5 * b
        taus = tuple(float("inf") if t is None else t for t in (row_tau, column_tau))
        plan = ot.unbalanced.sinkhorn_unbalanced(
            a, b, cost / np.abs(cost).max(), epsilon, taus, stopThr=1e-16, numItermax=20_000
        )
        yield {
            "seed": seed, "rows": rows, "columns": columns, "kind": kind, "epsilon": epsilon,
            "row_tau": row_tau, "column_tau": column_tau, "plan": plan.tolist(),
        }


def partial():
    for seed in range(3000, 3030):
        draw = Draws(seed)
        rows, columns = 1 + int(40 * draw()), 1 + int(40 * draw())
        kind = ["points", "uniform", "integer"][seed % 3]
        mass = 0.1 + 0.85 * draw()
        a, b, cost = problem(seed, rows, columns, kind)
        plan = ot.partial.partial_wasserstein(a, b, cost, m=mass)
        assert abs(plan.sum() - mass) < 1e-12
        yield {"seed": seed, "rows": rows, "columns": columns, "kind": kind, "mass": mass, "cost": math.fsum((plan * cost).ravel())}


def mixture(draw, components, dims):
    means = draw.array(components, dims)
    factors = draw.array(components, dims, dims)
    covariances = np.einsum("kij,klj->kil", factors, factors) / dims + 0.05 * np.eye(dims)
    return means, covariances, normalised(draw.array(components) + 0.05)


def mixtures():
    for seed, (k_s, k_t, dims) in enumerate([(3, 4, 2), (5, 3, 4), (2, 2, 1)], 4000):
        draw = Draws(seed)
        m_s, c_s, w_s = mixture(draw, k_s, dims)
        m_t, c_t, w_t = mixture(draw, k_t, dims)
        points = draw.array(6, dims)
        # Diagonal: the same means with only the diagonals of the covariances.
        diagonal = lambda c: np.array([np.diag(np.diag(x)) for x in c])
        yield {
            "seed": seed, "source": k_s, "target": k_t, "dims": dims,
            "full_costs": ot.gmm.dist_bures_squared(m_s, m_t, c_s, c_t).tolist(),
            "full_mw2": float(ot.gmm.gmm_ot_loss(m_s, m_t, c_s, c_t, w_s, w_t)),
            "full_map": ot.gmm.gmm_ot_apply_map(points, m_s, m_t, c_s, c_t, w_s, w_t, method="bary").tolist(),
            "diagonal_costs": ot.gmm.dist_bures_squared(m_s, m_t, diagonal(c_s), diagonal(c_t)).tolist(),
            "diagonal_mw2": float(ot.gmm.gmm_ot_loss(m_s, m_t, diagonal(c_s), diagonal(c_t), w_s, w_t)),
            "diagonal_map": ot.gmm.gmm_ot_apply_map(
                points, m_s, m_t, diagonal(c_s), diagonal(c_t), w_s, w_t, method="bary"
            ).tolist(),
        }


def lines(cases):
    return "[\n" + ",\n".join("  " + json.dumps(c) for c in cases) + "\n ]"


golden = {"exact": exact, "sinkhorn": sinkhorn, "relaxed": relaxed, "partial": partial, "mixtures": mixtures}
text = "{\n" + ",\n".join(f' "{name}": {lines(make())}' for name, make in golden.items()) + "\n}\n"
pathlib.Path(__file__).with_suffix(".json").write_text(text)

"""Golden mixtures of scikit-learn, from a given start, for tests/mixture/golden.rs.

Run again with: pip install numpy==2.4.6 scikit-learn==1.9.1 scipy==1.17.1 && python mixture.py,
which writes mixture.json beside this file.
"""

import json
import pathlib
import warnings

import numpy as np
import scipy
import sklearn
from sklearn.mixture import GaussianMixture

VERSIONS = {"numpy": "2.4.6", "scikit-learn": "1.9.1", "scipy": "1.17.1"}
found = {"numpy": np.__version__, "scikit-learn": sklearn.__version__, "scipy": scipy.__version__}
if found != VERSIONS:
    warnings.warn(f"golden numbers were made with {VERSIONS}, not with {found}")


def problem(seed, n, d, k, spread):
    """Clusters that overlap, off the origin, with unequal scales; and a start beside them."""
    rng = np.random.default_rng(seed)
    centres = rng.normal(size=(k, d)) * spread + 3.0
    label = rng.integers(k, size=n)
    scale = rng.uniform(0.5, 2.0, size=(k, d))
    x = np.round(centres[label] + rng.normal(size=(n, d)) * scale[label], 3)
    means = np.round(centres + rng.normal(size=(k, d)) * 0.5, 3)
    weights = np.full(k, 1.0 / k)
    variances = np.full((k, d), 2.0)
    return x, weights, means, variances


def run(kind, x, weights, means, variances, iterations, reg_covar):
    precisions = {
        "diag": lambda: 1 / variances,
        "spherical": lambda: 1 / variances[:, 0],
        "tied": lambda: np.diag(1 / variances[0]),
        "full": lambda: np.stack([np.diag(1 / v) for v in variances]),
    }[kind]()
    model = GaussianMixture(
        len(means), covariance_type=kind, tol=0.0, reg_covar=reg_covar, max_iter=iterations,
        weights_init=weights, means_init=means, precisions_init=precisions,
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model.fit(x)
    return {
        "covariance": kind,
        "iterations": iterations,
        "variance_floor": reg_covar,
        "lower_bound": model.lower_bound_,
        "weights": model.weights_.tolist(),
        "means": model.means_.ravel().tolist(),
        "covariances": model.covariances_.ravel().tolist(),
        "log_likelihoods": model.score_samples(x[:10]).tolist(),
        "responsibilities": model.predict_proba(x[:10]).ravel().tolist(),
        "bic": model.bic(x),
    }


def main():
    problems = []
    for seed, n, d, k, spread, floor in [
        (1, 60, 3, 2, 1.5, 1e-6),
        (2, 90, 5, 4, 1.0, 1e-2),
        (3, 40, 1, 3, 2.0, 1e-6),
        (4, 80, 19, 3, 0.7, 1e-3),
    ]:
        x, weights, means, variances = problem(seed, n, d, k, spread)
        runs = [
            run(kind, x, weights, means, variances, iterations, floor)
            for kind in ("diag", "spherical", "tied", "full")
            for iterations in (1, 25)
        ]
        problems.append({
            "n": n, "d": d, "k": k, "x": x.ravel().tolist(), "means": means.ravel().tolist(),
            "variance": 2.0, "runs": runs,
        })
    out = pathlib.Path(__file__).with_suffix(".json")
    out.write_text(json.dumps({"versions": found, "problems": problems}, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()

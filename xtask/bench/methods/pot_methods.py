"""POT's own methods: the map of `ot.da`, then scikit-learn's classifier."""

import numpy as np
import ot
import ot.gmm
from sklearn.mixture import GaussianMixture

import classifiers

# The entropy weight relative to the largest cost, as this project's default.
EPSILON = 0.02


def methods():
    return {
        "otda-exact": lambda: ot.da.EMDTransport(),
        "otda-sinkhorn": lambda: ot.da.SinkhornTransport(reg_e=EPSILON, norm="max"),
        # POT adds 1e-8 to the variances, which fails with more features than rows.
        "otda-affine": lambda: ot.da.LinearTransport(reg=1e-2),
        "otda-group-lasso": lambda: ot.da.SinkhornL1l2Transport(
            reg_e=EPSILON, reg_cl=0.1, norm="max", max_iter=10),
    }


def carry(make, task):
    """The source rows, moved to the target."""
    transport = make()
    xs, xt = task.xs.astype(float), task.xt.astype(float)
    transport.fit(Xs=xs, ys=task.ys, Xt=xt)
    return np.real(transport.transform(Xs=xs))


def classify(carried, task, kind):
    """Labels of the target rows."""
    model = classifiers.make(kind, task.xs.astype(float)).fit(carried, task.ys)
    return model.predict(task.xt.astype(float))


def gmm_otda(task, seed, per_class=2, floor=0.01):
    """GMM-OTDA MAP from scikit-learn's mixtures and POT's exact plan between them."""
    classes = int(task.ys.max()) + 1
    spread = floor * float(task.xs.var(0).mean())
    fit = lambda x, k: GaussianMixture(
        k, covariance_type="diag", reg_covar=spread, n_init=3, random_state=seed).fit(x)
    parts = [fit(task.xs[task.ys == c].astype(float), per_class) for c in range(classes)]
    target = fit(task.xt.astype(float), per_class * classes)
    weights = np.concatenate([part.weights_ / classes for part in parts])
    labels = np.repeat(np.eye(classes), per_class, axis=0)
    stack = lambda name: np.concatenate([getattr(part, name) for part in parts])
    means, deviations = stack("means_"), np.sqrt(stack("covariances_"))
    cost = ot.dist(means, target.means_) + ot.dist(deviations, np.sqrt(target.covariances_))
    plan = ot.emd(weights, target.weights_ / target.weights_.sum(), cost)
    carried = plan.T @ labels / plan.sum(0)[:, None]
    return (target.predict_proba(task.xt.astype(float)) @ carried).argmax(1)

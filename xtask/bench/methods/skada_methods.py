"""skada's own methods, not tuned. JDOT stops after 10 rounds (skada: 100), to save time, and has
scikit-learn's penalty. Subspaces have at most 20 dims."""

import numpy as np
import skada
from sklearn.linear_model import LogisticRegression

import classifiers
from pot_methods import EPSILON

# Transfer component analysis inverts a matrix of all rows of both sides.
MOST_ROWS = 2500


def methods(kind, source):
    base = lambda: classifiers.make(kind, source)
    few = min(20, source.shape[1])
    return {
        "otda-exact": lambda: skada.OTMapping(base()),
        "otda-sinkhorn": lambda: skada.EntropicOTMapping(base(), reg_e=EPSILON, norm="max"),
        "otda-affine": lambda: skada.LinearOTMapping(base(), reg=1e-2),
        "coral": lambda: skada.CORAL(base()),
        "subspace-alignment": lambda: skada.SubspaceAlignment(base(), n_components=few),
        "jdot": lambda: skada.JDOTClassifier(LogisticRegression(max_iter=1000), n_iter_max=10),
        "tca": lambda: skada.TransferComponentAnalysis(base(), n_components=few),
    }


def predict(make, name, task):
    """Labels of the target rows; `None` if the task is too large for the method."""
    if name == "tca" and len(task.xs) + len(task.xt) > MOST_ROWS:
        return None
    x = np.concatenate([task.xs, task.xt]).astype(float)
    # Labels of the target are masked: skada ignores -1.
    y = np.concatenate([task.ys, np.full(len(task.xt), -1)])
    domain = np.concatenate([np.ones(len(task.xs)), np.full(len(task.xt), -2)]).astype(int)
    model = make()
    model.fit(x, y, sample_domain=domain)
    return model.predict(task.xt.astype(float), sample_domain=domain[len(task.xs):])

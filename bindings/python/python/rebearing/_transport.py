"""Transport plans, and the maps along a plan between mixtures."""

import numpy as np

from . import _rebearing
from ._arrays import matrix, seed


def plan(cost, a=None, b=None, reg=0.0, reg_m=None, *, tol=1e-9, max_iter=None, log=False, progress=None):
    """Returns the optimal transport plan between the weights ``a`` (rows) and ``b`` (columns).

    ``reg`` and ``reg_m`` are relative to the largest magnitude in the cost, so that they mean the
    same for costs in any unit. With ``m = abs(cost).max()``:

    ==========================  ====================================================================
    here                        POT
    ==========================  ====================================================================
    ``reg=0``                   ``ot.emd(a, b, cost)``
    ``reg=e``                   ``ot.sinkhorn(a, b, cost, e * m)``
    ``reg=e, reg_m=t``          ``ot.unbalanced.sinkhorn_unbalanced(a, b, cost, e * m, t * m)``
    ``reg=e, reg_m=(t, inf)``   the same with ``(t * m, inf)``: the columns are held
    ==========================  ====================================================================

    Parameters
    ----------
    cost : array-like of shape (n, m)
        Cost of moving a unit from each row to each column; any finite numbers.
    a, b : array-like, default=None
        Weights of the rows and columns; equal ones if None. They are normalised unless ``reg_m`` is
        given.
    reg : float, default=0
        Weight of the entropy; 0 is the exact plan.
    reg_m : float or (float, float), default=None
        Weight of the penalty that draws the row sums and column sums to their weights. None or
        infinity holds them.
    tol : float, default=1e-9
        Error at which an entropic plan is good enough.
    max_iter : int, default=None
        Iterations after which to give up; 100000 if None, and no limit for an exact plan.
    log : bool, default=False
        Whether to return a dict too: ``cost``, ``row_error``, ``col_error``, ``n_iter``, and the
        duals ``u`` and ``v``.
    progress : callable, default=None
        Called as ``progress(stage, done, total)`` a few times a second.
    """
    cost = np.ascontiguousarray(matrix(cost, "cost")[0], dtype=np.float64)
    a, b = _weights(a, "a", cost.shape, 0), _weights(b, "b", cost.shape, 1)
    reg, penalties = _regularisation(reg, reg_m)
    found, (total, row_error, col_error, n_iter), (u, v) = _rebearing.solve_plan(
        cost, a, b, reg=reg, reg_m=penalties, tol=float(tol), max_iter=max_iter, progress=progress
    )
    if not log:
        return found
    return found, {
        "cost": total,
        "row_error": row_error,
        "col_error": col_error,
        "n_iter": n_iter,
        "u": u,
        "v": v,
    }


def _weights(weights, name, cost, axis):
    count = cost[axis]
    if weights is None:
        return np.full(count, 1 / count)
    weights = np.asarray(weights, dtype=np.float64)
    if weights.shape != (count,):
        raise _rebearing.RebearingError(
            f"{name} has the shape {weights.shape}; it must be {count} weights for a cost of the "
            f"shape {cost}"
        )
    return np.ascontiguousarray(weights)


def _regularisation(reg, reg_m):
    reg = float(reg)
    if not (np.isfinite(reg) and reg >= 0):
        raise _rebearing.RebearingError(
            f"reg is {reg}; it must be 0 for an exact plan, or a finite number above 0"
        )
    sides = list(reg_m) if np.iterable(reg_m) else [reg_m, reg_m]
    penalties = [np.inf if side is None else float(side) for side in sides]
    if len(penalties) != 2 or not all(penalty > 0 for penalty in penalties):
        raise _rebearing.RebearingError(
            f"reg_m is {reg_m}; it must be a number above 0, a pair of them, or None"
        )
    if reg == 0 and np.isfinite(penalties).any():
        raise _rebearing.RebearingError(
            f"reg is 0 and reg_m is {reg_m}; a relaxed plan needs a reg above 0"
        )
    return reg, penalties


def mixture_plan(source, target, reg=0.0, reg_m=None):
    """Returns the plan between the components of two fitted mixtures, and its cost.

    The cost is the squared mixture-Wasserstein distance. ``reg`` and ``reg_m`` are as for ``plan``,
    but ``reg_m`` is a number and concerns the source alone: the target's weights are held. An
    entropic plan that does not converge is replaced by the exact one.
    """
    penalty = np.inf if reg_m is None else float(reg_m)
    return _rebearing.plan_between(_parts(source), _parts(target), float(reg), penalty)


def T_weight(X, source, target, plan, threshold=0.0):
    """Maps each row from its likeliest source component to every target component of the plan.

    Only plan entries of at least ``threshold`` count. Returns the mapped rows, their weights, and
    the row of ``X`` that each comes from.
    """
    X, plan = matrix(X)[0], _plan(plan)
    return _rebearing.map_weight(X, _parts(source), _parts(target), plan, float(threshold))


def T_mean(X, source, target, plan):
    """Maps each row to the mean of its images under the maps between components."""
    return _rebearing.map_mean(matrix(X)[0], _parts(source), _parts(target), _plan(plan))


def T_rand(X, source, target, plan, random_state=0):
    """Maps each row by one map between components, drawn at random."""
    X, plan = matrix(X)[0], _plan(plan)
    return _rebearing.map_random(X, _parts(source), _parts(target), plan, seed(random_state))


def _plan(plan):
    return np.ascontiguousarray(plan, dtype=np.float64)


def _parts(mixture):
    """The arrays of a fitted GaussianMixture, of this package or of scikit-learn."""
    arrays = (mixture.weights_, mixture.means_, mixture.covariances_)
    arrays = (np.ascontiguousarray(array, dtype=np.float64) for array in arrays)
    return (*arrays, str(mixture.covariance_type))

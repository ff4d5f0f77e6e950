"""Two methods that learn a map by networks.

    seguy  dual potentials of the plan with a quadratic penalty, learned from batches, then a map to
           the plan's barycentres (Seguy et al. 2018)
    laot   an embedding in which the affine map between two Gaussians aligns the domains, and a
           decoder that keeps it faithful (Struckmeier et al. 2023), written after the abstract of their paper

Both end in the classifier of all methods, on the carried source samples.
"""

import jax
import jax.numpy as jnp
import numpy as np

import classifiers
from deep import mmd
from networks import adam, apply, batches, network, squared_distances, step

HIDDEN, EMBEDDING, BATCH = 256, 16, 128
METHODS = ["seguy", "laot"]
# Weight of the quadratic penalty, relative to the mean cost.
PENALTY = 0.05

step_fast = jax.jit(step)


def predict(name, task, seed, kind, steps=1500):
    """Labels of the target rows."""
    unit = np.sqrt(task.xs.var(0).mean())
    xs, xt = jnp.asarray(task.xs / unit), jnp.asarray(task.xt / unit)
    source, target = {"seguy": seguy, "laot": laot}[name](xs, xt, seed, steps)
    source, target = np.asarray(source, float), np.asarray(target, float)
    return classifiers.make(kind, source).fit(source, task.ys).predict(target)


def seguy(xs, xt, seed, steps):
    """The source rows, moved, and the target rows."""
    dims = xs.shape[1]
    keys = jax.random.split(jax.random.key(seed), 3)
    duals = [network(key, [dims, HIDDEN, 1]) for key in keys[:2]]
    mean = float(squared_distances(xs[:500], xt[:500]).mean())
    duals = train(duals, lambda duals, x, y: dual_loss(duals, x, y, mean), xs, xt, seed, steps)
    # The map starts at the identity: the network adds to the row.
    mover = network(keys[2], [dims, HIDDEN, dims])
    loss = lambda mover, x, y: map_loss(mover, duals, x, y, mean)
    mover = train(mover, loss, xs, xt, seed + 1, steps)
    return xs + apply(mover, xs), xt


def slack(duals, x, y, mean):
    cost = squared_distances(x, y) / mean
    return jnp.maximum(apply(duals[0], x) + apply(duals[1], y).T - cost, 0)


def dual_loss(duals, x, y, mean):
    values = apply(duals[0], x).mean() + apply(duals[1], y).mean()
    return -values + (slack(duals, x, y, mean) ** 2).mean() / (4 * PENALTY)


def map_loss(mover, duals, x, y, mean):
    density = jax.lax.stop_gradient(slack(duals, x, y, mean)) / (2 * PENALTY)
    return (density * squared_distances(x + apply(mover, x), y)).mean() / mean


def laot(xs, xt, seed, steps):
    """The embedded source rows under the affine map, and the embedded target rows."""
    dims = xs.shape[1]
    keys = jax.random.split(jax.random.key(seed), 2)
    both = {"encoder": network(keys[0], [dims, HIDDEN, EMBEDDING]),
            "decoder": network(keys[1], [EMBEDDING, HIDDEN, dims])}
    both = train(both, laot_loss, xs, xt, seed, steps)
    s, t = apply(both["encoder"], xs), apply(both["encoder"], xt)
    return affine(s, t), t


def laot_loss(both, x, y):
    s, t = apply(both["encoder"], x), apply(both["encoder"], y)
    faithful = sum(((apply(both["decoder"], z) - w) ** 2).mean() for z, w in [(s, x), (t, y)])
    return faithful + mmd(affine(s, t), t)


def affine(s, t):
    """The rows `s` under the optimal map from their Gaussian to the one of `t`."""
    ridge = 1e-2 * jnp.eye(s.shape[1])
    covariance = lambda x: jnp.cov(x.T) + ridge
    root, inverse = roots(covariance(s))
    middle, _ = roots(root @ covariance(t) @ root)
    return (s - s.mean(0)) @ (inverse @ middle @ inverse) + t.mean(0)


def roots(matrix, steps=12):
    """Square root of a matrix and its inverse (Denman & Beavers 1976), which have a gradient even
    if two eigenvalues are equal."""
    scale = jnp.trace(matrix)
    y, z = matrix / scale, jnp.eye(len(matrix))
    for _ in range(steps):
        y, z = (y + jnp.linalg.inv(z)) / 2, (z + jnp.linalg.inv(y)) / 2
    return y * jnp.sqrt(scale), z / jnp.sqrt(scale)


def train(parameters, loss, xs, xt, seed, steps):
    rng = np.random.default_rng(seed)
    gradient, state = jax.jit(jax.grad(loss)), adam(parameters)
    pairs = zip(batches(rng, len(xs), BATCH, steps), batches(rng, len(xt), BATCH, steps))
    for i, j in pairs:
        parameters, state = step_fast(parameters, gradient(parameters, xs[i], xt[j]), state)
    return parameters

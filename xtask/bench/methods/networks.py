"""Small networks and Adam, in jax: all that the deep methods need."""

import jax
import jax.numpy as jnp
import numpy as np


def network(key, sizes):
    """Weights of a network with ReLU between its layers (He 2015)."""
    keys = jax.random.split(key, len(sizes) - 1)
    return [(jax.random.normal(k, (m, n)) * np.sqrt(2 / m), jnp.zeros(n))
            for k, m, n in zip(keys, sizes[:-1], sizes[1:])]


def apply(layers, x):
    """The network's output; its last layer is linear."""
    for weights, offset in layers[:-1]:
        x = jax.nn.relu(x @ weights + offset)
    weights, offset = layers[-1]
    return x @ weights + offset


def adam(parameters):
    zero = jax.tree.map(jnp.zeros_like, parameters)
    return zero, zero, 0


def step(parameters, gradient, state, rate=1e-3):
    """One step of Adam (Kingma & Ba 2015)."""
    first, second, count = state
    count = count + 1
    first = jax.tree.map(lambda m, g: 0.9 * m + 0.1 * g, first, gradient)
    second = jax.tree.map(lambda v, g: 0.999 * v + 0.001 * g * g, second, gradient)
    scale = rate * jnp.sqrt(1 - 0.999 ** count) / (1 - 0.9 ** count)
    move = lambda p, m, v: p - scale * m / (jnp.sqrt(v) + 1e-8)
    return jax.tree.map(move, parameters, first, second), (first, second, count)


def batches(rng, rows, size, count):
    """`count` batches of row numbers."""
    for _ in range(count):
        yield rng.choice(rows, size, replace=rows < size)


def cross_entropy(scores, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(scores), labels[:, None], 1))


def squared_distances(x, y):
    distances = (x ** 2).sum(1)[:, None] + (y ** 2).sum(1) - 2 * x @ y.T
    return jnp.maximum(distances, 0)

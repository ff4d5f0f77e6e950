"""Deep methods: a feature network, a softmax on it, and a loss that brings the domains together.

Written here because skada's deep methods need PyTorch, whose wheels bring gigabytes. All share one
network, batches and optimiser, so that they differ only in the loss. No target label is used.

    dann      a critic tells the domains apart, and its gradient is reversed (Ganin et al. 2016)
    dan       maximum mean discrepancy with five Gaussian kernels (Long et al. 2015)
    wdgrl     a critic estimates the Wasserstein-1 distance (Shen et al. 2018)
    deepjdot  a plan between the batches, in features and labels (Damodaran et al. 2018)
"""

import jax
import jax.numpy as jnp
import numpy as np
import ot

from networks import adam, apply, batches, cross_entropy, network, squared_distances, step

HIDDEN, FEATURES, BATCH = 256, 64, 64
METHODS = ["deep-source-only", "dann", "dan", "wdgrl", "deepjdot"]


def predict(name, task, seed, steps=1000):
    """Labels of the target rows."""
    classes, dims = int(task.ys.max()) + 1, task.xs.shape[1]
    unit = np.sqrt(task.xs.var(0).mean())
    xs, xt = jnp.asarray(task.xs / unit), jnp.asarray(task.xt / unit)
    ys = jnp.asarray(task.ys)
    keys = jax.random.split(jax.random.key(seed), 3)
    model = {"features": network(keys[0], [dims, HIDDEN, FEATURES]),
             "labels": network(keys[1], [FEATURES, classes])}
    critic = network(keys[2], [FEATURES, HIDDEN, 1])
    rng = np.random.default_rng(seed)
    update, update_critic = TRAINING[name]
    state, critic_state = adam(model), adam(critic)
    pairs = zip(batches(rng, len(xs), BATCH, steps), batches(rng, len(xt), BATCH, steps))
    for count, (i, j) in enumerate(pairs):
        batch = xs[i], ys[i], xt[j]
        for _ in range(5 if name == "wdgrl" else 1 if update_critic else 0):
            gradient = update_critic(critic, model, *batch)
            critic, critic_state = step_fast(critic, gradient, critic_state)
        # The domains pull with growing weight, as in the paper on DANN.
        pull = 2 / (1 + np.exp(-10 * count / steps)) - 1
        other = plan(model, *batch) if name == "deepjdot" else critic
        gradient = update(model, other, pull, *batch)
        model, state = step_fast(model, gradient, state)
    return np.asarray(scores(model, xt).argmax(1))


step_fast = jax.jit(step)


def scores(model, x):
    return apply(model["labels"], features(model, x))


def features(model, x):
    return jnp.tanh(apply(model["features"], x))


def source_only(model, _, pull, xs, ys, xt):
    return cross_entropy(scores(model, xs), ys)


def with_dann(model, critic, pull, xs, ys, xt):
    return cross_entropy(scores(model, xs), ys) - pull * domain_loss(critic, model, xs, ys, xt)


def domain_loss(critic, model, xs, _, xt):
    """Loss of a critic that says 1 for the source and 0 for the target."""
    s, t = apply(critic, features(model, xs)), apply(critic, features(model, xt))
    return jnp.mean(jax.nn.softplus(-s)) + jnp.mean(jax.nn.softplus(t))


def with_dan(model, _, pull, xs, ys, xt):
    return cross_entropy(scores(model, xs), ys) + 5 * pull * mmd(features(model, xs), features(model, xt))


def mmd(x, y):
    """Squared maximum mean discrepancy. The kernels' widths are 1/4 to 4 times the mean distance."""
    both = jnp.concatenate([x, y])
    distances = squared_distances(both, both)
    width = jax.lax.stop_gradient(distances.mean()) + 1e-12
    kernel = sum(jnp.exp(-distances / (width * 2.0 ** k)) for k in range(-2, 3))
    n = len(x)
    return kernel[:n, :n].mean() + kernel[n:, n:].mean() - 2 * kernel[:n, n:].mean()


def with_wdgrl(model, critic, pull, xs, ys, xt):
    distance = apply(critic, features(model, xs)).mean() - apply(critic, features(model, xt)).mean()
    return cross_entropy(scores(model, xs), ys) + 0.1 * pull * distance


def wasserstein_loss(critic, model, xs, _, xt):
    """Minus the estimated distance, with a penalty that keeps the critic's slope near one."""
    s, t = features(model, xs), features(model, xt)
    value = lambda x: apply(critic, x[None])[0, 0]
    slopes = jnp.linalg.norm(jax.vmap(jax.grad(value))((s + t) / 2) + 1e-12, axis=1)
    distance = apply(critic, s).mean() - apply(critic, t).mean()
    return -distance + 10 * jnp.mean((slopes - 1) ** 2)


def with_deepjdot(model, plan, pull, xs, ys, xt):
    loss = cross_entropy(scores(model, xs), ys)
    return loss + pull * (plan * joint_cost(model, xs, ys, xt)).sum()


def joint_cost(model, xs, ys, xt):
    """Distance of features, and cross-entropy of the source's label at the target row."""
    labels = -jax.nn.log_softmax(scores(model, xt))[:, ys].T
    return 0.1 * squared_distances(features(model, xs), features(model, xt)) + 0.1 * labels


cost_fast = jax.jit(joint_cost)


def plan(model, xs, ys, xt):
    """The exact plan between two batches, of which the cost is one row's mean."""
    return jnp.asarray(ot.emd([], [], np.asarray(cost_fast(model, xs, ys, xt), float)), jnp.float32)


TRAINING = {
    "deep-source-only": (jax.jit(jax.grad(source_only)), None),
    "dann": (jax.jit(jax.grad(with_dann)), jax.jit(jax.grad(domain_loss))),
    "dan": (jax.jit(jax.grad(with_dan)), None),
    "wdgrl": (jax.jit(jax.grad(with_wdgrl)), jax.jit(jax.grad(wasserstein_loss))),
    "deepjdot": (jax.jit(jax.grad(with_deepjdot)), None),
}

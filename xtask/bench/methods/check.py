"""Known answers: three classes, moved so far that each lands where another was.

A method that only looks at the source is wrong; one that adapts is right. Networks that align
domains step by step get a smaller move.
"""

import numpy as np

from data import Task

FAR, NEAR = 3.5, 1.5


def made(shift, seed=0):
    rng = np.random.default_rng(seed)
    labels = np.arange(300) % 3
    rows = lambda: (np.stack([4.0 * labels, 0 * labels], 1) + rng.normal(0, 0.5, (300, 2)))
    xt = rows() + [shift, 0]
    return Task("check", "shift", rows().astype(np.float32), labels, xt.astype(np.float32), labels)


def expect(name, found, task, at_least):
    right = (np.asarray(found) == task.yt).mean()
    print(f"{name:24} {100 * right:5.1f} % right, at least {100 * at_least:.0f} wanted")
    if right < at_least:
        raise SystemExit(f"{name}: {right} is less than {at_least}")


def pot_and_skada():
    import pot_methods
    import skada_methods
    far = made(FAR)
    for name, make in pot_methods.methods().items():
        carried = pot_methods.carry(make, far)
        for kind in ["softmax", "nearest"]:
            expect(f"POT {name} {kind}", pot_methods.classify(carried, far, kind), far, 0.95)
    expect("POT gmm-otda-map", pot_methods.gmm_otda(far, 0), far, 0.95)
    for name in ["otda-exact", "otda-sinkhorn", "otda-affine", "jdot"]:
        make = skada_methods.methods("softmax", far.xs)[name]
        expect(f"skada {name}", skada_methods.predict(make, name, far), far, 0.95)


def deep():
    import jax.numpy as jnp
    import deep
    import large_scale
    near, far = made(NEAR), made(FAR)
    alone = (deep.predict("deep-source-only", far, 0) == far.yt).mean()
    print(f"deep-source-only         {100 * alone:5.1f} % right, at most 60 wanted")
    if alone > 0.6:
        raise SystemExit("deep-source-only: the task is too easy to tell anything")
    alone = (deep.predict("deep-source-only", near, 0) == near.yt).mean()
    for name in deep.METHODS[1:]:
        expect(name, deep.predict(name, near, 0), near, alone + 0.05)
    for name in large_scale.METHODS:
        expect(name, large_scale.predict(name, far, 0, "softmax"), far, 0.9)
    matrix = jnp.array([[2.0, 0.5], [0.5, 1.0]])
    root, inverse = large_scale.roots(matrix)
    if not (np.allclose(root @ root, matrix, atol=1e-4) and np.allclose(root @ inverse, np.eye(2), atol=1e-4)):
        raise SystemExit(f"the root of a matrix: {root}")
    same = deep.mmd(jnp.asarray(near.xs), jnp.asarray(near.xs))
    if abs(float(same)) > 1e-5:
        raise SystemExit(f"the discrepancy of a set with itself: {same}")

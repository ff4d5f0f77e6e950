"""Draws the data of `cargo xtask bench host` into a folder of .npy files, the same ones every time.

    python generate.py FOLDER

Features are made to resemble log band energies of machines: a smooth curve over the bands for each
class, a few smooth directions in which a machine drifts (load, temperature), and noise of every band
for itself. Drift is what keeps EM busy on real features: it stretches a class, so that components have
to divide it among themselves. The target is another machine: its curves are bent and its gain differs.

For each feature set NAME there are NAME-source, NAME-source-labels (rows sorted by class), NAME-target
and NAME-target-labels; and for each number of components NAME-source-K and NAME-target-K, each with
-weights, -means and -variances: where EM starts, from k-means as scikit-learn starts by default.
"""

import pathlib
import sys

import numpy as np
from sklearn.cluster import KMeans

# Added to every variance, here and in EM.
VARIANCE_FLOOR = 1e-2
DRIFTS = 4
# name: (source samples, target samples, dims, classes, components per class)
FEATURES = {
    "bands64": (8000, 8000, 64, 10, (2, 10)),
    "bands1024": (8000, 8000, 1024, 10, (2,)),
    "office": (2817, 624, 2048, 31, (1, 2, 3, 4, 5, 6, 7)),
}
TRANSPORT = (200, 1000)


def curves(rng, count, dims):
    """Smooth curves over the bands, of unit variance: sums of a few cosines."""
    waves = 12
    phase = rng.uniform(0, 2 * np.pi, (count, waves, 1))
    bands = np.linspace(0, np.pi, dims)[None, None, :]
    order = np.arange(1, waves + 1)[None, :, None]
    size = rng.normal(size=(count, waves, 1)) * np.sqrt(2 / waves)
    return (size * np.cos(order * bands + phase)).sum(axis=1)


def samples(rng, count, centres, drifts):
    """Rows sorted by class, classes as even as the count allows."""
    labels = np.arange(count) * len(centres) // count
    drift = np.einsum("ij,ijk->ik", rng.normal(size=(count, DRIFTS)), drifts[labels])
    noise = rng.normal(size=(count, centres.shape[1]))
    return (centres[labels] + 0.5 * drift + 0.4 * noise).astype(np.float32), labels.astype(float)


def start(x, components, seed):
    """Weights, means and variances of k-means clusters."""
    nearest = KMeans(components, n_init=1, random_state=seed).fit(x).labels_
    shares = np.eye(components)[nearest]
    counts = shares.sum(axis=0) + 10 * np.finfo(float).eps
    x = x.astype(float)
    means = shares.T @ x / counts[:, None]
    variances = np.maximum(shares.T @ x**2 / counts[:, None] - means**2, 0) + VARIANCE_FLOOR
    return counts / counts.sum(), means, variances


def features(save, name, seed):
    source_count, target_count, dims, classes, per_class = FEATURES[name]
    rng = np.random.default_rng(seed)
    centres = curves(rng, classes, dims)
    drifts = curves(rng, classes * DRIFTS, dims).reshape(classes, DRIFTS, dims)
    bent = 1.1 * (centres + 0.3 * curves(rng, classes, dims))
    source, source_labels = samples(rng, source_count, centres, drifts)
    target, target_labels = samples(rng, target_count, bent, drifts)
    save(f"{name}-source", source)
    save(f"{name}-source-labels", source_labels)
    save(f"{name}-target", target)
    save(f"{name}-target-labels", target_labels)
    for count in per_class:
        parts = [start(source[source_labels == c], count, seed) for c in range(classes)]
        whole = start(target, classes * count, seed)
        for part, values in enumerate(("weights", "means", "variances")):
            joined = np.concatenate([each[part] for each in parts])
            save(f"{name}-source-{classes * count}-{values}", joined)
            save(f"{name}-target-{classes * count}-{values}", whole[part])


def transport(save, size, seed):
    """Weights, and two costs: distances between features, and numbers without any structure."""
    rng = np.random.default_rng(seed)
    centres = curves(rng, 10, 64)
    drifts = curves(rng, 10 * DRIFTS, 64).reshape(10, DRIFTS, 64)
    x, y = (samples(rng, size, c, drifts)[0].astype(float) for c in (centres, centres[::-1] + 0.3))
    save(f"plan{size}-distances", ((x[:, None, :] - y[None, :, :]) ** 2).sum(axis=2))
    save(f"plan{size}-random", rng.uniform(size=(size, size)))
    for side in "ab":
        weights = rng.uniform(0.1, 1.0, size)
        save(f"plan{size}-{side}", weights / weights.sum())


def main():
    folder = pathlib.Path(sys.argv[1])
    folder.mkdir(parents=True, exist_ok=True)

    def save(name, array):
        np.save(folder / f"{name}.npy", array)

    for seed, name in enumerate(FEATURES):
        print(f"    {name}", file=sys.stderr)
        features(save, name, seed)
    for size in TRANSPORT:
        transport(save, size, size)


if __name__ == "__main__":
    main()

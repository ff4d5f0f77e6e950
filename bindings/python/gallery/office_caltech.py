"""Labels of pictures, carried between four cameras (Office-Caltech, SURF features).

    python office_caltech.py OUT [MATRICES]

MATRICES is a folder with ``A_x.npy``, ``A_y.npy`` and so on. Without it, the data is made up. The number
of directions was chosen with these pairs in view, so the figures are an illustration;
docs/bench-methods.md has the honest ones.
"""

import sys
from itertools import permutations
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from rebearing import TransferClassifier

METHODS = ["source-only", "otda-exact", "otda-affine", "gmm-otda-map", "gmm-otda-t"]


def read(folder):
    """The features and labels of each domain, in the 20 directions that vary most over all."""
    files = {path.name[0]: path for path in sorted(Path(folder).glob("?_x.npy"))}
    x = {name: np.load(path).astype(float) for name, path in files.items()}
    directions = np.linalg.eigh(sum(rows.T @ rows for rows in x.values()))[1][:, -20:]
    return {
        name: (x[name] @ directions, np.load(path.with_name(f"{name}_y.npy")))
        for name, path in files.items()
    }


def made(seed=0):
    """Ten classes that each camera sees through a shift and a stretch of its own."""
    rng = np.random.default_rng(seed)
    centres = 3 * rng.normal(size=(10, 20))
    domains = {}
    for name, rows in zip("ACDW", (150, 200, 80, 120)):
        y = rng.integers(10, size=rows)
        seen = centres[y] + 2 * rng.normal(size=(rows, 20))
        domains[name] = (seen * rng.uniform(0.5, 2, 20) + 2 * rng.normal(size=20), y)
    return domains


def main(out, folder=None):
    domains = read(folder) if folder else made()
    pairs = list(permutations(domains, 2))
    right = np.empty((len(METHODS), len(pairs)))
    for column, (source, target) in enumerate(pairs):
        (xs, ys), (xt, yt) = domains[source], domains[target]
        for row, method in enumerate(METHODS):
            model = TransferClassifier(method).fit(xs, ys, xt)
            right[row, column] = 100 * model.score(xt, yt)

    table = np.column_stack([right, right.mean(axis=1)])
    figure, axes = plt.subplots(figsize=(10, 3.2), layout="constrained")
    picture = axes.imshow(table, cmap="viridis", vmin=0, vmax=100, aspect="auto")
    for (row, column), value in np.ndenumerate(table):
        colour = "black" if value > 60 else "white"
        axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour)
    axes.set_xticks(range(len(pairs) + 1), [f"{s} → {t}" for s, t in pairs] + ["mean"])
    axes.set_yticks(range(len(METHODS)), METHODS)
    axes.axvline(len(pairs) - 0.5, color="white", linewidth=4)
    axes.set_title("Labels carried between cameras" + ("" if folder else " (made data)"))
    axes.set_xlabel("source → target")
    figure.colorbar(picture, label="labels right (%)")
    figure.savefig(Path(out, "office_caltech.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])

"""Fault labels of bearings, carried from each machine or load to each other one.

    python bearings_across_loads.py OUT [MANIFEST]

Without a manifest, the machines are simulated.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from recordings import features, simulated
from rebearing import TransferClassifier

METHODS = {"source-only": "Source only", "gmm-otda-map": "GMM-OTDA"}


def right(method, source, target):
    """The share of test windows that get the right label, in percent."""
    (xs, ys, _), (xt, yt, later) = source, target
    shared = np.intersect1d(ys, yt)
    known, new = np.isin(ys, shared), np.isin(yt, shared)
    model = TransferClassifier(method).fit(xs[known], ys[known], xt[new & ~later])
    return 100 * model.score(xt[new & later], yt[new & later])


def main(out, manifest=None):
    _, domains = features(manifest or simulated(out))
    names = list(domains)
    figure, both = plt.subplots(1, 2, figsize=(9, 4), sharey=True, layout="constrained")
    for axes, (method, title) in zip(both, METHODS.items()):
        table = np.full((len(names), len(names)), np.nan)
        for row, source in enumerate(names):
            for column, target in enumerate(names):
                if source != target:
                    table[row, column] = right(method, domains[source], domains[target])
        picture = axes.imshow(table, cmap="viridis", vmin=0, vmax=100)
        for (row, column), value in np.ndenumerate(table):
            if np.isfinite(value):
                colour = "black" if value > 60 else "white"
                axes.text(column, row, f"{value:.0f}", ha="center", va="center", color=colour)
        axes.set_title(f"{title}: mean {np.nanmean(table):.1f} %")
        axes.set_xticks(range(len(names)), names, rotation=45, ha="right")
        axes.set_yticks(range(len(names)), names)
        axes.set_xlabel("target, without labels")
    both[0].set_ylabel("source, with labels")
    figure.colorbar(picture, ax=both, label="windows right (%)")
    figure.savefig(Path(out, "bearings_across_loads.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])

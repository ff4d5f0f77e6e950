"""Which of the known machines should the labels come from?

    python choosing_the_source.py OUT [MANIFEST]

Each machine in turn is the new one, and all others are the library. Grey points are the known
machines, one by one. The ring is the one that the library chooses, without a label of the new one.
The line is the accuracy that it predicts.
"""

import sys
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from recordings import features, simulated
from rebearing import GuardedAdapter, Library


def adapted(library, target):
    """The adapter for a target, and the share of its test windows that are right, in percent."""
    x, y, later = target
    # Forced, so that poor sources name their labels too, and the picture shows how poor they are.
    adapter = GuardedAdapter(pool_is="all", force=True).fit(library, x[~later])
    return adapter, 100 * adapter.score(x[later], y[later])


def main(out, manifest=None):
    if manifest:
        front_end, domains = features(manifest)
    else:
        front_end, domains = features(simulated(out, machines=6), noise=0.1)
    figure, axes = plt.subplots(figsize=(9, 4), layout="constrained")
    for place, (name, target) in enumerate(domains.items()):
        others = [(other, *part) for other, part in domains.items() if other != name]
        x, y = (np.concatenate([other[index] for other in others]) for index in (1, 2))
        machine = np.repeat([other[0] for other in others], [len(other[2]) for other in others])
        library = Library.fit(x, y, machine, front_end)

        each = [adapted(library.only(other), target)[1] for other in library.domains_]
        adapter, chosen = adapted(library, target)
        axes.scatter([place] * len(each), each, color="0.6", zorder=2)
        axes.scatter(
            place, chosen, s=130, facecolors="none", edgecolors="C3", linewidths=2, zorder=3
        )
        at_least = 100 * adapter.predicted_accuracy_
        axes.plot([place - 0.3, place + 0.3], [at_least, at_least], color="C0", zorder=1)

    axes.scatter([], [], color="0.6", label="each known machine alone")
    axes.scatter([], [], s=130, facecolors="none", edgecolors="C3", linewidths=2, label="chosen")
    axes.plot([], [], color="C0", label="predicted for the chosen")
    axes.set_title("Which known machine the library chooses")
    axes.set_xticks(range(len(domains)), domains, rotation=30, ha="right")
    axes.set_xlabel("new machine")
    axes.set_ylabel("windows right (%)")
    axes.set_ylim(0, 105)
    axes.grid(axis="y", alpha=0.3)
    figure.legend(loc="outside lower center", ncols=3)
    figure.savefig(Path(out, "choosing_the_source.png"), dpi=150)


if __name__ == "__main__":
    main(*sys.argv[1:])
